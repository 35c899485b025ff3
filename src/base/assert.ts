/** Throws if a fact the code relies on is false. Such a failure is a bug in acode, never a mistake of the user. */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new Error(`assertion failed: ${message}`)
}

/** Closes a switch over a union: the compiler rejects the call while a case is missing. */
export function unreachable(value: never): never {
  throw new Error(`unreachable: ${JSON.stringify(value)}`)
}

/** Returns the message of any thrown value. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown)
}

/** Returns the `code` of a thrown system error (`ENOENT`, `SQLITE_BUSY`, …), or null. */
export function errnoOf(thrown: unknown): string | null {
  if (typeof thrown !== "object" || thrown === null || !("code" in thrown)) return null
  return typeof thrown.code === "string" ? thrown.code : null
}
