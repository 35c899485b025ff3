/**
 * The directory of a relative path, `.` at the top. Not node:path's: a byte of a name that is no UTF-8 is half of a
 * character in a string, and Bun gives a replacement sign back for it, which is the name of another file.
 */
export function parentOf(path: string): string {
  const whole = withoutEnd(path)
  return withoutEnd(whole.slice(0, Math.max(0, whole.lastIndexOf("/")))) || "."
}

/** The last name of a path, as exactly. */
export function nameOf(path: string): string {
  const whole = withoutEnd(path)
  return whole.slice(whole.lastIndexOf("/") + 1)
}

function withoutEnd(path: string): string {
  return path.replace(/\/+$/, "")
}
