import { lstatSync } from "node:fs"
import { basename, dirname, isAbsolute, join } from "node:path"
import { readGitConfig } from "../base/git-config.ts"
import { linkedRepository } from "../base/git-directory.ts"
import { readSmall, readSmallBytes } from "../base/small-file.ts"

/** The git state of a workspace, read from git's files: running git in a hostile repository runs its code. */
export interface GitState {
  /** `main` for the repository itself, else the name of the linked worktree. Null outside git. */
  readonly worktreeId: string | null
  /** The commit that is checked out. Null before the first one and where it cannot be read. */
  readonly repoSha: string | null
}

export function readGitState(workspaceRoot: string): GitState {
  const directories = findGitDirectories(workspaceRoot)
  if (directories === null) return { worktreeId: null, repoSha: null }
  return { worktreeId: directories.worktreeId, repoSha: headCommit(directories) }
}

/** Returns branch and commit that are checked out, which change with every commit and switch; null outside git. */
export function readGitHead(workspaceRoot: string): string | null {
  const directories = findGitDirectories(workspaceRoot)
  if (directories === null) return null
  const head = readSmall(join(directories.gitDirectory, "HEAD"))?.trim() ?? ""
  return `${head} ${headCommit(directories) ?? "-"}`
}

/** The directories in which git keeps its files for a workspace. */
export interface GitDirectories {
  readonly worktreeId: string | null
  /** The directory that holds `.git`. */
  readonly topLevel: string
  /** The directory that holds HEAD of this worktree. */
  readonly gitDirectory: string
  /** The directory that holds the refs that all worktrees share. */
  readonly commonDirectory: string
}

export function findGitDirectories(workspaceRoot: string): GitDirectories | null {
  for (let directory = workspaceRoot; ; directory = dirname(directory)) {
    const dotGit = join(directory, ".git")
    const found = lstatSync(dotGit, { throwIfNoEntry: false })
    if (found?.isDirectory() === true && readSmall(join(dotGit, "HEAD")) !== null)
      return { worktreeId: "main", topLevel: directory, gitDirectory: dotGit, commonDirectory: dotGit }
    if (found?.isFile() === true || found?.isSymbolicLink() === true) return linkedDirectories(directory)
    if (dirname(directory) === directory) return null
  }
}

/**
 * Treats a `.git` that names a directory which git would not have put there as an unknown repository: its ignore files
 * apply, and no file of that directory is read.
 */
function linkedDirectories(topLevel: string): GitDirectories {
  const linked = linkedRepository(topLevel)
  if (linked === null)
    return { worktreeId: null, topLevel, gitDirectory: missingDirectory, commonDirectory: missingDirectory }
  return {
    worktreeId: basename(linked.directory),
    topLevel,
    gitDirectory: linked.directory,
    commonDirectory: linked.common,
  }
}

/**
 * Returns the index of a worktree and the length of its object ids. Empty where it is missing or too large for an
 * index.
 */
export function readGitIndex(directories: GitDirectories): {
  readonly bytes: Buffer
  readonly hashBytes: 20 | 32
} {
  const config = readGitConfig(readSmall(join(directories.commonDirectory, "config")) ?? "")
  const format = config.findLast(({ section, name }) => section === "extensions" && name === "objectformat")
  return {
    bytes: readSmallBytes(join(directories.gitDirectory, "index"), indexBytesMax) ?? Buffer.alloc(0),
    hashBytes: format?.value?.toLowerCase() === "sha256" ? 32 : 20,
  }
}

const indexBytesMax = 256 * 1024 * 1024

/** A path that no file is below. */
const missingDirectory = "/dev/null"

const commitId = /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/

function headCommit(directories: GitDirectories): string | null {
  let content = readSmall(join(directories.gitDirectory, "HEAD"))?.trim() ?? ""
  // A ref may name another ref; git itself follows five of them.
  for (let hop = 0; hop < 5; hop++) {
    if (commitId.test(content)) return content
    const ref = content.match(/^ref: (refs\/\S+)$/)?.[1]
    if (ref === undefined || isAbsolute(ref) || ref.split("/").includes("..")) return null
    const loose =
      readSmall(join(directories.gitDirectory, ref)) ?? readSmall(join(directories.commonDirectory, ref))
    if (loose === null) return packedCommit(directories.commonDirectory, ref)
    content = loose.trim()
  }
  return null
}

function packedCommit(commonDirectory: string, ref: string): string | null {
  const packed = readSmall(join(commonDirectory, "packed-refs")) ?? ""
  const line = packed.split("\n").find(candidate => candidate.endsWith(` ${ref}`))
  const id = line?.split(" ")[0] ?? ""
  return commitId.test(id) ? id : null
}
