import { lstatSync } from "node:fs"
import { join, relative } from "node:path"
import { pathFromBytes } from "../../base/path-bytes.ts"
import { parentOf } from "../../base/path-names.ts"
import { readSmall } from "../../base/small-file.ts"
import type { IgnoreTexts } from "../contract.ts"
import { findGitDirectories, type GitDirectories, readGitIndex } from "../git.ts"
import { addIgnoreFile, type IgnoreRules, isIgnored } from "./ignore.ts"

/** Git's rules for the files of a workspace. Reading them again returns the same object while they are unchanged. */
export interface GitRules {
  /** The rules for the root itself, from `.git/info/exclude` and the ignore files above the root. */
  readonly top: IgnoreRules
  /**
   * The path of the root below the top level of git, where the paths of the rules start. Ends in a slash, or is empty.
   */
  readonly prefix: string
  readonly tracked: TrackedPaths
  /**
   * Returns the text of a directory's ignore file; null when it has none. A symlink is not followed, as git does not.
   */
  readonly textIn: (prefix: string, absolute: string) => string | null
  /** The ignore files that `top` was made from: directory and text. */
  readonly above: IgnoreTexts["above"]
  /** A digest of everything that the rules were made from. */
  readonly source: string
}

export interface TrackedPaths {
  hasFile(path: string): boolean
  /** Reports whether anything below a directory is tracked. */
  hasBelow(directory: string): boolean
}

/** Returns null outside git, and where git would ignore the root itself: a tree without files proves nothing. */
export function readGitRules(root: string, previous: GitRules | null): GitRules | null {
  const gitDirectories = findGitDirectories(root)
  if (gitDirectories === null) return null
  const below = relative(gitDirectories.topLevel, root)
  const names = below === "" ? [] : below.split("/")
  const exclude = readSmall(join(gitDirectories.commonDirectory, "info/exclude")) ?? ""
  const above: (readonly [string, string])[] = [["", exclude]]
  for (const depth of names.keys()) {
    const directory = names.slice(0, depth).join("/")
    above.push([directory, textOf(join(gitDirectories.topLevel, directory)) ?? ""])
  }
  const source = JSON.stringify([gitDirectories.gitDirectory, above, indexSignature(gitDirectories)])
  if (previous?.source === source) return previous
  const top = topOf(above, names)
  if (top === null) return null
  const prefix = below === "" ? "" : `${below}/`
  return {
    top,
    prefix,
    tracked: lazilyTracked(gitDirectories),
    textIn: (_, directory) => textOf(directory),
    above,
    source,
  }
}

/** Returns null where git would ignore the root itself. */
function topOf(above: IgnoreTexts["above"], names: readonly string[]): IgnoreRules | null {
  let top: IgnoreRules | null = null
  for (const [index, [directory, content]] of above.entries()) {
    top = addIgnoreFile(top, directory, content)
    // The first one is for the whole repository, the others for one directory each.
    if (index > 0 && isIgnored(top, names.slice(0, index).join("/"), true)) return null
  }
  return top
}

/** Returns the rules as they were recorded, independent of the ignore files that exist now. */
export function recordedRules({ prefix, above, files, tracked }: IgnoreTexts): GitRules | null {
  const top = topOf(above, prefix === "" ? [] : prefix.slice(0, -1).split("/"))
  if (top === null) return null
  const texts = new Map(files)
  const known = trackedPaths(new Set(tracked.map(path => `${prefix}${path}`)))
  return { top, prefix, tracked: known, textIn: directory => texts.get(directory) ?? null, above, source: "" }
}

function textOf(directory: string): string | null {
  return readSmall(join(directory, ".gitignore"))
}

/** Returns the rules in a directory: those above it and its own file. A symlink is not followed, as git does not. */
export function withIgnoreFile(above: IgnoreRules, base: string, directory: string): IgnoreRules {
  const content = textOf(directory)
  return content === null ? above : addIgnoreFile(above, base, content)
}

function indexSignature(gitDirectories: GitDirectories): string {
  const stat = lstatSync(join(gitDirectories.gitDirectory, "index"), { throwIfNoEntry: false })
  return stat === undefined ? "none" : `${stat.ino}:${stat.size}:${stat.mtimeMs}:${stat.ctimeMs}`
}

/** Reads the index only when it is needed: it is consulted for ignored paths only, so most trees never need it. */
function lazilyTracked(gitDirectories: GitDirectories): TrackedPaths {
  let loaded: TrackedPaths | null = null
  const load = () => {
    loaded ??= loadTracked(gitDirectories)
    return loaded
  }
  return { hasFile: path => load().hasFile(path), hasBelow: directory => load().hasBelow(directory) }
}

function loadTracked(gitDirectories: GitDirectories): TrackedPaths {
  const { bytes, hashBytes } = readGitIndex(gitDirectories)
  return trackedPaths(readTrackedPaths(bytes, hashBytes))
}

