import { lstatSync, realpathSync } from "node:fs"
import { basename, dirname, join, relative, resolve, sep } from "node:path"
import { readGitConfig } from "./git-config.ts"
import { readSmall } from "./small-file.ts"

/** The repository of a directory whose `.git` is a file. */
export interface LinkedRepository {
  /** Holds HEAD of this worktree. */
  readonly directory: string
  /** Holds what all worktrees share. */
  readonly common: string
}

/**
 * Returns the repository that the `.git` file of a directory names, where git itself would have put it: a worktree
 * below `worktrees` of its repository, a submodule below `modules` of the one around it. Each has to name the
 * directory in turn. Everything else is null: an unpacked archive can bring a `.git` that names any directory.
 */
export function linkedRepository(topLevel: string): LinkedRepository | null {
  const pointer = /^gitdir: (.+?)[\r\n]*$/.exec(readSmall(join(topLevel, ".git")) ?? "")?.[1]
  const directory = pointer === undefined ? null : realDirectory(resolve(topLevel, pointer))
  if (directory === null || readSmall(join(directory, "HEAD")) === null) return null
  const worktree = worktreeAt(directory)
  if (worktree !== null)
    return isSame(worktree.dotGit, join(topLevel, ".git")) ? { directory, common: worktree.common } : null
  return isSubmodule(directory, topLevel) ? { directory, common: directory } : null
}

/** Whether git would take a directory for a repository: it looks for no more than these. */
function isRepository(directory: string): boolean {
  const hasBoth = ["objects", "refs"].every(name => realDirectory(join(directory, name)) !== null)
  return hasBoth && readSmall(join(directory, "HEAD")) !== null
}

/** A worktree is known by a directory in `worktrees` of its repository; whoever could write it there has both. */
function worktreeAt(directory: string): { readonly common: string; readonly dotGit: string } | null {
  const named = readSmall(join(directory, "commondir"))?.trim()
  const back = readSmall(join(directory, "gitdir"))?.trim()
  if (named === undefined || back === undefined) return null
  const common = realDirectory(resolve(directory, named))
  if (common === null || dirname(directory) !== join(common, "worktrees") || !isRepository(common))
    return null
  return { common, dotGit: resolve(directory, back) }
}

/** `<around>/.git/modules/<name>`, where a name may have slashes, and where submodules have submodules. */
function isSubmodule(directory: string, topLevel: string): boolean {
  if (!isRepository(directory) || configuredWorktree(directory) !== topLevel) return false
  const parts = directory.split(sep)
  return parts.some((part, index) => {
    if (part !== "modules") return false
    const around = topLevelOf(parts.slice(0, index).join(sep))
    return around !== null && isBelow(topLevel, around)
  })
}

/** The checkout that a git directory belongs to; null where it has none or is not a git directory. */
function topLevelOf(directory: string): string | null {
  const worktree = worktreeAt(directory)
  if (worktree !== null) return realDirectory(dirname(worktree.dotGit))
  return basename(directory) === ".git" && isRepository(directory) ? dirname(directory) : null
}

function configuredWorktree(directory: string): string | null {
  const variables = ["config", "config.worktree"].flatMap(name =>
    readGitConfig(readSmall(join(directory, name)) ?? ""),
  )
  const value = variables.findLast(({ section, name }) => section === "core" && name === "worktree")?.value
  return value == null ? null : realDirectory(resolve(directory, value))
}

function isBelow(path: string, directory: string): boolean {
  const way = relative(directory, path)
  return way !== "" && way !== ".." && !way.startsWith(`..${sep}`)
}

function isSame(path: string, file: string): boolean {
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
