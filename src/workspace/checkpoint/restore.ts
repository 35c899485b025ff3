import { chmodSync, lstatSync, readdirSync, rmdirSync, unlinkSync } from "node:fs"
import { errnoOf } from "../../base/assert.ts"
import { type Faults, noFaults } from "../../base/faults.ts"
import { nameOf, parentOf } from "../../base/path-names.ts"
import { Failure } from "../../domain/failure.ts"
import { isLeftover, putContent, putSymlink } from "../atomic-write.ts"
import type { Tree, TreeEntry } from "../contract.ts"
import { syncDirectory } from "../durable.ts"
import { fileFailure, onPath } from "../failures.ts"
import type { Pace } from "../pace.ts"
import { entryPath, type Pinned, pin } from "../pin.ts"
import { ensureExactDirectory, exactPlace } from "../place.ts"
import type { WorkspaceRoot } from "../root.ts"
import type { CheckpointContents } from "./contents.ts"
import type { Checkpoint, ExpectedContents, Restored, RestorePlan, WhileOwned } from "./contract.ts"
import { readExactEntry } from "./exact-entry.ts"
import { contentOf, isSameEntry } from "./manifest.ts"

/**
 * Content that a path is expected to have now: the hash of a file, `link:` and the target of a symlink, null for
 * nothing. Only these paths are considered, and a path that has another content is foreign.
 */
/** Decides, and changes nothing. `now` is the tree as it is; for some files only they are looked at. */
export async function planRestore(
  { root, checkpoint, expected, pace, fileBytesMax }: PlanSource,
  now: Tree | null,
): Promise<RestorePlan> {
  const current = new Map<string, TreeEntry>()
  if (checkpoint.scope === "tree" && now !== null)
    for (const entry of now.entries) current.set(entry.path, entry)
  const candidates = expected?.keys() ?? allPaths(checkpoint, current)
  const remove: string[] = []
  const write: TreeEntry[] = []
  const foreign: string[] = []
  for (const path of new Set(candidates)) {
    if (pace.isDue()) await pace.rest()
    const before = checkpoint.entries.get(path) ?? null
    const isCovered = before !== null || checkpoint.scope === "tree" || checkpoint.absent.includes(path)
    if (!isCovered) continue
    const entry = current.get(path) ?? entryNow(root, path, fileBytesMax)
    if (before === null ? entry === null : isEntry(entry) && isSameEntry(entry, before)) continue
    const isExpected = expected === null || (entry !== "other" && contentOf(entry) === expected.get(path))
    if (!isExpected) foreign.push(path)
    else if (before !== null) write.push(before)
    // What is not in the tree may be ignored, and what git ignores no checkpoint knows: it is not ours to remove.
    else if (checkpoint.scope === "files" || current.has(path)) remove.push(path)
  }
  return { remove, write, foreign }
}

/** `other`: a directory, a device or a symlink on the way is where the file was. */
function entryNow(root: WorkspaceRoot, path: string, fileBytesMax: number): TreeEntry | "other" | null {
  try {
    return readExactEntry(root, path, fileBytesMax)
  } catch (error) {
    if (error instanceof Failure) return "other"
    throw error
  }
}

function isEntry(entry: TreeEntry | "other" | null): entry is TreeEntry {
  return entry !== null && entry !== "other"
}

export interface PlanSource {
  readonly root: WorkspaceRoot
  readonly checkpoint: Checkpoint
  readonly expected: ExpectedContents | null
  readonly pace: Pace
  /** Larger files are not read. */
  readonly fileBytesMax: number
}

export interface RestoreSource extends PlanSource {
  readonly contents: CheckpointContents
  /** Reads the tree as it is; needed for a checkpoint of a tree. */
  readonly readTree: () => Promise<Tree>
  readonly owned: WhileOwned
}

/**
 * Puts a checkpoint back. Each file changes in one step and the whole can be repeated, so a crash in the middle of it
 * only means to do it again. Ignore files go first: with those of a command in force, its other files might not show.
 */
export async function restoreCheckpoint(source: RestoreSource, faults: Faults = noFaults): Promise<Restored> {
  const { root, checkpoint, expected } = source
  const look = async () => (checkpoint.scope === "tree" ? await source.readTree() : null)
  if (checkpoint.scope === "tree" && expected === null) openDirectories(source)
  for (const directory of new Set([...(expected?.keys() ?? [])].map(path => parentOf(path))))
    source.owned(() => removeLeftovers(root, directory))
  let now = await look()
  const first = await planRestore(source, now)
  const rules = {
    remove: first.remove.filter(isIgnoreFile),
    write: first.write.filter(entry => isIgnoreFile(entry.path)),
    foreign: [],
  }
  await apply(source, rules, null, faults)
  if (rules.remove.length + rules.write.length > 0) now = await look()
  const rest = await planRestore(source, now)
  // An ignore file that could not be put back is in the second plan as well, and is told by that.
  const blocked = await apply(source, rest, now?.directories.map(({ path }) => path) ?? null, faults)
  const failed = new Set([...rest.foreign, ...blocked.map(({ path }) => path)])
  const write = new Map([...rules.write, ...rest.write].map(entry => [entry.path, entry]))
  return {
    remove: [...new Set([...rules.remove, ...rest.remove])].filter(path => !failed.has(path)),
    write: [...write.values()].filter(({ path }) => !failed.has(path)),
    foreign: rest.foreign,
    blocked,
  }
}

/** Gives directories their modes back, parents first: nothing can be seen or done in one that is closed. */
function openDirectories({ root, checkpoint, owned }: RestoreSource): void {
  for (const { path, mode } of checkpoint.directories) {
    using directory = directoryAt(root, path)
    if (directory !== null && (directory.stat.mode & 0o7777) !== mode)
      owned(() => onPath(path, () => chmodSync(directory.at, mode)))
  }
}

