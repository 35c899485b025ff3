/**
 * File names are bytes and need not be UTF-8. A byte that is none becomes a lone surrogate (U+DC80…U+DCFF), so that
 * a name survives the way through strings and JSON and back. Lost names would be files that no checkpoint holds.
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

/** What the file system takes for a path: the string itself wherever that is exact. */
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

/** Length of the valid UTF-8 sequence at `index`, or 0. */
function sequenceLength(bytes: Uint8Array, index: number): number {
  const first = bytes[index] ?? 0
  if (first < 0x80) return 1
  const length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc2 ? 2 : 0
  if (length === 0 || index + length > bytes.length) return 0
  try {
    strict.decode(bytes.subarray(index, index + length))
    return length
  } catch {
    // Not UTF-8 at this place: the caller escapes one byte and goes on.
    return 0
  }
}
