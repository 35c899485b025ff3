import { dlopen, FFIType } from "bun:ffi"
import { fstatSync } from "node:fs"
import { errnoOf } from "../../base/assert.ts"
import type { GlobalFlags } from "../parse/flags.ts"

/** Which of our standard descriptors a person sits at. Asked of the system: the runtime's own answer loads streams. */
export interface TerminalUse {
  readonly stdin: boolean
  readonly stdout: boolean
  readonly stderr: boolean
}

/** Whether somebody is there to be asked. Never so in CI, where a question would hang until the end of time. */
export function isInteractive(context: {
  readonly terminal: TerminalUse
  readonly environment: { readonly ci: boolean; readonly nonInteractive: boolean }
  readonly globals: Pick<GlobalFlags, "non-interactive">
}): boolean {
  const { terminal, environment, globals } = context
  if (environment.ci || environment.nonInteractive || globals["non-interactive"]) return false
  return terminal.stdin && terminal.stderr
}

export function terminalUse(): TerminalUse {
  return { stdin: isTerminal(0), stdout: isTerminal(1), stderr: isTerminal(2) }
}

function isTerminal(fd: 0 | 1 | 2): boolean {
  try {
    if (!fstatSync(fd).isCharacterDevice()) return false
  } catch (error) {
    // Closed: then nobody sits there.
    if (errnoOf(error) === "EBADF") return false
    throw error
  }
  const { symbols, close } = dlopen("libc.so.6", { isatty: { args: [FFIType.i32], returns: FFIType.i32 } })
  try {
    return symbols.isatty(fd) === 1
  } finally {
    close()
  }
}

/** Throws away what was typed at standard input and not read yet. */
export function discardTypedAhead(): void {
  const { symbols, close } = dlopen("libc.so.6", {
    tcflush: { args: [FFIType.i32, FFIType.i32], returns: FFIType.i32 },
  })
  try {
    // Not a terminal, or not ours any more: then there is nothing to throw away.
    symbols.tcflush(0, inputQueue)
  } finally {
    close()
  }
}

/** TCIFLUSH of termios. */
const inputQueue = 0
