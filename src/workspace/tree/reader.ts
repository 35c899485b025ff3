import { closeSync, constants, fstatSync, lstatSync, openSync, readlinkSync, type Stats } from "node:fs"
import { errnoOf } from "../../base/assert.ts"
import { sha256Hex } from "../../base/canonical.ts"
import type { Clock } from "../../base/clock.ts"
import { Failure } from "../../domain/failure.ts"
import type { Tree, TreeDirectory, TreeEntry } from "../contract.ts"
import { hashPaced } from "../durable.ts"
import { Pace } from "../pace.ts"
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

  async read(pace: Pace = new Pace(this.clock)): Promise<Tree> {
    const git = readGitRules(this.root.path, this.git)
    this.git = git
    const found: Found = { hasher: new Bun.CryptoHasher("sha256"), entries: [], directories: [] }
    // The last one is next: what is in a directory comes before what is beside it.
    const open: OpenDirectory[] = [{ prefix: "", above: git?.top ?? null, trackedOnly: false }]
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      if (pace.isDue()) await pace.rest()
      const seen = this.list(git, next)
      if (seen === null) continue
      if (next.prefix !== "") found.directories.push({ path: next.prefix.slice(0, -1), mode: seen.mode })
      for (const file of seen.listing?.files ?? []) {
        const stat = statOf(file.absolute)
        if (stat === null || this.isOwnOutput(stat)) continue
        // Only what has to be hashed is waited for: in most trees that is nothing.
        const memo =
          this.knownMemo(file, stat) ?? (stat.isFile() ? await this.hashed(file, stat, pace) : null)
        if (memo === null) continue
        found.hasher.update(memo.row)
        found.entries.push(memo.entry)
      }
      const above = seen.listing?.rules ?? null
      for (const { path, trackedOnly } of seen.listing?.directories.toReversed() ?? [])
        open.push({ prefix: `${path}/`, above, trackedOnly })
    }
    if (this.cache.size > found.entries.length) this.forgetMissing(found.entries)
    return { digest: found.hasher.digest("hex"), entries: found.entries, directories: found.directories }
  }

  private list(git: GitRules | null, { prefix, above, trackedOnly }: OpenDirectory) {
    const { isProtected } = this.scope
    const nowMs = this.clock.now()
    return this.listings.list({ root: this.root.path, prefix, git, above, trackedOnly, isProtected, nowMs })
  }

  private isOwnOutput({ dev, ino }: Stats): boolean {
    const { ownOutputs } = this.scope
    return ownOutputs.size > 0 && ownOutputs.has(`${dev}:${ino}`)
  }

  private knownMemo(file: ListedFile<FileMemo>, stat: Stats): FileMemo | null {
    if (stat.isSymbolicLink()) return linkMemo(file, stat)
    const sha256 = stat.isFile() ? this.cache.get(file.path, stat) : null
    return sha256 === null ? null : fileMemo(file, stat, sha256)
  }

  private async hashed(file: ListedFile<FileMemo>, stat: Stats, pace: Pace): Promise<FileMemo> {
    if (pace.isDue()) await pace.rest()
    return fileMemo(file, stat, await this.hash(file.path, stat, pace))
  }

  /** Opened below the root without following anything: a directory swapped for a symlink shows no file of elsewhere. */
  private async hash(path: string, seen: Stats, pace: Pace): Promise<string | null> {
    const hashedAtMs = this.clock.now()
    const fd = readable(() => {
      using file = pin(this.root, path, "never")
      return file?.stat.isFile() ? openSync(file.at, constants.O_RDONLY | constants.O_NONBLOCK) : null
    })
    if (fd === null) return null
    try {
      const { sha256 } = await hashPaced(fd, pace)
      const after = fstatSync(fd)
      // A file that was written while it was read has no content to remember.
      const isSteady = after.ctimeMs === seen.ctimeMs && after.ino === seen.ino
      if (isSteady) this.cache.set(path, after, sha256, hashedAtMs)
      return sha256
    } catch (error) {
      if (unreadable.has(errnoOf(error) ?? "")) return null
      throw error
    } finally {
      closeSync(fd)
    }
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

interface OpenDirectory {
  readonly prefix: string
  readonly above: IgnoreRules | null
  readonly trackedOnly: boolean
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

function fileMemo(file: ListedFile<FileMemo>, stat: Stats, sha256: string | null): FileMemo {
  const mode = stat.mode & 0o7777
  const known = file.memo
  const isKnown = known?.entry.kind === "file" && known.entry.sha256 === sha256
  if (known !== null && isKnown && known.entry.mode === mode) return known
  const entry: TreeEntry = { path: file.path, kind: "file", mode, sizeBytes: stat.size, sha256 }
  file.memo = { entry, row: digestRow(entry) }
  return file.memo
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
