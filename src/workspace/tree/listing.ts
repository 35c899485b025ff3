import { lstatSync, type Stats } from "node:fs"
import { errnoOf } from "../../base/assert.ts"
import { readEntries, systemPath } from "../../base/path-bytes.ts"
import type { ClosedPath } from "../contract.ts"
import { systemFailure } from "../failures.ts"
import type { GitRules } from "./git-rules.ts"
import { addIgnoreFile, type IgnoreRules, isIgnored } from "./ignore.ts"
import { isRacy, statIdentity } from "./stat-cache.ts"

/** The entries of a directory that belong to the tree. `Memo` is what the reader remembers about a file. */
export interface DirectoryListing<Memo> {
  readonly files: readonly ListedFile<Memo>[]
  readonly directories: readonly ListedDirectory[]
  readonly rules: IgnoreRules | null
  /** The text of its ignore file; null when it has none. */
  readonly ignoreText: string | null
  readonly ignored: readonly IgnoredEntry[]
  /** Files that are ignored and tracked nevertheless. */
  readonly tracked: readonly string[]
}

/** An inspected directory. Without a listing it says why; the mode is null when even that could not be read. */
export type InspectedDirectory<Memo> =
  | { readonly mode: number; readonly listing: DirectoryListing<Memo> }
  | (Pick<ClosedPath, "why" | "identity"> & { readonly mode: number | null; readonly listing: null })

export interface ListedFile<Memo> {
  readonly path: string
  /** True for anything but a file or a symlink, because opening it could block forever. */
  readonly isSpecial: boolean
  readonly absolute: string | Buffer
  memo: Memo | null
}

export interface ListedDirectory {
  readonly path: string
  /** True when git ignores the directory but tracks something in it: only tracked files belong to the tree. */
  readonly trackedOnly: boolean
}

/** A file or directory that git ignores. */
export interface IgnoredEntry {
  readonly path: string
  readonly isDirectory: boolean
}

export interface ListingRequest {
  readonly root: string
  /** The directory below the root. Empty, or ends in a slash. */
  readonly prefix: string
  readonly git: GitRules | null
  readonly above: IgnoreRules | null
  readonly trackedOnly: boolean
  readonly isProtected: (path: string) => boolean
  readonly nowMs: number
}

interface Remembered<Memo> {
  readonly request: ListingRequest
  readonly directory: Stats
  readonly ignoreFile: Stats | undefined
  readonly listing: DirectoryListing<Memo>
}

/**
 * Lists directories and remembers the lists. A directory's own time changes with every name that is added or removed,
 * so one `lstat` replaces reading it, unless that time is too recent to distinguish it from the next change.
 */
export class TreeListings<Memo> {
  private readonly remembered = new Map<string, Remembered<Memo>>()

  /** Returns null when the directory does not exist. */
  list(request: ListingRequest): InspectedDirectory<Memo> | null {
    let directory: Stats | undefined
    try {
      directory = lstatSync(systemPath(`${request.root}/${request.prefix}`), { throwIfNoEntry: false })
      if (!directory?.isDirectory()) return null
      return { mode: modeOf(directory), listing: this.listingOf(request, directory) }
    } catch (error) {
      const why = whyClosed(error, request.prefix)
      if (why === "gone") return null
      const known = directory ?? null
      const identity = known === null ? "" : statIdentity(known)
      return { mode: known === null ? null : modeOf(known), listing: null, why, identity }
    }
  }

  private listingOf(request: ListingRequest, directory: Stats): DirectoryListing<Memo> {
    const absolute = `${request.root}/${request.prefix}`
    const known = this.remembered.get(request.prefix)
    if (known !== undefined && isStillTrue(known, request, directory, absolute)) return known.listing
    const listing = listTreeDirectory<Memo>(request)
    const ignoreFile = ignoreFileOf(request, absolute)
    const isFresh =
      isRacy(directory.ctimeMs, request.nowMs) || isRacy(ignoreFile?.ctimeMs ?? 0, request.nowMs)
    if (isFresh) this.remembered.delete(request.prefix)
    else this.remembered.set(request.prefix, { request, directory, ignoreFile, listing })
    return listing
  }
}

