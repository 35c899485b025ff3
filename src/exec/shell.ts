/** The script of a command that asked for a shell; its arguments are `$1`, `$2`, … and never part of the script. */
export function shellArguments(script: string, args: readonly string[]): readonly string[] {
  return ["-c", script, "sh", ...args]
}

/** POSIX names no other place for it, and looking it up on PATH would let a workspace supply its own. */
export const shellPath = "/bin/sh"
