import {
  type BigIntStats,
  chmodSync,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readlinkSync,
} from "node:fs"
import { assert, errnoOf } from "../../base/assert.ts"
import { readNames, systemPath } from "../../base/path-bytes.ts"
import { errnoName } from "../failures.ts"
import { chunksOf } from "../files/durable.ts"
import { openBeneath } from "../files/openat2.ts"
import { joinRelative } from "../files/pin.ts"
import type { Pace } from "../pace.ts"
import { hasMark, ownAttributes, removeMarks } from "./attributes.ts"
import type { EntryStamp } from "./contract.ts"

/** An open directory: `at` leads to this inode, also after it was renamed. */
export interface OpenDirectory extends Disposable {
  readonly fd: number
  readonly at: string
}

/** Opens a directory that the caller has made or resolved. */
export function openPlace(path: string): OpenDirectory {
  return opened(openSync(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW))
}

/** Opens a directory below an open one without following a symlink. Returns null when there is none at the path. */
export function openBelow(directory: OpenDirectory, relative: string): OpenDirectory | null {
  const found = openBeneath(directory.fd, relative, pathOnly | constants.O_DIRECTORY, 0, "never")
  assert(found !== null, "transactions need openat2, which the overlay's kernel has")
  if ("fd" in found) return opened(found.fd)
  if (found.refusal !== "other" && found.refusal !== "denied") return null
  const code = errnoName(found.errno)
  throw Object.assign(new Error(code), { code })
}

const pathOnly = 0o10000000

function opened(fd: number): OpenDirectory {
  return { fd, at: `/proc/self/fd/${fd}`, [Symbol.dispose]: () => closeSync(fd) }
}

export function entryAt({ at }: Pick<OpenDirectory, "at">, name: string): string {
  return `${at}/${name}`
}

export function statAt(directory: Pick<OpenDirectory, "at">, name: string): BigIntStats | null {
  const at = systemPath(entryAt(directory, name))
  return lstatSync(at, { bigint: true, throwIfNoEntry: false }) ?? null
}

/** Reports whether an entry of a layer stands for a removed one. No command can make such an entry by itself. */
export function isWhiteout(stat: BigIntStats): boolean {
  return stat.isCharacterDevice() && stat.rdev === 0n
}

export function entryStamp(stat: BigIntStats, inner: string | null): EntryStamp {
  return {
    kind: kindOf(stat),
    ino: String(stat.ino),
    mode: Number(stat.mode & 0o7777n),
    // The size of a directory says nothing about its entries.
    sizeBytes: stat.isDirectory() ? 0 : Number(stat.size),
    mtimeNs: String(stat.mtimeNs),
    inner,
  }
}

function kindOf(stat: BigIntStats): EntryStamp["kind"] {
  if (stat.isFile()) return "file"
  if (stat.isDirectory()) return "directory"
  return stat.isSymbolicLink() ? "symlink" : "other"
}

/**
 * Reports whether an entry is what its stamp describes. Ignores the time of a directory, which changes with its
 * entries: the digest covers those. Ignores the write bit that a directory gets while it is moved.
 */
export function isStamped(stat: BigIntStats, stamp: EntryStamp): boolean {
  const now = entryStamp(stat, null)
  return (
    now.ino === stamp.ino &&
    now.kind === stamp.kind &&
    (now.mode === stamp.mode || (now.kind === "directory" && now.mode === (stamp.mode | 0o200))) &&
    now.sizeBytes === stamp.sizeBytes &&
    (now.kind === "directory" || now.mtimeNs === stamp.mtimeNs)
  )
}

/** The facts about everything inside a directory. */
export interface Survey {
  readonly count: number
  readonly digest: string
  readonly newestCtimeNs: bigint
}

export type Visit = (directory: OpenDirectory, name: string, path: string, stat: BigIntStats) => void

/**
 * Reads everything inside a directory, in the order of names, and yields now and then, so that the caller can let other
 * work run. Returns null for a directory that cannot be read whole: it is nested too deep, or permission is missing.
 */
export function* surveyOf(
  parent: OpenDirectory,
  name: string,
  path: string,
  visit: Visit = () => undefined,
  access: Access = "asIs",
): Generator<void, Survey | null> {
  const hasher = new Bun.CryptoHasher("sha256")
  const totals = { count: 0, newest: 0n }
  const note: Visit = (directory, entry, at, stat) => {
    totals.count += 1
    if (stat.ctimeNs > totals.newest) totals.newest = stat.ctimeNs
    const { kind, ino, mode, sizeBytes, mtimeNs } = entryStamp(stat, null)
    const time = kind === "directory" ? "" : mtimeNs
    hasher.update(JSON.stringify([at.slice(path.length), kind, ino, mode, sizeBytes, time]))
    visit(directory, entry, at, stat)
  }
  const isWhole = yield* walk(parent, name, path, { visit: note, access }, 0)
  return isWhole ? { count: totals.count, digest: hasher.digest("hex"), newestCtimeNs: totals.newest } : null
}

/** Deeper directories are not merged: each level holds a descriptor. */
const depthMax = 200

