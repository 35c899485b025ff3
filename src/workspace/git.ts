import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs"
import { basename, dirname, isAbsolute, join, resolve } from "node:path"
import { errnoOf } from "../base/assert.ts"

/** What git knows of a workspace, read from its files: running git in a hostile repository runs its code. */
export interface GitState {
  /** `main` for the repository itself, else the name of the linked worktree. Null outside git. */
  readonly worktreeId: string | null
  /** The commit that is checked out. Null before the first one and where it cannot be read. */
  readonly repoSha: string | null
}

export function readGitState(workspaceRoot: string): GitState {
  const place = gitPlace(workspaceRoot)
  if (place === null) return { worktreeId: null, repoSha: null }
  return { worktreeId: place.worktreeId, repoSha: headCommit(place) }
}

/** Returns branch and commit that are checked out, which change with every commit and switch; null outside git. */
export function readGitHead(workspaceRoot: string): string | null {
  const place = gitPlace(workspaceRoot)
  if (place === null) return null
  const head = readSmall(join(place.gitDirectory, "HEAD"))?.trim() ?? ""
  return `${head} ${headCommit(place) ?? "-"}`
}

/** Where git keeps what it knows of a workspace. */
export interface GitPlace {
  readonly worktreeId: string
  /** The directory that holds `.git`. */
  readonly topLevel: string
  /** Holds HEAD of this worktree. */
  readonly gitDirectory: string
  /** Holds the refs that all worktrees share. */
  readonly commonDirectory: string
}

export function gitPlace(workspaceRoot: string): GitPlace | null {
  for (let directory = workspaceRoot; ; directory = dirname(directory)) {
    const dotGit = join(directory, ".git")
    if (readSmall(join(dotGit, "HEAD")) !== null)
      return { worktreeId: "main", topLevel: directory, gitDirectory: dotGit, commonDirectory: dotGit }
    const pointer = readSmall(dotGit)?.match(/^gitdir: (.+)\n?$/)?.[1]
    if (pointer !== undefined) return linkedPlace(directory, resolve(directory, pointer))
    if (dirname(directory) === directory) return null
  }
}

function linkedPlace(topLevel: string, gitDirectory: string): GitPlace {
  const common = readSmall(join(gitDirectory, "commondir"))?.trim()
  return {
    worktreeId: basename(gitDirectory),
    topLevel,
    gitDirectory,
    commonDirectory: common === undefined ? gitDirectory : resolve(gitDirectory, common),
  }
}

const commitId = /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/

function headCommit(place: GitPlace): string | null {
  let content = readSmall(join(place.gitDirectory, "HEAD"))?.trim() ?? ""
  // A ref may name another ref; git itself follows five of them.
  for (let hop = 0; hop < 5; hop++) {
    if (commitId.test(content)) return content
    const ref = content.match(/^ref: (refs\/\S+)$/)?.[1]
    if (ref === undefined || isAbsolute(ref) || ref.split("/").includes("..")) return null
    const loose = readSmall(join(place.gitDirectory, ref)) ?? readSmall(join(place.commonDirectory, ref))
    if (loose === null) return packedCommit(place.commonDirectory, ref)
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

const bytesMax = 4 * 1024 * 1024

/** A regular file of reasonable size as text, or null. Never blocks: a FIFO named HEAD is opened, seen and left. */
export function readSmall(path: string): string | null {
  return readSmallBytes(path, bytesMax)?.toString("utf8") ?? null
}

/** The same, as bytes and with a ceiling of the caller's. */
export function readSmallBytes(path: string, sizeMax: number): Buffer | null {
  let fd: number
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW)
  } catch (error) {
    // Whatever keeps it from being read, git state is a label on a record and never a reason to fail.
    if (errnoOf(error) !== null) return null
    throw error
  }
  try {
    const stat = fstatSync(fd)
    if (!stat.isFile() || stat.size > sizeMax) return null
    const content = Buffer.alloc(stat.size)
    return content.subarray(0, readSync(fd, content, 0, stat.size, 0))
  } finally {
    closeSync(fd)
  }
}
