import { lstatSync } from "node:fs"
import { basename, dirname, isAbsolute, join } from "node:path"
import { readGitConfig } from "../base/git-config.ts"
import { linkedRepository } from "../base/git-directory.ts"
import { readSmall, readSmallBytes } from "../base/small-file.ts"

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
  readonly worktreeId: string | null
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
    const found = lstatSync(dotGit, { throwIfNoEntry: false })
    if (found?.isDirectory() === true && readSmall(join(dotGit, "HEAD")) !== null)
      return { worktreeId: "main", topLevel: directory, gitDirectory: dotGit, commonDirectory: dotGit }
    if (found?.isFile() === true || found?.isSymbolicLink() === true) return linkedPlace(directory)
    if (dirname(directory) === directory) return null
  }
}

/**
 * A `.git` that names a directory which git would not have put there counts as a repository of which nothing is
 * known: its ignore files hold, and no file of that directory is read.
 */
function linkedPlace(topLevel: string): GitPlace {
  const linked = linkedRepository(topLevel)
  if (linked === null) return { worktreeId: null, topLevel, gitDirectory: nowhere, commonDirectory: nowhere }
  return {
    worktreeId: basename(linked.directory),
    topLevel,
    gitDirectory: linked.directory,
    commonDirectory: linked.common,
  }
}

/** The index of a worktree, and how long the ids in it are. Empty where it is missing or too large to be one. */
export function readGitIndex(place: GitPlace): { readonly bytes: Buffer; readonly hashBytes: 20 | 32 } {
  const config = readGitConfig(readSmall(join(place.commonDirectory, "config")) ?? "")
  const format = config.findLast(({ section, name }) => section === "extensions" && name === "objectformat")
  return {
    bytes: readSmallBytes(join(place.gitDirectory, "index"), indexBytesMax) ?? Buffer.alloc(0),
    hashBytes: format?.value?.toLowerCase() === "sha256" ? 32 : 20,
  }
}

const indexBytesMax = 256 * 1024 * 1024

/** No path leads into it. */
const nowhere = "/dev/null"

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
