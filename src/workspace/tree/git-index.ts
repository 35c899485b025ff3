import { pathFromBytes } from "../../base/path-bytes.ts"

/**
 * What git tracks, by path from the top level: a tracked file is never ignored, whatever the ignore files say. Read
 * from the index itself, because running git in a hostile repository runs its code. Unreadable means nothing is
 * tracked.
 */
export function readTrackedPaths(bytes: Uint8Array, hashBytes: 20 | 32): ReadonlySet<string> {
  return new Set(readIndexEntries(bytes, hashBytes).keys())
}

/** The same with the object that each path has in the index; the last one where a merge left several. */
export function readIndexEntries(bytes: Uint8Array, hashBytes: 20 | 32): ReadonlyMap<string, string> {
  const tracked = new Map<string, string>()
  for (const { name, isFile, object } of entriesOf(bytes, hashBytes))
    if (isFile) tracked.set(name.toString("utf8"), object)
  return tracked
}

/** The paths of submodules. An index without any is not read to its end. */
export function readSubmodulePaths(bytes: Uint8Array, hashBytes: 20 | 32): readonly string[] {
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
  // Submodules and the directories of a sparse index are no files of this tree.
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

/** The offset encoding of pack files: big-endian groups of seven bits, each continued one counting from one. */
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
