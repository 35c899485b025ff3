/** States a fact the code relies on. A failure is a bug in acode, never a user's mistake. */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new Error(`assertion failed: ${message}`)
}

/** Closes a switch: the compiler refuses it while a case is missing. */
export function unreachable(value: never): never {
  throw new Error(`unreachable: ${JSON.stringify(value)}`)
}

/** Reads the message of anything that was thrown. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown)
}

/** The `code` of a thrown system error (`ENOENT`, `SQLITE_BUSY`, …), or null. */
export function errnoOf(thrown: unknown): string | null {
  if (typeof thrown !== "object" || thrown === null || !("code" in thrown)) return null
  return typeof thrown.code === "string" ? thrown.code : null
}
