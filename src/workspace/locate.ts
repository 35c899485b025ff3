import { lstatSync } from "node:fs"
import { dirname, join, resolve } from "node:path"

/**
 * Where the workspace is when nobody says: the nearest parent with `.agent/` that is not above the git top level,
 * else the git top level, else the directory itself.
 */
export function locateWorkspace(start: string): string {
  let gitTop: string | null = null
  for (const directory of withParents(resolve(start))) {
    if (isDirectory(join(directory, ".agent"))) return directory
    if (exists(join(directory, ".git"))) {
      gitTop = directory
      break
    }
  }
  return gitTop ?? resolve(start)
}

function* withParents(directory: string): Generator<string> {
  for (let current = directory; ; current = dirname(current)) {
    yield current
    if (dirname(current) === current) return
  }
}

function isDirectory(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
}

function exists(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined
}
