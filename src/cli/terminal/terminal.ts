import { FFIType } from "bun:ffi"
import { fstatSync } from "node:fs"
import { errnoOf } from "../../base/assert.ts"
import { openLibc } from "../../base/libc.ts"
import type { GlobalFlags } from "../parse/flags.ts"

/** The standard descriptors that are terminals. Read from the system: the runtime's own answer loads streams. */
export interface TerminalUse {
  readonly stdin: boolean
  readonly stdout: boolean
  readonly stderr: boolean
}

/** Returns whether a person can be asked. False in CI, where a question would wait for ever. */
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
    // A closed descriptor is not a terminal.
    if (errnoOf(error) === "EBADF") return false
    throw error
  }
  const { symbols, close } = openLibc({ isatty: { args: [FFIType.i32], returns: FFIType.i32 } })
  try {
    return symbols.isatty(fd) === 1
  } finally {
    close()
  }
}

/** Discards input that was typed and not read yet. */
export function discardTypedAhead(): void {
  const { symbols, close } = openLibc({
    tcflush: { args: [FFIType.i32, FFIType.i32], returns: FFIType.i32 },
  })
  try {
    // Not a terminal, or no longer ours: there is nothing to discard.
    symbols.tcflush(0, inputQueue)
  } finally {
    close()
  }
}

/** The value of TCIFLUSH in termios. */
const inputQueue = 0
