import { closeSync, constants, fstatSync, lstatSync, openSync, readlinkSync, type Stats } from "node:fs"
import { errnoOf } from "../../base/assert.ts"
import { sha256Hex } from "../../base/canonical.ts"
import type { Clock } from "../../base/clock.ts"
import { pathFromBytes, systemPath } from "../../base/path-bytes.ts"
import { parentOf } from "../../base/path-names.ts"
import { Failure } from "../../domain/failure.ts"
import type {
  ClosedPath,
  IgnoredFiles,
  IgnoreTexts,
  Tree,
  TreeDirectory,
  TreeEntry,
  TreeOptions,
} from "../contract.ts"
import { bounded, type ContentHash, hashPaced } from "../files/durable.ts"
import { type PinRoot, pin } from "../files/pin.ts"
import { Pace } from "../pace.ts"
import { type GitRules, readGitRules, recordedRules } from "./git-rules.ts"
import type { IgnoreRules } from "./ignore.ts"
import { watchIgnored } from "./ignored.ts"
import { type IgnoredEntry, type ListedFile, TreeListings, whyClosed } from "./listing.ts"
import { type StatCache, statIdentity, tickMs } from "./stat-cache.ts"

export interface TreeScope {
  /**
   * Reports files that are never inspected, regardless of git; a directory includes all that it contains. Its answers
   * must not change.
   */
  readonly isProtected: (path: string) => boolean
  /** `dev:ino` of the files that acode's own output goes to: each message changes them. */
  readonly ownOutputs: ReadonlySet<string>
  /** Larger files are not read: they are identified by their size, times and inode. */
  readonly fileBytesMax: number
  /** The most ignored files and directories to watch. */
  readonly ignoredEntriesMax?: number
}

const ignoredEntriesUsual = 50_000

/**
 * Reads the tree repeatedly; opens only files that changed since the last time, and lists only directories that
 * changed.
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

  async read(pace: Pace = new Pace(this.clock), options: TreeOptions = {}): Promise<Tree> {
    const git = readGitRules(this.root.path, this.git)
    this.git = git
    let tree = await this.walk(git, this.listings, pace)
    const { rules } = options
    // The rules rarely change; where they did, the tree is read again by the old rules.
    if (rules !== undefined && JSON.stringify(textsOf(git, tree)) !== JSON.stringify(rules))
      tree = await this.walk(rules === null ? null : recordedRules(rules), new TreeListings(), pace)
    if (this.cache.size > tree.entries.length) this.forgetMissing(tree.entries)
    const { entries, directories, closed } = tree
    return {
      digest: tree.hasher.digest("hex"),
      entries,
      directories,
      closed,
      rules: rules === undefined ? textsOf(git, tree) : rules,
      ignored: options.watchesIgnored === true ? await this.watch(tree, pace) : null,
    }
  }

  private async walk(
    git: GitRules | null,
    listings: TreeListings<FileMemo>,
    pace: Pace,
  ): Promise<CollectedTree> {
    const tree = emptyTree()
    // The last one is next: what is in a directory comes before what is beside it.
    const open: OpenDirectory[] = [{ prefix: "", above: git?.top ?? null, trackedOnly: false }]
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      if (pace.isDue()) await pace.rest()
      const { prefix, above, trackedOnly } = next
      const { isProtected } = this.scope
      const request = { root: this.root.path, prefix, git, above, trackedOnly, isProtected }
      const inspection = listings.list({ ...request, nowMs: this.clock.now() })
      if (inspection === null) continue
      const path = prefix === "" ? "." : prefix.slice(0, -1)
      if (inspection.mode !== null) tree.directories.push({ path, mode: inspection.mode })
      if (inspection.listing === null) {
        const { why, identity } = inspection
        tree.closed.push({ path, why, identity })
        continue
      }
      const { listing } = inspection
      for (const file of listing.files) {
        const hashing = this.add(file, tree, pace)
        // In most trees no file has to be hashed, and then there is nothing to await.
        if (hashing !== null) await hashing
      }
      if (listing.ignoreText !== null) tree.ignoreFiles.push([prefix, listing.ignoreText])
      tree.ignored.push(...listing.ignored)
      tree.tracked.push(...listing.tracked)
      for (const directory of listing.directories.toReversed())
        open.push({
          prefix: `${directory.path}/`,
          above: listing.rules,
          trackedOnly: directory.trackedOnly,
        })
    }
    return tree
  }

  private async watch({ ignored }: CollectedTree, pace: Pace): Promise<IgnoredFiles> {
    const { ignoredEntriesMax: entriesMax = ignoredEntriesUsual } = this.scope
    let latestMs = 0
    const files = await watchIgnored(
      {
        root: this.root.path,
        entriesMax,
        isOwnOutput: stat => this.isOwnOutput(stat),
        onInspected: ({ ctimeMs }) => {
          latestMs = Math.max(latestMs, ctimeMs)
        },
      },
      ignored,
      pace,
    )
    // A change within the current clock tick could leave the same times.
    const restMs = latestMs + tickMs - this.clock.now()
    if (restMs > 0) await Bun.sleep(Math.min(restMs, tickMs))
    return files
  }

  private isOwnOutput({ dev, ino }: Stats): boolean {
    const { ownOutputs } = this.scope
    return ownOutputs.size > 0 && ownOutputs.has(`${dev}:${ino}`)
  }

  /** Returns null when the file is already added, else a promise that resolves once it is. */
  private add(file: ListedFile<FileMemo>, tree: CollectedTree, pace: Pace): Promise<void> | null {
    const stat = inspected(file, tree)
    if (stat === null || this.isOwnOutput(stat)) return null
    if (stat.isSymbolicLink()) return keep(tree, linkMemo(file, stat))
    if (stat.isDirectory()) return null
    if (!stat.isFile()) return keep(tree, specialMemo(file, stat))
    if (stat.size > this.scope.fileBytesMax) return keep(tree, fileMemo(file, stat, null))
    const sha256 = this.cache.get(file.path, stat)
    return sha256 === null
      ? this.hashAndAdd(file, stat, tree, pace)
      : keep(tree, fileMemo(file, stat, sha256))
  }

  private async hashAndAdd(
    file: ListedFile<FileMemo>,
    stat: Stats,
    tree: CollectedTree,
    pace: Pace,
  ): Promise<void> {
    if (pace.isDue()) await pace.rest()
    const hash = await this.hash(file.path, stat, pace)
    if (hash !== "gone") keep(tree, fileMemo(file, stat, hash === "unread" ? null : hash.sha256))
  }

  /**
   * Opens the file below the root without following any symlink: a directory swapped for a symlink exposes no file
   * elsewhere.
   */
  private async hash(path: string, before: Stats, pace: Pace): Promise<ContentHash | "gone" | "unread"> {
    const hashedAtMs = this.clock.now()
    let fd = -1
    try {
      using file = pin(this.root, path, "never")
      if (!file?.stat.isFile()) return "gone"
      fd = openSync(file.at, constants.O_RDONLY | constants.O_NONBLOCK)
      const hash = await hashPaced(fd, pace, bounded(this.scope.fileBytesMax, outgrown))
      const after = fstatSync(fd)
      // The hash of a file that was written during the read is not remembered.
      const isSteady = after.ctimeMs === before.ctimeMs && after.ino === before.ino
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

/** Thrown when a file grows beyond the bound while it is read. */
const outgrown = new Error("the file has become too large to be read")

/** Returns the digest of entries that are in the order of a tree. */
export function digestOf(entries: Iterable<TreeEntry>): string {
  return sha256Hex(Array.from(entries, digestRow).join(""))
}

interface OpenDirectory {
  readonly prefix: string
  readonly above: IgnoreRules | null
  readonly trackedOnly: boolean
}

interface CollectedTree {
  readonly hasher: Bun.CryptoHasher
  readonly entries: TreeEntry[]
  readonly directories: TreeDirectory[]
  readonly closed: ClosedPath[]
  readonly ignoreFiles: (readonly [string, string])[]
  readonly ignored: IgnoredEntry[]
  readonly tracked: string[]
}

function emptyTree(): CollectedTree {
  const hasher = new Bun.CryptoHasher("sha256")
  return { hasher, entries: [], directories: [], closed: [], ignoreFiles: [], ignored: [], tracked: [] }
}

function textsOf(git: GitRules | null, { ignoreFiles: files, tracked }: CollectedTree): IgnoreTexts | null {
  return git === null ? null : { prefix: git.prefix, above: git.above, files, tracked }
}

function keep({ hasher, entries }: CollectedTree, memo: FileMemo | null): null {
  if (memo === null) return null
  hasher.update(memo.row)
  entries.push(memo.entry)
  return null
}

interface FileMemo {
  readonly entry: TreeEntry
  readonly content: string
  /** The contribution of the entry to the digest. No path and no target contains a NUL. */
  readonly row: string
}

/** Returns the entry of a file. Without a hash the file is identified by its size, times and inode. */
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
    // The file was replaced by something else; the next read of the tree sees that.
    if (errnoOf(error) === null) throw error
    return null
  }
}

