import type { Json } from "../../base/canonical.ts"
import { printable } from "../../base/text.ts"

type JsonReading =
  | { readonly value: Json; readonly end: number; readonly problem?: undefined }
  | { readonly problem: string; readonly value?: undefined }

/**
 * Reads the JSON value that begins at `start` and returns where it ends. Stricter than `JSON.parse`, whose errors have
 * no position: also refuses a name given twice and a number that would become infinite.
 */
export function readJson(text: string, start: number): JsonReading {
  const end = scanValue(text, start, 0)
  if (typeof end !== "number") return { problem: complaint(text, start, end) }
  return { value: JSON.parse(text.slice(start, end)) as Json, end }
}

/** Returns the index of the first character at or behind `at` that is not a space. */
export function skipSpace(text: string, at: number): number {
  let next = at
  while (isSpace(text.charCodeAt(next))) next += 1
  return next
}

/** More than arguments may have, and few enough not to overflow the stack. */
const depthMax = 72

interface Misprint {
  readonly at: number
  readonly expected: string
}

/** The index behind the value, or the error. */
type Scanned = number | Misprint

function scanValue(text: string, at: number, depth: number): Scanned {
  if (depth > depthMax) return { at, expected: `at most ${depthMax} levels of nesting` }
  const character = text[at]
  if (character === "{") return scanObject(text, at, depth)
  if (character === "[") return scanList(text, at, depth)
  if (character === '"') return scanText(text, at)
  const word = ["true", "false", "null"].find(each => text.startsWith(each, at))
  if (word !== undefined) return at + word.length
  return scanNumber(text, at)
}

function scanObject(text: string, start: number, depth: number): Scanned {
  const names = new Set<string>()
  let at = skipSpace(text, start + 1)
  if (text[at] === "}") return at + 1
  for (;;) {
    if (text[at] !== '"') return { at, expected: "a name in double quotes" }
    const nameEnd = scanText(text, at)
    if (typeof nameEnd !== "number") return nameEnd
    const name = JSON.parse(text.slice(at, nameEnd)) as string
    if (names.has(name)) return { at, expected: "a name that was not given before" }
    names.add(name)
    const colon = skipSpace(text, nameEnd)
    if (text[colon] !== ":") return { at: colon, expected: '":"' }
    const end = scanValue(text, skipSpace(text, colon + 1), depth + 1)
    if (typeof end !== "number") return end
    at = skipSpace(text, end)
    if (text[at] === "}") return at + 1
    if (text[at] !== ",") return { at, expected: '"," or "}"' }
    at = skipSpace(text, at + 1)
  }
}

function scanList(text: string, start: number, depth: number): Scanned {
  let at = skipSpace(text, start + 1)
  if (text[at] === "]") return at + 1
  for (;;) {
    const end = scanValue(text, at, depth + 1)
    if (typeof end !== "number") return end
    at = skipSpace(text, end)
    if (text[at] === "]") return at + 1
    if (text[at] !== ",") return { at, expected: '"," or "]"' }
    at = skipSpace(text, at + 1)
  }
}

function scanText(text: string, start: number): Scanned {
  for (let at = start + 1; at < text.length; at++) {
    const character = text[at]
    if (character === '"') return at + 1
    if (text.charCodeAt(at) < 0x20) return { at, expected: 'an escape such as "\\n" inside of text' }
    if (character !== "\\") continue
    const escaped = /["\\/bfnrt]|u[0-9a-fA-F]{4}/y
    escaped.lastIndex = at + 1
    const found = escaped.exec(text)
    if (found === null) return { at, expected: "an escape that JSON has" }
    at += found[0].length
  }
  return { at: text.length, expected: "the double quote that ends the text" }
}

function scanNumber(text: string, at: number): Scanned {
  const number = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
  number.lastIndex = at
  const found = number.exec(text)
  if (found === null) return { at, expected: "a value" }
  if (!Number.isFinite(Number(found[0]))) return { at, expected: "a smaller number" }
  return at + found[0].length
}

/**
 * Describes an error. Positions are counted from the beginning of the value: a model knows its call, and not the text
 * before it.
 */
function complaint(text: string, start: number, { at, expected }: Misprint): string {
  const before = text.slice(start, at)
  const line = before.split("\n").length
  const column = before.length - before.lastIndexOf("\n")
  const found = at >= text.length ? "the end" : printable(JSON.stringify(text.slice(at, at + 12)))
  return `line ${line}, column ${column}: expected ${expected} and found ${found}`
}

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09
}
