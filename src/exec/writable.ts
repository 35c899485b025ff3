import { realpathSync } from "node:fs"
import { basename, dirname, join, resolve } from "node:path"
import { errnoOf } from "../base/assert.ts"
import { quotedPath } from "../base/path-names.ts"
import { invalidCommand } from "../domain/command-validation.ts"

/** A path a person opens for one command: absolute, with the symlinks of what exists of it resolved. */
export function realWritablePath(workspaceRoot: string, typed: string): string {
  try {
    return realPath(resolve(workspaceRoot, typed))
  } catch (error) {
    const errno = errnoOf(error)
    if (errno === null) throw error
    throw invalidCommand([
      { property: "writable", message: `${quotedPath(typed)} cannot be opened (${errno})` },
    ])
  }
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
