import type { Json } from "../../base/canonical.ts"
import { type PlanFinding, type PlanPath, quoted } from "./problem.ts"

export const planBytesMax = 5 * 1024 * 1024
const depthMax = 64

export type ParsedPlan = { readonly value: Json | null; readonly findings: readonly PlanFinding[] }

/**
 * Parses JSON more strictly than the language does. Text that two parsers could read as two plans is refused: a key
 * that occurs twice, a number that is rounded, a lone surrogate. `value` is null if the text is not JSON.
 */
export function parsePlanJson(text: string): ParsedPlan {
  if (text.length > planBytesMax || new TextEncoder().encode(text).length > planBytesMax)
    return {
      value: null,
      findings: [finding([], `the plan is larger than ${planBytesMax / 1024 / 1024} MB`)],
    }
  const cursor: Cursor = { text, at: 0, path: [], findings: [] }
  try {
    const value = readValue(cursor)
    skipSpace(cursor)
    if (cursor.at < text.length) throw unexpected(cursor, "after the end of the plan")
    return { value, findings: cursor.findings }
  } catch (error) {
    if (!(error instanceof Malformed)) throw error
    return { value: null, findings: [error.finding] }
  }
}

interface Cursor {
  readonly text: string
  at: number
  readonly path: (string | number)[]
  readonly findings: PlanFinding[]
}

/** Thrown where the text stops being JSON. Never leaves this file. */
class Malformed extends Error {
  constructor(readonly finding: PlanFinding) {
    super(finding.message)
  }
}

function readValue(cursor: Cursor): Json {
  skipSpace(cursor)
  switch (cursor.text[cursor.at]) {
    case "{":
      return readObject(cursor)
    case "[":
      return readArray(cursor)
    case '"':
      return readString(cursor)
    default:
      return readWord(cursor)
  }
}

function readObject(cursor: Cursor): Json {
  enter(cursor)
  const members = new Map<string, Json>()
  if (takes(cursor, "}")) return {}
  do {
    skipSpace(cursor)
    if (cursor.text[cursor.at] !== '"') throw unexpected(cursor, "where a property name is expected")
    const key = readString(cursor)
    cursor.path.push(key)
    if (members.has(key)) cursor.findings.push(finding(cursor.path, "is given twice; remove one"))
    // Assigning this key changes the prototype of an object instead of its content.
    if (key === "__proto__") cursor.findings.push(finding(cursor.path, "is not allowed as a property name"))
    if (!takes(cursor, ":")) throw unexpected(cursor, 'where ":" is expected')
    members.set(key, readValue(cursor))
    cursor.path.pop()
  } while (takes(cursor, ","))
  if (!takes(cursor, "}")) throw unexpected(cursor, 'where "," or "}" is expected')
  return Object.fromEntries(members)
}

function readArray(cursor: Cursor): Json {
  enter(cursor)
  const items: Json[] = []
  if (takes(cursor, "]")) return items
  do {
    cursor.path.push(items.length)
    items.push(readValue(cursor))
    cursor.path.pop()
  } while (takes(cursor, ","))
  if (!takes(cursor, "]")) throw unexpected(cursor, 'where "," or "]" is expected')
  return items
}

function readString(cursor: Cursor): string {
  const { text } = cursor
  const start = cursor.at
  let hasEscape = false
  let end = start + 1
  for (; text[end] !== '"'; end++) {
    if (text[end] === "\\") {
      hasEscape = true
      end++
    } else if (end >= text.length || text.charCodeAt(end) < 0x20) {
      cursor.at = Math.min(end, text.length)
      throw unexpected(cursor, "inside a string")
    }
  }
  cursor.at = end + 1
  const value = hasEscape ? unescaped(cursor, start) : text.slice(start + 1, end)
  if (!value.isWellFormed()) cursor.findings.push(finding(cursor.path, "contains a lone surrogate"))
  return value
}

function unescaped(cursor: Cursor, start: number): string {
  try {
    return String(JSON.parse(cursor.text.slice(start, cursor.at)))
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    cursor.at = start
    throw malformed(cursor, "a string with an invalid escape")
  }
}

const numbers = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const constants = new Map<string, Json>([
  ["true", true],
  ["false", false],
  ["null", null],
])

function readWord(cursor: Cursor): Json {
  for (const [word, value] of constants)
    if (cursor.text.startsWith(word, cursor.at)) {
      cursor.at += word.length
      return value
    }
  numbers.lastIndex = cursor.at
  const digits = numbers.exec(cursor.text)?.[0]
  if (digits === undefined) throw unexpected(cursor, "where a value is expected")
  cursor.at += digits.length
  const value = Number(digits)
  const isExact = Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value))
  if (!isExact) cursor.findings.push(finding(cursor.path, "is a number too large to be stored exactly"))
  return value
}

function enter(cursor: Cursor): void {
  if (cursor.path.length >= depthMax)
    throw malformed(cursor, `it is nested more than ${depthMax} levels deep`)
  cursor.at += 1
}

/** Skips blanks; returns whether this character comes next, and skips it if it does. */
function takes(cursor: Cursor, sign: string): boolean {
  skipSpace(cursor)
  if (cursor.text[cursor.at] !== sign) return false
  cursor.at += 1
  return true
}

function skipSpace(cursor: Cursor): void {
  while (" \t\n\r".includes(cursor.text[cursor.at] ?? "x")) cursor.at += 1
}

function unexpected(cursor: Cursor, place: string): Malformed {
  const sign = cursor.text.codePointAt(cursor.at)
  const what =
    sign === undefined
      ? "the end of the text"
      : sign === 0x0a
        ? "a line break"
        : quoted(String.fromCodePoint(sign))
  return malformed(cursor, `${what} ${place}`)
}

function malformed({ text, at }: Cursor, what: string): Malformed {
  const before = text.slice(0, at)
  const line = before.split("\n").length
  const column = at - before.lastIndexOf("\n")
  return new Malformed(finding([], `the text is not valid JSON: ${what} (line ${line}, column ${column})`))
}

function finding(path: PlanPath, message: string): PlanFinding {
  return { code: "E001", path: [...path], message }
}
