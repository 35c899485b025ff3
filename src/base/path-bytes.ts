import { lstatSync, readdirSync } from "node:fs"

/**
 * Converts the bytes of a file name, which need not be UTF-8, to a string. An invalid byte becomes a lone surrogate
 * (U+DC80…U+DCFF), so that a name survives strings and JSON. A file whose name is lost would be missing from every
 * checkpoint.
 */
export function pathFromBytes(bytes: Uint8Array): string {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8")
  if (!text.includes("\ufffd")) return text
  let path = ""
  for (let index = 0; index < bytes.length; ) {
    const length = sequenceLength(bytes, index)
    path +=
      length === 0
        ? String.fromCharCode(escapeBase + (bytes[index] ?? 0))
        : Buffer.from(bytes.subarray(index, index + length)).toString("utf8")
    index += Math.max(1, length)
  }
  return path
}

/** Returns the path in the form that the file system accepts: the string itself wherever that is exact. */
export function systemPath(path: string): string | Buffer {
  return path.isWellFormed() ? path : pathBytes(path)
}

export function pathBytes(path: string): Buffer {
  if (path.isWellFormed()) return Buffer.from(path, "utf8")
  const parts: Buffer[] = []
  for (const character of path) {
    const code = character.charCodeAt(0)
    const isEscape = character.length === 1 && code >= escapeBase + 0x80 && code <= escapeBase + 0xff
    parts.push(isEscape ? Buffer.from([code - escapeBase]) : Buffer.from(character, "utf8"))
  }
  return Buffer.concat(parts)
}

const escapeBase = 0xdc00
const strict = new TextDecoder("utf-8", { fatal: true })

/** Returns the length of the valid UTF-8 sequence at `index`, or 0. */
function sequenceLength(bytes: Uint8Array, index: number): number {
  const first = bytes[index] ?? 0
  if (first < 0x80) return 1
  const length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc2 ? 2 : 0
  if (length === 0 || index + length > bytes.length) return 0
  try {
    strict.decode(bytes.subarray(index, index + length))
    return length
  } catch {
    // Not UTF-8 at this position: the caller escapes one byte and continues.
    return 0
  }
}

/** Returns the names in a directory in the order of their code units, exact also where they are not UTF-8. */
export function readNames(directory: string): string[] {
  const names = readdirSync(systemPath(directory))
  const exact = names.some(hasReplacement) ? rawNames(directory) : names
  return exact.sort(byCodeUnit)
}

/** A directory entry: the used part of `Dirent`. */
export interface NamedEntry {
  readonly name: string
  isFile(): boolean
  isDirectory(): boolean
  isSymbolicLink(): boolean
}

/** Returns the entries of a directory with their kinds, in the order of their code units. */
export function readEntries(directory: string): NamedEntry[] {
  return listEntries(directory).sort((a, b) => byCodeUnit(a.name, b.name))
}

/** Returns the entries of a directory with their kinds, in no particular order. */
export function listEntries(directory: string): NamedEntry[] {
  const entries: NamedEntry[] = readdirSync(systemPath(directory), { withFileTypes: true })
  return entries.some(entry => hasReplacement(entry.name)) ? rawEntries(directory) : entries
}

function hasReplacement(name: string): boolean {
  return name.includes("\ufffd")
}

function rawNames(directory: string): string[] {
  return readdirSync(systemPath(directory), { encoding: "buffer" }).map(pathFromBytes)
}

function rawEntries(directory: string): NamedEntry[] {
  return rawNames(directory).flatMap(name => {
    const stat = lstatSync(systemPath(`${directory}/${name}`), { throwIfNoEntry: false })
    if (stat === undefined) return []
    return [
      {
        name,
        isFile: () => stat.isFile(),
        isDirectory: () => stat.isDirectory(),
        isSymbolicLink: () => stat.isSymbolicLink(),
      },
    ]
  })
}

function byCodeUnit(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
