/**
 * Whether a path of the log had its name, or a part of it, replaced by the redactor. Nobody can tell then which file
 * it was, and looking for it finds nothing, which must not be taken for an answer.
 */
export function isRedactedPath(path: string): boolean {
  return /\[REDACTED:[a-z-]+\]/.test(path)
}
