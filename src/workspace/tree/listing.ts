import { lstatSync, type Stats } from "node:fs"
import { errnoOf } from "../../base/assert.ts"
import { readEntries, systemPath } from "../../base/path-bytes.ts"
import type { ClosedPath } from "../contract.ts"
import { systemFailure } from "../failures.ts"
import type { GitRules } from "./git-rules.ts"
import { addIgnoreFile, type IgnoreRules, isIgnored } from "./ignore.ts"
import { isRacy, statIdentity } from "./stat-cache.ts"

/** What of a directory belongs to the tree. `Memo` is whatever the reader wants to remember of a file. */
export interface DirectoryListing<Memo> {
  readonly files: readonly ListedFile<Memo>[]
  readonly directories: readonly ListedDirectory[]
  readonly rules: IgnoreRules | null
  /** What its ignore file says; null when it has none. */
  readonly ignoreText: string | null
  readonly ignored: readonly IgnoredEntry[]
  /** Files that are ignored and tracked nevertheless. */
  readonly tracked: readonly string[]
}

/** A directory as it is. Without a listing it says why there is none; the mode is null when even that is not known. */
export type InspectedDirectory<Memo> =
  | { readonly mode: number; readonly listing: DirectoryListing<Memo> }
  | (Pick<ClosedPath, "why" | "identity"> & { readonly mode: number | null; readonly listing: null })

export interface ListedFile<Memo> {
  readonly path: string
  /** Neither a file nor a symlink, so that opening it could wait forever. */
  readonly isSpecial: boolean
  readonly absolute: string | Buffer
  memo: Memo | null
}

export interface ListedDirectory {
  readonly path: string
  /** Git ignores it, and tracks something in it nevertheless: only that is of interest. */
  readonly trackedOnly: boolean
}

/** Something that git ignores. */
export interface IgnoredEntry {
  readonly path: string
  readonly isDirectory: boolean
}

export interface ListingQuestion {
  readonly root: string
  /** Empty, or ends in a slash. */
  readonly prefix: string
  readonly git: GitRules | null
  readonly above: IgnoreRules | null
  readonly trackedOnly: boolean
  readonly isProtected: (path: string) => boolean
  readonly nowMs: number
}

interface Remembered<Memo> {
  readonly question: ListingQuestion
  readonly directory: Stats
  readonly ignoreFile: Stats | undefined
  readonly listing: DirectoryListing<Memo>
}

/**
 * Lists directories and remembers the lists. A directory's own time changes with every name that comes or goes, so
 * one look at it replaces reading it, unless that time is too fresh to be told from the next.
 */
export class TreeListings<Memo> {
  private readonly remembered = new Map<string, Remembered<Memo>>()

  /** Null when there is no such directory. */
  list(question: ListingQuestion): InspectedDirectory<Memo> | null {
    let directory: Stats | undefined
    try {
      directory = lstatSync(systemPath(`${question.root}/${question.prefix}`), { throwIfNoEntry: false })
      if (!directory?.isDirectory()) return null
      return { mode: modeOf(directory), listing: this.listingOf(question, directory) }
    } catch (error) {
      const why = whyClosed(error, question.prefix)
      if (why === "gone") return null
      const known = directory ?? null
      const identity = known === null ? "" : statIdentity(known)
      return { mode: known === null ? null : modeOf(known), listing: null, why, identity }
    }
  }

  private listingOf(question: ListingQuestion, directory: Stats): DirectoryListing<Memo> {
    const absolute = `${question.root}/${question.prefix}`
    const known = this.remembered.get(question.prefix)
    if (known !== undefined && isStillTrue(known, question, directory, absolute)) return known.listing
    const listing = listTreeDirectory<Memo>(question)
    const ignoreFile = ignoreFileOf(question, absolute)
    const isFresh =
      isRacy(directory.ctimeMs, question.nowMs) || isRacy(ignoreFile?.ctimeMs ?? 0, question.nowMs)
    if (isFresh) this.remembered.delete(question.prefix)
    else this.remembered.set(question.prefix, { question, directory, ignoreFile, listing })
    return listing
  }
}

function modeOf({ mode }: Stats): number {
  return mode & 0o7777
}

function isStillTrue<Memo>(
  known: Remembered<Memo>,
  question: ListingQuestion,
  directory: Stats,
  absolute: string,
): boolean {
  return (
    known.question.git === question.git &&
    known.question.above === question.above &&
    known.question.trackedOnly === question.trackedOnly &&
    isUnchanged(known.directory, directory) &&
    (known.ignoreFile === undefined || isUnchanged(known.ignoreFile, ignoreFileOf(question, absolute)))
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

function ignoreFileOf({ git }: ListingQuestion, absolute: string): Stats | undefined {
  if (git === null) return undefined
  return lstatSync(systemPath(`${absolute}.gitignore`), { throwIfNoEntry: false })
}

/** Null when the directory may not be read, or is gone by now. */
export function listReadable<Memo>(question: ListingQuestion): DirectoryListing<Memo> | null {
  try {
    return listTreeDirectory<Memo>(question)
  } catch (error) {
    whyClosed(error, question.prefix)
    return null
  }
}

/** Returns why the system does not show what is at a path. Throws when acode itself lacks something to look at it. */
export function whyClosed(error: unknown, path: string): ClosedPath["why"] | "gone" {
  const code = errnoOf(error)
  if (code === null || exhausted.has(code)) throw systemFailure(error, path)
  if (code === "ENOENT" || code === "ENOTDIR") return "gone"
  return code === "ENAMETOOLONG" ? "tooDeep" : "unreadable"
}

const exhausted: ReadonlySet<string> = new Set(["EMFILE", "ENFILE", "ENOMEM"])

/** Reads a directory and leaves out what is not part of the tree. */
function listTreeDirectory<Memo>(question: ListingQuestion): DirectoryListing<Memo> {
  const { git, prefix } = question
  const absolute = `${question.root}/${prefix}`
  const entries = readEntries(absolute)
  const ignoreText = git === null || question.above === null ? null : git.textIn(prefix, absolute)
  const rules =
    git === null || question.above === null || ignoreText === null
      ? question.above
      : addIgnoreFile(question.above, `${git.prefix}${prefix}`.slice(0, -1), ignoreText)
  const files: ListedFile<Memo>[] = []
  const directories: ListedDirectory[] = []
  const ignoredEntries: IgnoredEntry[] = []
  const tracked: string[] = []
  for (const entry of entries) {
    if (entry.name === ".git" || entry.name === ".agent") continue
    const path = `${prefix}${entry.name}`
    if (question.isProtected(path)) continue
    const gitPath = `${git?.prefix ?? ""}${path}`
    const ignored = question.trackedOnly || isIgnored(rules, gitPath, entry.isDirectory())
    if (entry.isDirectory()) {
      if (!ignored || git?.tracked.hasBelow(gitPath)) directories.push({ path, trackedOnly: ignored })
      else ignoredEntries.push({ path, isDirectory: true })
    } else if (ignored && !git?.tracked.hasFile(gitPath)) ignoredEntries.push({ path, isDirectory: false })
    else {
      if (ignored) tracked.push(path)
      const isSpecial = !entry.isFile() && !entry.isSymbolicLink()
      files.push({ path, isSpecial, absolute: systemPath(`${question.root}/${path}`), memo: null })
    }
  }
  return { files, directories, rules, ignoreText, ignored: ignoredEntries, tracked }
}
