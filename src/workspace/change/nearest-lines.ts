import { diffLines } from "./line-diff.ts"

/** The place in a file that is most like some lines, counted from 0. */
export interface NearestPlace {
  readonly start: number
  /** From 0 to 1. */
  readonly likeness: number
}

/** Null when nothing is even half like it. */
export function nearestPlace(lines: readonly string[], wanted: readonly string[]): NearestPlace | null {
  if (wanted.length === 0 || lines.length === 0) return null
  const sample = wanted.slice(0, sampledLines)
  const likeness = likenessOf(lines, sample)
  let best: NearestPlace | null = null
  for (let start = 0; start < lines.length; start++) {
    let sum = 0
    for (let index = 0; index < sample.length; index++) sum += likeness(start + index, index)
    const found = sum / sample.length
    if (found > (best?.likeness ?? 0)) best = { start, likeness: found }
  }
  return best !== null && best.likeness >= 0.4 ? best : null
}

/**
 * A small diff with line numbers between what is in the file at a place and what was looked for: `-` stands in the
 * file, `+` was wanted.
 */
export function describeDifference(
  lines: readonly string[],
  start: number,
  wanted: readonly string[],
): string {
  const found = lines.slice(start, start + wanted.length)
  const steps = diffLines(found, wanted)
  const width = String(start + found.length).length
  const rows = steps.slice(0, shownRows).map(step => {
    if (step.kind === "add") return `${" ".repeat(width)} + ${shown(wanted[step.newIndex] ?? "", found)}`
    const number = String(start + step.oldIndex + 1).padStart(width)
    const text = found[step.oldIndex] ?? ""
    return step.kind === "keep" ? `${number}   ${text}` : `${number} - ${shown(text, wanted)}`
  })
  if (steps.length > shownRows) rows.push(`${" ".repeat(width)}   … ${steps.length - shownRows} more lines`)
  return rows.join("\n")
}

const sampledLines = 20
const shownRows = 30
const comparedLines = 5000

/** White space is what differs most often and what nobody sees: it is made visible where it is the difference. */
function shown(text: string, others: readonly string[]): string {
  const bare = withoutSpaces(text)
  if (!others.some(other => other !== text && withoutSpaces(other) === bare)) return text
  return text
    .replaceAll("\t", "→")
    .replace(/ +$/, spaces => "·".repeat(spaces.length))
    .replace(/^ +/, spaces => "·".repeat(spaces.length))
}

function withoutSpaces(text: string): string {
  return text.replace(/\s+/g, "")
}

function likenessOf(
  lines: readonly string[],
  wanted: readonly string[],
): (line: number, index: number) => number {
  const pairsWanted = wanted.map(pairsOf)
  const pairsFound = lines.length <= comparedLines ? lines.map(pairsOf) : []
  return (line, index) => {
    const [found, sought] = [lines[line], wanted[index]]
    if (found === undefined || sought === undefined) return 0
    if (found === sought) return 1
    if (withoutSpaces(found) === withoutSpaces(sought)) return 0.9
    const [a, b] = [pairsFound[line], pairsWanted[index]]
    return a === undefined || b === undefined ? 0 : sharedPairs(a, b) * 0.9
  }
}

const pairedLength = 200

function pairsOf(line: string): ReadonlySet<string> {
  const text = line.trim().slice(0, pairedLength)
  return new Set(
    Array.from({ length: Math.max(0, text.length - 1) }, (_, index) => text.slice(index, index + 2)),
  )
}

function sharedPairs(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  if (a.size + b.size === 0) return 0
  let shared = 0
  for (const pair of a) if (b.has(pair)) shared += 1
  return (2 * shared) / (a.size + b.size)
}
