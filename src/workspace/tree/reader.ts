import { closeSync, constants, fstatSync, lstatSync, openSync, readlinkSync, type Stats } from "node:fs"
import { errnoOf } from "../../base/assert.ts"
import { sha256Hex } from "../../base/canonical.ts"
import type { Clock } from "../../base/clock.ts"
import { Failure } from "../../domain/failure.ts"
import type { ClosedPath, Tree, TreeDirectory, TreeEntry } from "../contract.ts"
import { bounded, type ContentHash, hashPaced } from "../durable.ts"
import { Pace } from "../pace.ts"
import { pathFromBytes } from "../path-bytes.ts"
import { type PinRoot, pin } from "../pin.ts"
import { type GitRules, readGitRules } from "./git-rules.ts"
import type { IgnoreRules } from "./ignore.ts"
import { type ListedFile, TreeListings, whyClosed } from "./listing.ts"
import { type StatCache, statIdentity } from "./stat-cache.ts"

export interface TreeScope {
  /**
   * Files that are not looked at, whatever git says; a directory takes what is in it along. Must not change its mind.
   */
  readonly isProtected: (path: string) => boolean
  /** `dev:ino` of the files that acode's own output goes to: they change by being told about. */
  readonly ownOutputs: ReadonlySet<string>
  /** Larger files are not read: they are known by their size, times and inode. */
  readonly fileBytesMax: number
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
    const found: Found = { hasher: new Bun.CryptoHasher("sha256"), entries: [], directories: [], closed: [] }
    // The last one is next: what is in a directory comes before what is beside it.
    const open: OpenDirectory[] = [{ prefix: "", above: git?.top ?? null, trackedOnly: false }]
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      if (pace.isDue()) await pace.rest()
      const seen = this.list(git, next)
      if (seen === null) continue
      const path = next.prefix.slice(0, -1)
      if (seen.mode !== null && path !== "") found.directories.push({ path, mode: seen.mode })
      if (seen.listing === null) {
        found.closed.push({ path: path === "" ? "." : path, why: seen.why })
        continue
      }
      for (const file of seen.listing.files) {
        const hashing = this.add(file, found, pace)
        // In most trees nothing has to be hashed, and then nothing is waited for.
        if (hashing !== null) await hashing
      }
      const above = seen.listing.rules
      for (const directory of seen.listing.directories.toReversed())
        open.push({ prefix: `${directory.path}/`, above, trackedOnly: directory.trackedOnly })
    }
    if (this.cache.size > found.entries.length) this.forgetMissing(found.entries)
    const { entries, directories, closed } = found
    return { digest: found.hasher.digest("hex"), entries, directories, closed }
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

  /** Null when the file is added already; else the promise that it will be. */
  private add(file: ListedFile<FileMemo>, found: Found, pace: Pace): Promise<void> | null {
    const stat = inspected(file, found)
    if (stat === null || this.isOwnOutput(stat)) return null
    if (stat.isSymbolicLink()) return keep(found, linkMemo(file, stat))
    if (!stat.isFile()) return null
    if (stat.size > this.scope.fileBytesMax) return keep(found, fileMemo(file, stat, null))
    const sha256 = this.cache.get(file.path, stat)
    return sha256 === null
      ? this.hashAndAdd(file, stat, found, pace)
      : keep(found, fileMemo(file, stat, sha256))
  }

  private async hashAndAdd(file: ListedFile<FileMemo>, stat: Stats, found: Found, pace: Pace): Promise<void> {
    if (pace.isDue()) await pace.rest()
    const hash = await this.hash(file.path, stat, pace)
    if (hash !== "gone") keep(found, fileMemo(file, stat, hash === "unread" ? null : hash.sha256))
  }

  /** Opened below the root without following anything: a directory swapped for a symlink shows no file of elsewhere. */
  private async hash(path: string, seen: Stats, pace: Pace): Promise<ContentHash | "gone" | "unread"> {
    const hashedAtMs = this.clock.now()
    let fd = -1
    try {
      using file = pin(this.root, path, "never")
      if (!file?.stat.isFile()) return "gone"
      fd = openSync(file.at, constants.O_RDONLY | constants.O_NONBLOCK)
      const hash = await hashPaced(fd, pace, bounded(this.scope.fileBytesMax, outgrown))
      const after = fstatSync(fd)
      // A file that was written while it was read has no content to remember.
      const isSteady = after.ctimeMs === seen.ctimeMs && after.ino === seen.ino
      if (isSteady) this.cache.set(path, after, hash.sha256, hashedAtMs)
      return hash
    } catch (error) {
      if (error === outgrown) return "unread"
      if (error instanceof Failure && isElsewhere(error)) return "gone"
      return whyClosed(error, path) === "gone" ? "gone" : "unread"
    } finally {
      if (fd >= 0) closeSync(fd)
    }
  }

  private forgetMissing(entries: readonly TreeEntry[]): void {
    const present = new Set(entries.map(entry => entry.path))
    this.cache.keepOnly(path => present.has(path))
  }
}

/** Thrown when a file grows beyond the bound while it is being read. */
const outgrown = new Error("the file has become too large to be read")

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
  readonly closed: ClosedPath[]
}

function keep({ hasher, entries }: Found, memo: FileMemo | null): null {
  if (memo === null) return null
  hasher.update(memo.row)
  entries.push(memo.entry)
  return null
}

interface FileMemo {
  readonly entry: TreeEntry
  readonly content: string
  /** Its part of what the digest is made of. No path and no target contains a NUL. */
  readonly row: string
}

/** Without a hash the file is known by its size, times and inode. */
function fileMemo(file: ListedFile<FileMemo>, stat: Stats, sha256: string | null): FileMemo {
  const mode = stat.mode & 0o7777
  const content = sha256 ?? statIdentity(stat)
  const known = file.memo
  if (known !== null && known.content === content && known.entry.mode === mode) return known
  const about = { path: file.path, kind: "file", mode, sizeBytes: stat.size, sha256 } as const
  const entry: TreeEntry = sha256 === null ? { ...about, identity: content } : about
  file.memo = { entry, content, row: digestRow(entry) }
  return file.memo
}

function linkMemo({ path, absolute }: ListedFile<FileMemo>, stat: Stats): FileMemo | null {
  try {
    const target = pathFromBytes(readlinkSync(absolute, { encoding: "buffer" }))
    const mode = stat.mode & 0o7777
    const entry: TreeEntry = { path, kind: "symlink", mode, sizeBytes: stat.size, target }
    return { entry, content: `link:${target}`, row: digestRow(entry) }
  } catch (error) {
    // Something else by now, which has a turn of its own the next time.
    if (errnoOf(error) === null) throw error
    return null
  }
}

function digestRow(entry: TreeEntry): string {
  if (entry.kind === "symlink") return `l ${entry.path}\0${entry.target}\0`
  return `f${entry.mode} ${entry.path}\0${entry.sha256 ?? entry.identity}\0`
}

/** Null for what vanished, and for what cannot be inspected, which is remembered as such. */
function inspected({ path, absolute }: ListedFile<FileMemo>, { closed }: Found): Stats | null {
  try {
    return lstatSync(absolute, { throwIfNoEntry: false }) ?? null
  } catch (error) {
    const why = whyClosed(error, path)
    if (why !== "gone") closed.push({ path, why })
    return null
  }
}

/** Returns whether a name leads elsewhere by now: a symlink took the place of the file or of a directory above it. */
function isElsewhere({ report: { code } }: Failure): boolean {
  return code === "ACODE-SEC-005"
}