function modeOf({ mode }: Stats): number {
  return mode & 0o7777
}

function isStillTrue<Memo>(
  known: Remembered<Memo>,
  request: ListingRequest,
  directory: Stats,
  absolute: string,
): boolean {
  return (
    known.request.git === request.git &&
    known.request.above === request.above &&
    known.request.trackedOnly === request.trackedOnly &&
    isUnchanged(known.directory, directory) &&
    (known.ignoreFile === undefined || isUnchanged(known.ignoreFile, ignoreFileOf(request, absolute)))
  )
}

function isUnchanged(before: Stats, now: Stats | undefined): boolean {
  return (
    now !== undefined &&
    before.ctimeMs === now.ctimeMs &&
    before.mtimeMs === now.mtimeMs &&
    before.ino === now.ino
  )
}

function ignoreFileOf({ git }: ListingRequest, absolute: string): Stats | undefined {
  if (git === null) return undefined
  return lstatSync(systemPath(`${absolute}.gitignore`), { throwIfNoEntry: false })
}

/** Returns null when the directory cannot be read or does not exist any more. */
export function listReadable<Memo>(request: ListingRequest): DirectoryListing<Memo> | null {
  try {
    return listTreeDirectory<Memo>(request)
  } catch (error) {
    whyClosed(error, request.prefix)
    return null
  }
}

/**
 * Returns why the system does not show what is at a path. Throws when acode itself lacks the resources to inspect it.
 */
export function whyClosed(error: unknown, path: string): ClosedPath["why"] | "gone" {
  const code = errnoOf(error)
  if (code === null || exhausted.has(code)) throw systemFailure(error, path)
  if (code === "ENOENT" || code === "ENOTDIR") return "gone"
  return code === "ENAMETOOLONG" ? "tooDeep" : "unreadable"
}

const exhausted: ReadonlySet<string> = new Set(["EMFILE", "ENFILE", "ENOMEM"])

/** Reads a directory and leaves out the entries that are not part of the tree. */
function listTreeDirectory<Memo>(request: ListingRequest): DirectoryListing<Memo> {
  const { git, prefix } = request
  const absolute = `${request.root}/${prefix}`
  const entries = readEntries(absolute)
  const ignoreText = git === null || request.above === null ? null : git.textIn(prefix, absolute)
  const rules =
    git === null || request.above === null || ignoreText === null
      ? request.above
      : addIgnoreFile(request.above, `${git.prefix}${prefix}`.slice(0, -1), ignoreText)
  const files: ListedFile<Memo>[] = []
  const directories: ListedDirectory[] = []
  const ignoredEntries: IgnoredEntry[] = []
  const tracked: string[] = []
  for (const entry of entries) {
    if (entry.name === ".git" || entry.name === ".agent") continue
    const path = `${prefix}${entry.name}`
    if (request.isProtected(path)) continue
    const gitPath = `${git?.prefix ?? ""}${path}`
    const ignored = request.trackedOnly || isIgnored(rules, gitPath, entry.isDirectory())
    if (entry.isDirectory()) {
      if (!ignored || git?.tracked.hasBelow(gitPath)) directories.push({ path, trackedOnly: ignored })
      else ignoredEntries.push({ path, isDirectory: true })
    } else if (ignored && !git?.tracked.hasFile(gitPath)) ignoredEntries.push({ path, isDirectory: false })
    else {
      if (ignored) tracked.push(path)
      const isSpecial = !entry.isFile() && !entry.isSymbolicLink()
      files.push({ path, isSpecial, absolute: systemPath(`${request.root}/${path}`), memo: null })
    }
  }
  return { files, directories, rules, ignoreText, ignored: ignoredEntries, tracked }
}
