import { realpathSync } from "node:fs"
import { basename, dirname, join, resolve } from "node:path"
import { errnoOf } from "../base/assert.ts"

/** A path a person opens for one command: absolute, with the symlinks of what exists of it resolved. */
export function realWritablePath(workspaceRoot: string, typed: string): string {
  return realPath(resolve(workspaceRoot, typed))
}

/** What does not exist yet is named by its nearest parent that does. */
function realPath(path: string): string {
  try {
    return realpathSync(path)
  } catch (error) {
    if (errnoOf(error) !== "ENOENT" || path === dirname(path)) throw error
    return join(realPath(dirname(path)), basename(path))
  }
}