function directoryAt(root: WorkspaceRoot, path: string): Pinned | null {
  try {
    const found = pin(root, path, "never")
    if (found === null || found.stat.isDirectory()) return found
    found[Symbol.dispose]()
    return null
  } catch (error) {
    // A symlink took its place, or a parent above the first known one is closed: there is nothing to open here.
    if (error instanceof Failure) return null
    throw error
  }
}

/**
 * What a restore that was cut short left beside the files it was putting back: it is none of the expected paths, so
 * nobody else would remove it.
 */
function removeLeftovers(root: WorkspaceRoot, path: string): void {
  using directory = directoryAt(root, path)
  if (directory === null) return
  try {
    for (const name of readdirSync(directory.at).filter(isLeftover)) unlinkSync(entryPath(directory, name))
  } catch (error) {
    if (errnoOf(error) === null) throw error
    // It cannot be read or written: then its files cannot be put back either, and that is told of them.
  }
}

function isIgnoreFile(path: string): boolean {
  return nameOf(path) === ".gitignore"
}

function* allPaths(checkpoint: Checkpoint, current: ReadonlyMap<string, TreeEntry>): Generator<string> {
  yield* checkpoint.entries.keys()
  yield* checkpoint.absent
  yield* current.keys()
}

/**
 * Removals first: what is in the way of an old file must be gone before it comes back. Directories that came or went
 * are seen to as well, unless only files are to be.
 */
async function apply(
  source: RestoreSource,
  plan: RestorePlan,
  directories: readonly string[] | null,
  faults: Faults,
): Promise<Restored["blocked"]> {
  const blocked: { path: string; reason: string }[] = []
  const attempt = async (path: string, step: () => void) => {
    // Between two files, so that each is the old one or the new one whenever a person stops it.
    if (source.pace.isDue()) await source.pace.rest()
    source.owned(() => {
      try {
        onPath(path, step)
      } catch (error) {
        if (!(error instanceof Failure)) throw error
        blocked.push({ path, reason: error.message })
      }
    })
  }
  for (const path of plan.remove) {
    await attempt(path, () => removeExactly(source.root, path))
    faults.reach("restore.removed")
  }
  for (const path of newDirectories(source, plan, directories))
    await attempt(path, () => removeIfEmpty(source.root, path))
  for (const entry of plan.write) {
    await attempt(entry.path, () => putBack(source, entry, faults))
    faults.reach("restore.written")
  }
  for (const path of oldDirectories(source, directories))
    await attempt(path, () => ensureExactDirectory(source.root, path))
  return blocked
}

function removeExactly(root: WorkspaceRoot, path: string): void {
  using directory = pin(root, parentOf(path), "never")
  if (!directory?.stat.isDirectory()) throw fileFailure("missing", path, "is not where it was")
  unlinkSync(entryPath(directory, nameOf(path)))
  syncDirectory(directory.at)
}

function putBack(
  { root, contents, checkpoint, fileBytesMax }: RestoreSource,
  entry: TreeEntry,
  faults: Faults,
): void {
  const reason = checkpoint.uncovered.get(entry.path)
  if (reason !== undefined) throw fileFailure("missing", entry.path, `cannot be put back: ${reason}`)
  using place = exactPlace(root, entry.path)
  const inTheWay = place.stat?.isDirectory() ?? false
  if (inTheWay) rmdirSync(entryPath(place.directory, place.name))
  const free = inTheWay ? { ...place, stat: null } : place
  if (entry.kind === "symlink") putSymlink(free, entry.target, faults)
  else if (entry.sha256 !== null && !putModeBack(root, entry, entry.sha256, fileBytesMax))
    putContent(free, contents.read(entry.sha256), entry.mode, faults)
}

/** True when the content is right and only the mode was not. */
function putModeBack(root: WorkspaceRoot, entry: TreeEntry, sha256: string, fileBytesMax: number): boolean {
  if (contentOf(readExactEntry(root, entry.path, fileBytesMax)) !== sha256) return false
  using file = pin(root, entry.path, "never")
  if (!file?.stat.isFile()) return false
  chmodSync(file.at, entry.mode)
  return true
}

/** Directories that the checkpoint does not know, innermost first: all of them, or those above a file that went. */
function newDirectories(
  { checkpoint, expected }: RestoreSource,
  plan: RestorePlan,
  now: readonly string[] | null,
): string[] {
  if (checkpoint.scope === "files" || now === null) return []
  const known = new Set(checkpoint.directories.map(({ path }) => path))
  const candidates = expected === null ? now : plan.remove.flatMap(parentsOf)
  return [...new Set(candidates)].filter(path => !known.has(path)).sort((a, b) => b.length - a.length)
}

function oldDirectories({ checkpoint, expected }: RestoreSource, now: readonly string[] | null): string[] {
  if (checkpoint.scope === "files" || expected !== null || now === null) return []
  const present = new Set(now)
  return checkpoint.directories.map(({ path }) => path).filter(path => !present.has(path))
}

function parentsOf(path: string): string[] {
  const names = path.split("/")
  return names.slice(1).map((_, index) => names.slice(0, index + 1).join("/"))
}

/** One that holds something is left: that is nobody's but the user's, such as ignored files. */
function removeIfEmpty(root: WorkspaceRoot, path: string): void {
  using directory = pin(root, parentOf(path), "never")
  if (!directory?.stat.isDirectory()) return
  const at = entryPath(directory, nameOf(path))
  if (!lstatSync(at, { throwIfNoEntry: false })?.isDirectory()) return
  try {
    rmdirSync(at)
  } catch (error) {
    if (errnoOf(error) !== "ENOTEMPTY" && errnoOf(error) !== "EEXIST") throw error
  }
}