/** The treatment of directories that their owner may not read: opened in a layer, left alone in the workspace. */
export type Access = "asIs" | "opened"

interface Walk {
  readonly visit: Visit
  readonly access: Access
}

function* walk(
  parent: OpenDirectory,
  name: string,
  path: string,
  how: Walk,
  depth: number,
): Generator<void, boolean> {
  if (depth === depthMax) return false
  using directory = openBelow(parent, name)
  if (directory === null) return false
  using _ = how.access === "opened" ? madeReadable(directory) : null
  const names = readableNames(directory)
  if (names === null) return false
  for (const entry of names) {
    const stat = statAt(directory, entry)
    // Another process has just removed it, and the time of its directory shows that.
    if (stat === null) continue
    const at = joinRelative(path, entry)
    how.visit(directory, entry, at, stat)
    yield
    if (stat.isDirectory() && !(yield* walk(directory, entry, at, how, depth + 1))) return false
  }
  return true
}

/** Opens a directory of a layer to its owner until it is disposed; null where it is open. */
export function madeReadable({ fd, at }: OpenDirectory): Disposable | null {
  const mode = fstatSync(fd).mode & 0o7777
  if ((mode & 0o700) === 0o700) return null
  chmodSync(at, mode | 0o700)
  return { [Symbol.dispose]: () => chmodSync(at, mode) }
}

function readableNames({ at }: OpenDirectory): readonly string[] | null {
  try {
    return readNames(at)
  } catch (error) {
    if (errnoOf(error) === "EACCES") return null
    throw error
  }
}

/** Runs a generator of pauses to its end without pausing. */
export function unpaced<Result>(steps: Generator<void, Result>): Result {
  for (;;) {
    const { done, value } = steps.next()
    if (done === true) return value
  }
}

/** Runs a generator of pauses to its end and lets signals and timers run in between. */
export async function paced<Result>(steps: Generator<void, Result>, pace: Pace): Promise<Result> {
  for (let count = 1; ; count++) {
    const { done, value } = steps.next()
    if (done === true) return value
    if (count % 16 === 0 && pace.isDue()) await pace.rest()
  }
}

/** The marks of a directory in a layer. */
export interface LayerMarks {
  /** Hides everything below. */
  readonly isOpaque: boolean
  /** Copied up from below, under this name or another one. */
  readonly isCopied: boolean
}

export function marksAt(directory: OpenDirectory, name: string): LayerMarks {
  const at = entryAt(directory, name)
  return { isOpaque: hasMark(at, "opaque"), isCopied: hasMark(at, "origin") }
}

/** Removes the marks of an entry and of everything in it. */
export function* clearMarks(directory: OpenDirectory, name: string): Generator<void, void> {
  const clear = (at: OpenDirectory, entry: string, stat: BigIntStats) => {
    if (stat.isFile() || stat.isDirectory()) removeMarks(entryAt(at, entry))
  }
  const stat = statAt(directory, name)
  if (stat === null) return
  clear(directory, name, stat)
  if (stat.isDirectory()) {
    const inside: Visit = (at, entry, _, found) => clear(at, entry, found)
    yield* surveyOf(directory, name, name, inside, "opened")
  }
}

/** Reports whether two entries differ in nothing that a user can see: content, mode, times, owner and attributes. */
export function isUnchanged(
  upper: OpenDirectory,
  above: BigIntStats,
  lower: OpenDirectory,
  below: BigIntStats,
  name: string,
): boolean {
  const [one, other] = [entryStamp(above, null), entryStamp(below, null)]
  const isAlike =
    one.kind === other.kind &&
    one.mode === other.mode &&
    one.sizeBytes === other.sizeBytes &&
    one.mtimeNs === other.mtimeNs &&
    above.uid === below.uid &&
    above.gid === below.gid
  if (!isAlike || one.kind === "directory" || one.kind === "other") return false
  const paths = [entryAt(upper, name), entryAt(lower, name)] as const
  if (one.kind === "symlink") return targetOf(paths[0]) === targetOf(paths[1])
  const [mine, theirs] = paths.map(path => ownAttributes(path).join("\n"))
  return mine === theirs && hasSameBytes(paths[0], paths[1])
}

function targetOf(at: string): string {
  return readlinkSync(systemPath(at), { encoding: "latin1" })
}

/** Compares two files: programs give files equal sizes and times on purpose. */
function hasSameBytes(one: string, other: string): boolean {
  const fds: number[] = []
  try {
    for (const path of [one, other])
      fds.push(openSync(systemPath(path), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK))
    const [mine = "", theirs = ""] = fds.map(hashOfOpen)
    return mine === theirs
  } catch (error) {
    // What cannot be read cannot be compared, and counts as changed.
    if (errnoOf(error) === null) throw error
    return false
  } finally {
    for (const fd of fds) closeSync(fd)
  }
}

function hashOfOpen(fd: number): string {
  const hasher = new Bun.CryptoHasher("sha256")
  for (const chunk of chunksOf(fd)) hasher.update(chunk)
  return hasher.digest("hex")
}
