import { dlopen, FFIType } from "bun:ffi"
import { fstatSync } from "node:fs"
import { errnoOf } from "../base/assert.ts"

/** Which of our standard descriptors a person sits at. Asked of the system: the runtime's own answer loads streams. */
export interface TerminalUse {
  readonly stdin: boolean
  readonly stdout: boolean
  readonly stderr: boolean
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
