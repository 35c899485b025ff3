import { lstatSync, readFileSync } from "node:fs"
import { resolve } from "node:path"

/**
 * Where the repository of a linked worktree or submodule really is. Its `.git` is a file that names a directory
 * elsewhere, without which git does not work. It is believed only when that directory names this workspace in turn:
 * otherwise an unpacked archive could have `~/.ssh` shown to its own build.
 */
export function linkedGitDirectories(root: string): readonly string[] {
  const pointer = /^gitdir: (.+)$/m.exec(smallFile(`${root}/.git`) ?? "")?.[1]
  if (pointer === undefined) return []
  const directory = resolve(root, pointer.trim())
  const common = smallFile(`${directory}/commondir`)
  if (common !== null) {
    const back = smallFile(`${directory}/gitdir`)?.trim()
    return back !== undefined && resolve(directory, back) === `${root}/.git`
      ? [resolve(directory, common.trim()), directory]
      : []
  }
  const worktree = /^\s*worktree\s*=\s*(.+)$/m.exec(smallFile(`${directory}/config`) ?? "")?.[1]
  if (worktree === undefined || smallFile(`${directory}/HEAD`) === null) return []
  return resolve(directory, worktree.trim()) === root ? [directory] : []
}

function smallFile(path: string): string | null {
  try {
    const found = lstatSync(path)
    return found.isFile() && found.size <= bytesMax ? readFileSync(path, "utf8") : null
  } catch {
    // Not there or not ours to read: then it says nothing.
    return null
  }
}

const bytesMax = 64 * 1024