function specialMemo({ path }: ListedFile<FileMemo>, stat: Stats): FileMemo {
  const entry: TreeEntry = specialEntry(path, stat)
  return { entry, content: "", row: digestRow(entry) }
}

/** Returns the entry of something that is not a file, a symlink or a directory. */
export function specialEntry(path: string, stat: Stats): Extract<TreeEntry, { readonly kind: "special" }> {
  const special = stat.isFIFO() ? "fifo:" : stat.isSocket() ? "socket:" : deviceOf(stat)
  return { path, kind: "special", mode: stat.mode & 0o7777, sizeBytes: 0, special }
}

function deviceOf(stat: Stats): string {
  return `device:${stat.isBlockDevice() ? "b" : "c"}${stat.rdev}`
}

function digestRow(entry: TreeEntry): string {
  if (entry.kind === "special") return `s${entry.mode} ${entry.path}\0${entry.special}\0`
  if (entry.kind === "symlink") return `l ${entry.path}\0${entry.target}\0`
  return `f${entry.mode} ${entry.path}\0${entry.sha256 ?? entry.identity}\0`
}

/** Returns null for a file that vanished, and for one that cannot be inspected, which is added to `closed`. */
function inspected({ path, absolute }: ListedFile<FileMemo>, { closed }: CollectedTree): Stats | null {
  try {
    return lstatSync(absolute, { throwIfNoEntry: false }) ?? null
  } catch (error) {
    const why = whyClosed(error, path)
    if (why !== "gone") closed.push({ path, why, identity: identityAround(absolute) })
    return null
  }
}

/**
 * Returns the identity of the directory around a path: changing what a directory hides needs its mode changed first,
 * which its times show.
 */
function identityAround(absolute: string | Buffer): string {
  try {
    const directory = parentOf(typeof absolute === "string" ? absolute : pathFromBytes(absolute))
    const stat = lstatSync(systemPath(directory), { throwIfNoEntry: false })
    return stat === undefined ? "" : statIdentity(stat)
  } catch (error) {
    if (errnoOf(error) === null) throw error
    return ""
  }
}

/** Reports whether a name leads elsewhere by now: a symlink replaced the file or a directory above it. */
function isElsewhere({ report: { code } }: Failure): boolean {
  return code === "ACODE-SEC-005"
}
