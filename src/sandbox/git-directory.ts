import { lstatSync, readFileSync, realpathSync } from "node:fs"
import { basename, dirname, join, resolve } from "node:path"

/**
 * The directories outside a linked worktree or submodule that hold its repository. Its `.git` is a file that names a
 * directory elsewhere, without which git does not work. Returns real git directories only, and only where the one that
 * `.git` names belongs to the other and names this workspace in turn: otherwise an unpacked archive could have
 * `~/.ssh` shown to its own build, or opened for writing together with `.git`.
 */
export function linkedGitDirectories(root: string): readonly string[] {
  const pointer = /^gitdir: (.+)$/m.exec(smallFile(join(root, ".git")) ?? "")?.[1]
  const directory = pointer === undefined ? null : realDirectory(resolve(root, pointer.trim()))
  if (directory === null || smallFile(join(directory, "HEAD")) === null) return []
  const common = smallFile(join(directory, "commondir"))
  return common === null ? ofSubmodule(root, directory) : ofWorktree(root, directory, common.trim())
}

/** A worktree is known by a directory in `worktrees` of its repository; whoever could write it there has both. */
function ofWorktree(root: string, directory: string, commonPath: string): readonly string[] {
  const common = realDirectory(resolve(directory, commonPath))
  if (common === null || dirname(directory) !== join(common, "worktrees")) return []
  const back = smallFile(join(directory, "gitdir"))?.trim()
  const names = back === undefined ? null : namesFile(resolve(directory, back), join(root, ".git"))
  return names === true && isRepository(common) ? [common, directory] : []
}

function ofSubmodule(root: string, directory: string): readonly string[] {
  const worktree = /^\s*worktree\s*=\s*(.+)$/m.exec(smallFile(join(directory, "config")) ?? "")?.[1]
  if (worktree === undefined || realDirectory(resolve(directory, worktree.trim())) !== root) return []
  return isRepository(directory) ? [directory] : []
}

function isRepository(directory: string): boolean {
  const hasBoth = ["objects", "refs"].every(name => realDirectory(join(directory, name)) !== null)
  return hasBoth && smallFile(join(directory, "HEAD")) !== null
}

function namesFile(path: string, file: string): boolean {
  const directory = realDirectory(dirname(path))
  return directory !== null && join(directory, basename(path)) === file
}

function realDirectory(path: string): string | null {
  try {
    const real = realpathSync(path)
    return lstatSync(real).isDirectory() ? real : null
  } catch {
    // Not there or not ours to see: then it is not a directory git could use either.
    return null
  }
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