/** Returns the paths of submodules below a root, whether or not their files exist. */
export function submodulePaths(root: string): readonly string[] {
  const gitDirectories = findGitDirectories(root)
  if (gitDirectories === null) return []
  const { bytes, hashBytes } = readGitIndex(gitDirectories)
  const below = relative(gitDirectories.topLevel, root)
  return readSubmodulePaths(bytes, hashBytes).flatMap(path => {
    if (below === "") return [path]
    return path.startsWith(`${below}/`) ? [path.slice(below.length + 1)] : []
  })
}

function trackedPaths(files: ReadonlySet<string>): TrackedPaths {
  const directories = new Set<string>()
  for (const file of files)
    for (let parent = parentOf(file); parent !== "." && !directories.has(parent); parent = parentOf(parent))
      directories.add(parent)
  return { hasFile: path => files.has(path), hasBelow: directory => directories.has(directory) }
}

/**
 * Returns the paths that git tracks, from the top level: a tracked file is never ignored, whatever the ignore files
 * say. Read from the index itself, because running git in a hostile repository runs its code. An unreadable index
 * tracks nothing.
 */
export function readTrackedPaths(bytes: Uint8Array, hashBytes: 20 | 32): ReadonlySet<string> {
  return new Set(readIndexEntries(bytes, hashBytes).keys())
}

/** Returns the tracked paths with their objects in the index; the last one where a merge left several. */
export function readIndexEntries(bytes: Uint8Array, hashBytes: 20 | 32): ReadonlyMap<string, string> {
  const tracked = new Map<string, string>()
  for (const { name, isFile, object } of entriesOf(bytes, hashBytes))
    if (isFile) tracked.set(name.toString("utf8"), object)
  return tracked
}

/** Returns the paths of submodules. An index without any is not read to the end. */
function readSubmodulePaths(bytes: Uint8Array, hashBytes: 20 | 32): readonly string[] {
  const index = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (index.indexOf(submoduleMode) < 0) return []
  return [...entriesOf(bytes, hashBytes)].flatMap(({ isSubmodule, name }) =>
    isSubmodule ? [pathFromBytes(name)] : [],
  )
}

const submoduleMode = Buffer.from([0, 0, 0xe0, 0])

function* entriesOf(bytes: Uint8Array, hashBytes: 20 | 32): Generator<IndexEntry, void> {
  const index = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (index.length < 12 || index.toString("latin1", 0, 4) !== "DIRC") return
  const version = index.readUInt32BE(4)
  const count = index.readUInt32BE(8)
  if (version < 2 || version > 4) return
  let at = 12
  let previous: Buffer = Buffer.alloc(0)
  for (let entry = 0; entry < count; entry++) {
    const read = readEntry(index, at, version, hashBytes, previous)
    if (read === null) return
    yield read
    previous = read.name
    at = read.end
  }
}

interface IndexEntry {
  readonly name: Buffer
  readonly isFile: boolean
  readonly isSubmodule: boolean
  readonly object: string
  readonly end: number
}

const statBytes = 40
const modeOffset = 24
const extended = 0x4000

function readEntry(
  index: Buffer,
  start: number,
  version: number,
  hashBytes: number,
  previous: Buffer,
): IndexEntry | null {
  const flagsAt = start + statBytes + hashBytes
  if (flagsAt + 2 > index.length) return null
  let at = flagsAt + 2 + ((index.readUInt16BE(flagsAt) & extended) !== 0 ? 2 : 0)
  let prefix: Buffer = Buffer.alloc(0)
  if (version === 4) {
    const stripped = readOffset(index, at)
    if (stripped === null || stripped.value > previous.length) return null
    prefix = previous.subarray(0, previous.length - stripped.value)
    at = stripped.end
  }
  const terminator = index.indexOf(0, at)
  if (terminator < 0) return null
  const name = Buffer.concat([prefix, index.subarray(at, terminator)])
  const padded = start + Math.ceil((terminator + 1 - start) / 8) * 8
  // Submodules and the directories of a sparse index are not files of this tree.
  const kind = index.readUInt32BE(start + modeOffset) >>> 12
  const object = index.toString("hex", start + statBytes, flagsAt)
  return {
    name,
    object,
    isFile: kind === 0o10 || kind === 0o12,
    isSubmodule: kind === 0o16,
    end: version === 4 ? terminator + 1 : padded,
  }
}

/**
 * Decodes the offset encoding of pack files: big-endian groups of seven bits, each continued one counting from one.
 */
function readOffset(index: Buffer, start: number): { value: number; end: number } | null {
  let byte = index[start]
  if (byte === undefined) return null
  let value = byte & 0x7f
  let at = start + 1
  while ((byte & 0x80) !== 0) {
    byte = index[at++]
    if (byte === undefined || value > 0xffffff) return null
    value = (value + 1) * 128 + (byte & 0x7f)
  }
  return { value, end: at }
}
