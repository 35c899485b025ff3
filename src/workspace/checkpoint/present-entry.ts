import { closeSync, constants, lstatSync, openSync, readlinkSync } from "node:fs"
import { errnoOf } from "../../base/assert.ts"
import { systemClock } from "../../base/clock.ts"
import { pathFromBytes } from "../../base/path-bytes.ts"
import { nameOf, parentOf } from "../../base/path-names.ts"
import { Failure } from "../../domain/failure.ts"
import type { TreeEntry } from "../contract.ts"
import { systemFailure } from "../failures.ts"
import { hashSteady, hashSteadyPaced } from "../files/durable.ts"
import { entryPath, type PinRoot, pin } from "../files/pin.ts"
import type { Pace } from "../pace.ts"
import { specialEntry } from "../tree/reader.ts"
import { statIdentity } from "../tree/stat-cache.ts"
import { contentOf, isSameEntry } from "./manifest.ts"

/** The entry at an exact path right now, without following symlinks. */
export type PresentEntry =
  | { readonly kind: "nothing" }
  | { readonly kind: "entry"; readonly entry: TreeEntry; readonly stamp?: FileStamp }
  | { readonly kind: "directory"; readonly mode: number }
  /** An entry that may not be inspected. */
  | { readonly kind: "hidden"; readonly why: string }

/** Distinguishes a file from the same file after a write, as far as its times can. */
export interface FileStamp {
  readonly ino: number
  readonly sizeBytes: number
  readonly mtimeMs: number
  /** The time at which the file was inspected. */
  readonly seenMs: number
}

/**
 * Inspects a path. Behind a file or a symlink there is nothing at a path: whatever is there belongs to another path. A
 * long read lets signals run.
 */
export async function inspect(
  root: PinRoot,
  path: string,
  pace: Pace,
  bytesMax: number,
): Promise<PresentEntry> {
  if (pace.isDue()) await pace.rest()
  const seen = presentEntryAt(root, path, 0)
  if (seen.kind !== "entry" || seen.entry.kind !== "file" || seen.entry.sizeBytes > bytesMax) return seen
  if (seen.entry.sizeBytes < longBytes) return presentEntryAt(root, path, bytesMax)
  const sha256 = await hashLong(root, path, pace)
  return presentEntryAt(root, path, bytesMax, () => sha256)
}

const longBytes = 4 * 1024 * 1024

async function hashLong(root: PinRoot, path: string, pace: Pace): Promise<string | null> {
  using file = pin(root, path, "never")
  const fd = file === null ? null : openReadable(file.at, 0)
  if (fd === null) return null
  try {
    return await hashSteadyPaced(fd, pace)
  } finally {
    closeSync(fd)
  }
}

/**
 * Inspects a path without interruption, for steps that must not be divided. A file of more than `bytesMax` is not read.
 */
export function presentEntryAt(root: PinRoot, path: string, bytesMax: number, hash = hashAt): PresentEntry {
  try {
    using directory = pin(root, parentOf(path), "never")
    if (!directory?.stat.isDirectory()) return { kind: "nothing" }
    return presentEntryOf(entryPath(directory, nameOf(path)), path, bytesMax, hash)
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    return error.report.code === outside ? { kind: "nothing" } : { kind: "hidden", why: error.report.message }
  }
}

/** The code of a symlink on the path. */
const outside = "ACODE-SEC-005"

/** Inspects a path of the file system; `path` is its name in messages and in the result. */
export function presentEntryOf(
  at: string | Buffer,
  path: string,
  bytesMax: number,
  hash = hashAt,
): PresentEntry {
  try {
    const seenMs = systemClock.now()
    const stat = lstatSync(at, { throwIfNoEntry: false })
    if (stat === undefined) return { kind: "nothing" }
    const mode = stat.mode & 0o7777
    if (stat.isDirectory()) return { kind: "directory", mode }
    const known = { path, mode, sizeBytes: stat.size }
    if (stat.isSymbolicLink()) {
      const target = pathFromBytes(readlinkSync(at, { encoding: "buffer" }))
      return { kind: "entry", entry: { ...known, kind: "symlink", target } }
    }
    if (stat.isFile()) {
      const stamp = { ino: stat.ino, sizeBytes: stat.size, mtimeMs: stat.mtimeMs, seenMs }
      const sha256 = stat.size > bytesMax ? null : hash(at)
      const read = sha256 === null ? { sha256, identity: statIdentity(stat) } : { sha256 }
      return { kind: "entry", entry: { ...known, kind: "file", ...read }, stamp }
    }
    return { kind: "entry", entry: specialEntry(path, stat) }
  } catch (error) {
    const failure = systemFailure(error, path)
    if (!(failure instanceof Failure)) throw failure
    return { kind: "hidden", why: failure.report.message }
  }
}

/**
 * Returns the content as a recorded change spells it; undefined for an entry that has none. A file that may not be read
 * counts as nothing.
 */
export function contentOfPresentEntry(present: PresentEntry): string | null | undefined {
  switch (present.kind) {
    case "nothing":
      return null
    case "entry":
      return contentOf(present.entry)
    default:
      return undefined
  }
}

/** Reports whether two inspections of a path agree in kind, mode, content and target. */
export function isSamePresentEntry(a: PresentEntry, b: PresentEntry): boolean {
  if (a.kind === "entry") return b.kind === "entry" && isSameEntry(a.entry, b.entry)
  if (a.kind === "directory") return b.kind === "directory" && a.mode === b.mode
  return a.kind === "nothing" && b.kind === "nothing"
}

/** Opens a file to read it; returns null when that is not permitted. */
export function openReadable(at: string | Buffer, flags: number): number | null {
  try {
    return openSync(at, constants.O_RDONLY | constants.O_NONBLOCK | flags)
  } catch (error) {
    if (errnoOf(error) === "EACCES" || errnoOf(error) === "EPERM") return null
    throw error
  }
}

function hashAt(at: string | Buffer): string | null {
  const fd = openReadable(at, constants.O_NOFOLLOW)
  if (fd === null) return null
  try {
    return hashSteady(fd)
  } finally {
    closeSync(fd)
  }
}
