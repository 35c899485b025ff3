import { closeSync, constants, fstatSync, lstatSync, openSync, readlinkSync, type Stats } from "node:fs"
import { errnoOf } from "../../base/assert.ts"
import { sha256Hex } from "../../base/canonical.ts"
import type { Clock } from "../../base/clock.ts"
import { Failure } from "../../domain/failure.ts"
import type { Tree, TreeDirectory, TreeEntry } from "../contract.ts"
import { hashContent } from "../durable.ts"
import { pathFromBytes } from "../path-bytes.ts"
import { type PinRoot, pin } from "../pin.ts"
import { type GitRules, readGitRules } from "./git-rules.ts"
import type { IgnoreRules } from "./ignore.ts"
import { type ListedFile, TreeListings } from "./listing.ts"
import type { StatCache } from "./stat-cache.ts"

export interface TreeScope {
  /**
   * Files that are not looked at, whatever git says; a directory takes what is in it along. Must not change its mind.
   */
  readonly isProtected: (path: string) => boolean
  /** `dev:ino` of the files that acode's own output goes to: they change by being told about. */
  readonly ownOutputs: ReadonlySet<string>
}

/**
 * Reads the tree again and again; only files that changed since are opened, only directories that changed are listed.
 */
export class TreeReader {
  private readonly listings = new TreeListings<FileMemo>()
  private git: GitRules | null = null

  constructor(
    private readonly root: PinRoot,
    private readonly scope: TreeScope,
    private readonly cache: StatCache,
    private readonly clock: Clock,
  ) {}

  read(): Tree {
    this.git = readGitRules(this.root.path, this.git)
    const found: Found = { hasher: new Bun.CryptoHasher("sha256"), entries: [], directories: [] }
    this.walk("", this.git?.top ?? null, false, found)
    if (this.cache.size > found.entries.length) this.forgetMissing(found.entries)
    return { digest: found.hasher.digest("hex"), entries: found.entries, directories: found.directories }
  }

  private walk(prefix: string, above: IgnoreRules | null, trackedOnly: boolean, found: Found): void {
    const { isProtected } = this.scope
    const { git, root } = this
    const nowMs = this.clock.now()
    const seen = this.listings.list({ root: root.path, prefix, git, above, trackedOnly, isProtected, nowMs })
    if (seen === null) return
    if (prefix !== "") found.directories.push({ path: prefix.slice(0, -1), mode: seen.mode })
    for (const file of seen.listing?.files ?? []) this.add(file, found)
    for (const directory of seen.listing?.directories ?? [])
      this.walk(`${directory.path}/`, seen.listing?.rules ?? null, directory.trackedOnly, found)
  }

  private add(file: ListedFile<FileMemo>, found: Found): void {
    const stat = statOf(file.absolute)
    if (stat === null) return
    const { ownOutputs } = this.scope
    if (ownOutputs.size > 0 && ownOutputs.has(`${stat.dev}:${stat.ino}`)) return
    const memo = stat.isFile()
      ? this.fileMemo(file, stat)
      : stat.isSymbolicLink()
        ? linkMemo(file, stat)
        : null
    if (memo === null) return
    found.hasher.update(memo.row)
    found.entries.push(memo.entry)
  }

  private fileMemo(file: ListedFile<FileMemo>, stat: Stats): FileMemo {
    const { path } = file
    const mode = stat.mode & 0o7777
    const sha256 = this.cache.get(path, stat) ?? this.hash(path, stat)
    const known = file.memo
    const isKnown = known?.entry.kind === "file" && known.entry.sha256 === sha256
    if (known !== null && isKnown && known.entry.mode === mode) return known
    const entry: TreeEntry = { path, kind: "file", mode, sizeBytes: stat.size, sha256 }
    file.memo = { entry, row: digestRow(entry) }
    return file.memo
  }

  /** Opened below the root without following anything: a directory swapped for a symlink shows no file of elsewhere. */
  private hash(path: string, seen: Stats): string | null {
    const hashedAtMs = this.clock.now()
    return readable(() => {
      using file = pin(this.root, path, "never")
      if (!file?.stat.isFile()) return null
      const fd = openSync(file.at, constants.O_RDONLY | constants.O_NONBLOCK)
      try {
        const { sha256 } = hashContent(fd)
        const after = fstatSync(fd)
        // A file that was written while it was read has no content to remember.
        const isSteady = after.ctimeMs === seen.ctimeMs && after.ino === seen.ino
        if (isSteady) this.cache.set(path, after, sha256, hashedAtMs)
        return sha256
      } finally {
        closeSync(fd)
      }
    })
  }

  private forgetMissing(entries: readonly TreeEntry[]): void {
    const present = new Set(entries.map(entry => entry.path))
    this.cache.keepOnly(path => present.has(path))
  }
}

/** The digest of entries in the order of a tree. */
export function digestOf(entries: Iterable<TreeEntry>): string {
  return sha256Hex(Array.from(entries, digestRow).join(""))
}

interface Found {
  readonly hasher: Bun.CryptoHasher
  readonly entries: TreeEntry[]
  readonly directories: TreeDirectory[]
}

interface FileMemo {
  readonly entry: TreeEntry
  /** Its part of what the digest is made of. No path and no target contains a NUL. */
  readonly row: string
}

function linkMemo({ path, absolute }: ListedFile<FileMemo>, stat: Stats): FileMemo | null {
  const bytes = readable(() => readlinkSync(absolute, { encoding: "buffer" }))
  if (bytes === null) return null
  const target = pathFromBytes(bytes)
  const mode = stat.mode & 0o7777
  const entry: TreeEntry = { path, kind: "symlink", mode, sizeBytes: stat.size, target }
  return { entry, row: digestRow(entry) }
}

function digestRow(entry: TreeEntry): string {
  return entry.kind === "file"
    ? `f${entry.mode} ${entry.path}\0${entry.sha256}\0`
    : `l ${entry.path}\0${entry.target}\0`
}

const quietly = { throwIfNoEntry: false } as const

function statOf(path: string | Buffer): Stats | null {
  try {
    return lstatSync(path, quietly) ?? null
  } catch (error) {
    if (unreadable.has(errnoOf(error) ?? "")) return null
    throw error
  }
}

/** Null for what vanished, became something else or may not be read: it is absent, or without a hash. */
function readable<T>(read: () => T): T | null {
  try {
    return read()
  } catch (error) {
    if (error instanceof Failure || unreadable.has(errnoOf(error) ?? "")) return null
    throw error
  }
}

const unreadable: ReadonlySet<string> = new Set([
  "ENOENT",
  "ENOTDIR",
  "EACCES",
  "EPERM",
  "EINVAL",
  "ELOOP",
  "EISDIR",
])
