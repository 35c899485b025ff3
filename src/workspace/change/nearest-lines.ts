import { counted } from "../../base/text.ts"
import { diffLines } from "./line-diff.ts"
import type { TextLines } from "./text-lines.ts"

/** The lines of a file that are most similar to some wanted lines, counted from 0. */
export interface NearestLines {
  readonly start: number
  /** A number from 0 to 1. */
  readonly likeness: number
}

/** Returns null when no lines are even half similar. Takes time proportional to the number of lines. */
export function nearestLines(lines: TextLines, wanted: readonly string[]): NearestLines | null {
  const sample = wanted.slice(0, sampledLines)
  const sums = likenessOf(lines, sample)
  let best: NearestLines | null = null
  for (let start = 0; start < sums.length; start++) {
    const found = (sums[start] ?? 0) / sample.length
    if (found > (best?.likeness ?? 0)) best = { start, likeness: found }
  }
  return best !== null && best.likeness >= 0.4 ? best : null
}

/**
 * Returns a small diff with line numbers between the lines of the file and the wanted ones: `-` is in the file, `+` was
 * wanted.
 */
export function describeDifference(lines: TextLines, start: number, wanted: readonly string[]): string {
  const found = wanted.flatMap((_, index) => lines.at(start + index)?.content ?? [])
  const steps = diffLines(found, wanted)
  const width = String(start + found.length).length
  const rows = steps.slice(0, shownRows).map(step => {
    if (step.kind === "add") return `${" ".repeat(width)} + ${shown(wanted[step.newIndex] ?? "", found)}`
    const number = String(start + step.oldIndex + 1).padStart(width)
    const text = found[step.oldIndex] ?? ""
    return step.kind === "keep" ? `${number}   ${cut(text)}` : `${number} - ${shown(text, wanted)}`
  })
  if (steps.length > shownRows)
    rows.push(`${" ".repeat(width)}   … ${counted(steps.length - shownRows, "more line")}`)
  return rows.join("\n")
}

const sampledLines = 20
const shownRows = 30
/** Characters of a line in a message: one line can be a whole file. */
const shownLength = 300
/** The most lines of a file that are compared by similarity instead of equality. */
const comparedLines = 5000

/** Makes white space visible where it is the difference: it differs most often and is easily missed. */
function shown(text: string, others: readonly string[]): string {
  const bare = withoutSpaces(text)
  if (!others.some(other => other !== text && withoutSpaces(other) === bare)) return cut(text)
  const visible = text
    .replaceAll("\t", "→")
    .replace(/ +$/, spaces => "·".repeat(spaces.length))
    .replace(/^ +/, spaces => "·".repeat(spaces.length))
  return cut(visible)
}

function cut(text: string): string {
  return text.length <= shownLength ? text : `${text.slice(0, shownLength)}… (${text.length} characters)`
}

function withoutSpaces(text: string): string {
  return text.replace(/\s+/g, "")
}

/** Returns for each line of a file how similar the lines from there on are to the wanted ones, as a sum. */
function likenessOf(lines: TextLines, wanted: readonly string[]): Float64Array {
  const sums = new Float64Array(wanted.length === 0 ? 0 : lines.count)
  const alike = Map.groupBy(wanted.keys(), index => withoutSpaces(wanted[index] ?? ""))
  const pairs = lines.count <= comparedLines ? wanted.map(pairsOf) : []
  const add = (start: number, likeness: number) => {
    if (start >= 0) sums[start] = (sums[start] ?? 0) + likeness
  }
  for (let line = 0; line < sums.length; line++) {
    const content = lines.at(line)?.content ?? ""
    const equal = alike.get(withoutSpaces(content)) ?? []
    for (const index of equal) add(line - index, content === wanted[index] ? 1 : 0.9)
    const found = pairs.length === 0 ? null : pairsOf(content)
    for (const [index, sought] of pairs.entries())
      if (found !== null && !equal.includes(index)) add(line - index, sharedPairs(found, sought) * 0.9)
  }
  return sums
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
