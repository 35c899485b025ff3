/** What is left of a text after a ceiling: nothing is cut without saying how much. */
export interface BoundedText {
  readonly text: string
  readonly omittedBytes: number
}

/** Matches what a terminal would act on or what hides the order of the text a person reads. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
const unsafeForTerminal =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g

/** Makes foreign text safe to print: escapes, bells, title changes and bidi overrides become visible codes. */
export function printable(text: string): string {
  return text.replace(unsafeForTerminal, found => {
    const code = found.charCodeAt(0)
    return code <= 0xff
      ? `\\x${code.toString(16).padStart(2, "0")}`
      : `\\u${code.toString(16).padStart(4, "0")}`
  })
}

/** One line for a listing: newlines made visible, cut with an ellipsis at `max` characters. */
export function oneLine(text: string, max: number): string {
  const flat = printable(text.replaceAll("\n", "\\n").replaceAll("\t", " "))
  return flat.length <= max ? flat : `${flat.slice(0, Math.max(0, max - 1))}…`
}

/** How a person would type this argument in a POSIX shell. */
export function shellQuoted(argument: string): string {
  return /^[A-Za-z0-9_@%+=:,./-]+$/.test(argument) ? argument : `'${argument.replaceAll("'", `'\\''`)}'`
}

/** The candidate closest to what was typed, or null when none is close enough to be what was meant. */
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
