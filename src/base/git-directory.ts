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
 * Returns the repository that the `.git` file of a directory names, if it is where git itself would have put it: a
 * worktree below `worktrees` of its repository, a submodule below `modules` of the repository around it. The
 * repository must name the directory in turn. Returns null otherwise: an unpacked archive can bring a `.git` file
 * that names any directory.
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

/** Returns whether git would treat a directory as a repository: git checks only for these entries. */
function isRepository(directory: string): boolean {
  const hasBoth = ["objects", "refs"].every(name => realDirectory(join(directory, name)) !== null)
  return hasBoth && readSmall(join(directory, "HEAD")) !== null
}

/**
 * Returns the repository of a worktree, which has a directory in `worktrees` of that repository. A program that could
 * create this directory can write to both anyway.
 */
function worktreeAt(directory: string): { readonly common: string; readonly dotGit: string } | null {
  const named = readSmall(join(directory, "commondir"))?.trim()
  const back = readSmall(join(directory, "gitdir"))?.trim()
  if (named === undefined || back === undefined) return null
  const common = realDirectory(resolve(directory, named))
  if (common === null || dirname(directory) !== join(common, "worktrees") || !isRepository(common))
    return null
  return { common, dotGit: resolve(directory, back) }
}

/**
 * Returns whether a directory is `<around>/.git/modules/<name>`. The name may contain slashes, and submodules may
 * have submodules.
 */
function isSubmodule(directory: string, topLevel: string): boolean {
  if (!isRepository(directory) || configuredWorktree(directory) !== topLevel) return false
  const parts = directory.split(sep)
  return parts.some((part, index) => {
    if (part !== "modules") return false
    const around = topLevelOf(parts.slice(0, index).join(sep))
    return around !== null && isBelow(topLevel, around)
  })
}

/** Returns the checkout that a git directory belongs to; null if it has none or is not a git directory. */
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
    // The directory is missing or unreadable, so git could not use it either.
    return null
  }
}
