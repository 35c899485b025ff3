import { unsafeForTerminal } from "./text.ts"

/**
 * Returns the directory of a relative path, `.` at the top. `dirname` of node:path is not exact: an invalid byte of a
 * name is a lone surrogate in the string, and Bun returns a replacement character for it, which is the name of
 * another file.
 */
export function parentOf(path: string): string {
  const whole = withoutEnd(path)
  return withoutEnd(whole.slice(0, Math.max(0, whole.lastIndexOf("/")))) || "."
}

/** Returns the last name of a path, with the same exactness. */
export function nameOf(path: string): string {
  const whole = withoutEnd(path)
  return whole.slice(whole.lastIndexOf("/") + 1)
}

function withoutEnd(path: string): string {
  return path.replace(/\/+$/, "")
}

/**
 * Returns a path as acode prints it everywhere: on one line, without control or invisible characters. A path that has
 * such characters is written as git does, in double quotes with the bytes in octal; `readShown` reverses this.
 * Characters of all languages stay.
 */
export function shownPath(path: string): string {
  return isUnusual(path) ? escapedPath(path) : path
}

/** Returns a path in quotes, for a sentence. */
export function quotedPath(path: string): string {
  return isUnusual(path) ? escapedPath(path) : `"${path}"`
}

/** Returns whether a name has to be quoted. A name that begins with a quote could be read as a quoted one. */
function isUnusual(path: string): boolean {
  return path.startsWith('"') || path.search(unusual) !== -1
}

function escapedPath(path: string): string {
  return `"${path.replace(/["\\]/g, "\\$&").replace(unusual, escaped)}"`
}

/** Returns the path that a user typed in its printed form; any other text is returned unchanged. */
export function readShown(typed: string): string {
  if (!quotedWhole.test(typed)) return typed
  let path = ""
  let bytes: number[] = []
  const flush = () => {
    path += decoded(bytes)
    bytes = []
  }
  for (const [part] of typed.slice(1, -1).matchAll(quotedParts)) {
    const letter = part[1] ?? ""
    if (/^\\[0-7]{3}$/.test(part)) {
      bytes.push(Number.parseInt(part.slice(1), 8))
      continue
    }
    flush()
    path += part.startsWith("\\") ? (byLetter.get(letter) ?? letter) : part
  }
  flush()
  return path
}

const letters: Readonly<Record<string, string>> = {
  "\u0007": "\\a",
  "\b": "\\b",
  "\t": "\\t",
  "\n": "\\n",
  "\u000b": "\\v",
  "\f": "\\f",
  "\r": "\\r",
}
const byLetter = new Map(Object.entries(letters).map(([character, written]) => [written.slice(1), character]))

/** Matches layout, control characters, invisible characters and lone surrogates. */
const unusual = new RegExp(`[\\t\\n]|${unsafeForTerminal.source}|\\p{Cs}`, "gu")
const quotedParts = /\\[0-7]{3}|\\[abtnvfr"\\]|[^"\\]/gu
const quotedWhole = /^"(?:\\[0-3][0-7]{2}|\\[abtnvfr"\\]|[^"\\])*"$/u

function escaped(sign: string): string {
  const letter = letters[sign]
  if (letter !== undefined) return letter
  const code = sign.charCodeAt(0)
  // An invalid byte of a name is a lone surrogate in a string.
  const bytes = sign.length === 1 && code >= 0xdc80 && code <= 0xdcff ? [code - 0xdc00] : encoder.encode(sign)
  return Array.from(bytes, byte => `\\${byte.toString(8).padStart(3, "0")}`).join("")
}

const encoder = new TextEncoder()

/** Decodes bytes; those that are not UTF-8 become lone surrogates again. */
function decoded(bytes: readonly number[]): string {
  let text = ""
  for (let at = 0; at < bytes.length; ) {
    const length = [4, 3, 2, 1].find(count => isCharacter(bytes.slice(at, at + count), count)) ?? 0
    const part = bytes.slice(at, at + Math.max(1, length))
    text += length === 0 ? String.fromCharCode(0xdc00 + (bytes[at] ?? 0)) : decode(part)
    at += part.length
  }
  return text
}

function isCharacter(bytes: readonly number[], count: number): boolean {
  if (bytes.length !== count) return false
  const text = decode(bytes)
  return [...text].length === 1 && text !== "\ufffd" && encoder.encode(text).length === count
}

function decode(bytes: readonly number[]): string {
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(Uint8Array.from(bytes))
}
