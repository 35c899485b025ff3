import type { Json } from "./canonical.ts"

/** The byte order mark, the first character of some texts. */
export const byteOrderMark = "\ufeff"

/**
 * Matches what a terminal would act on, and what is invisible or changes the order of the text a person reads. Tab
 * and line feed are layout and stay.
 */
export const unsafeForTerminal =
  /(?![\t\n])[\p{Cc}\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\u{e0000}-\u{e007f}]/gu

/** Makes foreign text safe to print: escapes, bells, title changes and bidi overrides become visible codes. */
export function printable(text: string): string {
  return text.replace(unsafeForTerminal, found => {
    const code = found.codePointAt(0) ?? 0
    const digits = code.toString(16)
    if (code <= 0xff) return `\\x${digits.padStart(2, "0")}`
    return code <= 0xffff ? `\\u${digits.padStart(4, "0")}` : `\\u{${digits}}`
  })
}

/**
 * Returns a text as one line for a listing: line breaks become " ⏎ ", and it is cut with an ellipsis at `max`
 * characters.
 */
export function oneLine(text: string, max: number): string {
  const flat = printable(text.replace(lineBreak, " ⏎ ").replaceAll("\t", " "))
  if (flat.length <= max) return flat
  const kept = flat.slice(0, Math.max(0, max - 1))
  // A lone surrogate would be printed as a replacement character.
  return `${kept.isWellFormed() ? kept : kept.slice(0, -1)}…`
}

/** Matches consecutive line breaks and the indentation of the next line. */
const lineBreak = /[ \t]*\r?\n\s*/g

/** Returns the first line of a text for a listing, with a mark if there are more. */
export function firstLine(text: string, max: number): string {
  const [first = "", ...more] = text.trim().split("\n", 2)
  return oneLine(more.length === 0 ? first : `${first} …`, max)
}

/** Returns a number and what it counts: `1 file`, `2 files`. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`
}

/** Quotes an argument for a POSIX shell, if necessary. */
export function shellQuoted(argument: string): string {
  return /^[A-Za-z0-9_@%+=:,./-]+$/.test(argument) ? argument : `'${argument.replaceAll("'", `'\\''`)}'`
}

/**
 * Matches what a terminal acts on, what a person cannot see or distinguish from a space, and combining marks that
 * would be drawn over the preceding text or pile up into other lines.
 */
const unseen =
  /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800\u{1d159}]|(?! )\p{Zs}|(?<=^"?|\p{M}{3})\p{M}/gu

/** Returns JSON in which every character is visible: what `JSON.parse` reads from it is exactly the value. */
export function exactText(value: Json): string {
  return JSON.stringify(value).replace(unseen, found =>
    Array.from({ length: found.length }, (_, index) => codeUnit(found, index)).join(""),
  )
}

/**
 * Returns JSON without control characters that a terminal acts on: `JSON.stringify` leaves the 8-bit ones unescaped.
 */
export function visibleJson(value: unknown, indentation?: number): string {
  // `undefined` has no JSON, whatever the type of stringify says.
  const text: string | undefined = JSON.stringify(value, null, indentation)
  return (text ?? "null").replace(unsafeForTerminal, found =>
    Array.from({ length: found.length }, (_, index) => codeUnit(found, index)).join(""),
  )
}

function codeUnit(text: string, index: number): string {
  return `\\u${text.charCodeAt(index).toString(16).padStart(4, "0")}`
}

/** Returns a text unchanged if it can be read in only one way, else as JSON. */
export function exactName(text: string): string {
  return /^[^\s"'\\]+$/.test(text) && !hasUnseen(text) ? text : exactText(text)
}

/** Characters shown for a tab, which looks like spaces, and for the carriage return at the end of a Windows line. */
const [tabSign, returnSign] = ["\u21e5", "\u240d"]

/**
 * Returns one line with symbols for tabs and its carriage return; as JSON if it begins like JSON or some of it is
 * invisible.
 */
export function exactLine(line: string): string {
  return line.startsWith('"') || !isSeen(line) ? exactText(line) : withSigns(line)
}

/** Returns the lines of a text, each made visible and after a bar; lines that are JSON have no bar. */
export function exactLines(text: string): readonly string[] {
  return text.split("\n").map(line => (isSeen(line) ? `| ${withSigns(line)}` : exactText(line)))
}

function withSigns(line: string): string {
  return line.replaceAll("\t", tabSign).replace(/\r$/, returnSign)
}

function isSeen(line: string): boolean {
  const isAmbiguous = line.includes(tabSign) || line.includes(returnSign) || /[ \t]$/.test(line)
  return !isAmbiguous && !hasUnseen(line.replaceAll("\t", "").replace(/\r$/, ""))
}

/**
 * Returns a command as a person would type it. If an argument has several lines, returns each argument with its
 * number.
 */
export function exactCommand(argv: readonly string[]): readonly string[] {
  if (!argv.some(argument => argument.includes("\n"))) return [argv.map(exactArgument).join(" ")]
  const width = String(argv.length).length
  return argv.flatMap((argument, index) => {
    const lines = argument.includes("\n") ? exactLines(argument) : [exactArgument(argument)]
    return lines.map((line, row) => `${(row === 0 ? String(index + 1) : "").padStart(width)} ${line}`)
  })
}

function exactArgument(argument: string): string {
  return hasUnseen(argument) ? exactText(argument) : shellQuoted(argument)
}

function hasUnseen(text: string): boolean {
  return text.search(unseen) !== -1
}

/** Returns the candidate closest to what was typed, or null if none is close enough to be what was meant. */
export function nearest(typed: string, candidates: readonly string[]): string | null {
  const limit = typed.length <= 3 ? 1 : Math.max(2, Math.floor(typed.length / 3))
  const ranked = candidates
    .map(candidate => ({ candidate, distance: editDistance(typed, candidate) }))
    .filter(entry => entry.distance <= limit)
    .sort((a, b) => a.distance - b.distance)
  return ranked[0]?.candidate ?? null
}

function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let row = 1; row <= a.length; row++) {
    const current = [row]
    for (let column = 1; column <= b.length; column++) {
      const substitution = (previous[column - 1] ?? 0) + (a[row - 1] === b[column - 1] ? 0 : 1)
      current.push(Math.min(substitution, (previous[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1))
    }
    previous = current
  }
  return previous[b.length] ?? 0
}
