import { sep } from "node:path"

/** Returns whether an absolute path is the directory or below it. Both are resolved; names are compared, not files. */
export function isWithin(path: string, directory: string): boolean {
  if (directory === sep) return true
  return path === directory || (path.startsWith(directory) && path[directory.length] === sep)
}

/** The directories between a root and a path below it, nearest to the root first, neither of them included. */
export function ancestorsBelow(path: string, root: string): readonly string[] {
  const names = path.slice(root.length + 1).split(sep)
  return names.slice(0, -1).map((_, index) => `${root}${sep}${names.slice(0, index + 1).join(sep)}`)
}

/** Sorts parents before their content, which is the order in which mounts must be made. */
export function byDepth(a: string, b: string): number {
  return a.split(sep).length - b.split(sep).length || (a < b ? -1 : a > b ? 1 : 0)
}
