import type { DiffHunk, DiffRow, LineCounts } from "./contract.ts"
import { type DiffStep, diffLines } from "./line-diff.ts"
import { countNewlines } from "./text-lines.ts"

/** What changed between two texts, with some unchanged lines around it. Equal texts have no hunks. */
export function diffTexts(before: string, after: string, context = 3): DiffHunk[] {
  const { oldLines, newLines, firstLine, steps } = comparedParts(before, after, context)
  return spansOf(steps, context).map(([from, to]) => {
    const rows = steps.slice(from, to).map(step => rowOf(step, oldLines, newLines, firstLine))
    const olds = rows.filter(row => row.oldLine !== null)
    const news = rows.filter(row => row.newLine !== null)
    return {
      oldStart: olds[0]?.oldLine ?? firstLine + countBefore(steps, from, "oldIndex"),
      oldCount: olds.length,
      newStart: news[0]?.newLine ?? firstLine + countBefore(steps, from, "newIndex"),
      newCount: news.length,
      rows,
    }
  })
}

/** How many lines go and come between two texts. */
export function countChanges(before: string, after: string): LineCounts {
  if (before === "" || after === "") return { added: countLines(after), removed: countLines(before) }
  const { steps } = comparedParts(before, after, 0)
  let [added, removed] = [0, 0]
  for (const { kind } of steps) {
    if (kind === "add") added += 1
    if (kind === "remove") removed += 1
  }
  return { added, removed }
}

function countLines(text: string): number {
  return countNewlines(text) + (text === "" || text.endsWith("\n") ? 0 : 1)
}

interface ComparedParts {
  readonly oldLines: readonly string[]
  readonly newLines: readonly string[]
  /** How many lines both texts have before these. */
  readonly firstLine: number
  readonly steps: readonly DiffStep[]
}

/** Lines are made of what differs and of the context around it: most of a large file is the same and needs none. */
function comparedParts(before: string, after: string, context: number): ComparedParts {
  const { head, tail } = commonEnds(before, after)
  const from = linesBack(before, head, context)
  const tailStart = before.length - tail
  const to = linesForth(before, tailStart, context)
  const oldLines = linesOf(before.slice(from, to))
  const newLines = linesOf(after.slice(from, after.length - (before.length - to)))
  return { oldLines, newLines, firstLine: countNewlines(before, from), steps: diffLines(oldLines, newLines) }
}

/** How many characters of whole lines two texts have in common at their beginning and at their end. */
function commonEnds(before: string, after: string): { readonly head: number; readonly tail: number } {
  const shorter = Math.min(before.length, after.length)
  let same = 0
  while (same < shorter && before.charCodeAt(same) === after.charCodeAt(same)) same += 1
  if (same === before.length && same === after.length) return { head: same, tail: 0 }
  const head = same === 0 ? 0 : before.lastIndexOf("\n", same - 1) + 1
  let tail = 0
  while (
    tail < shorter - head &&
    before.charCodeAt(before.length - 1 - tail) === after.charCodeAt(after.length - 1 - tail)
  )
    tail += 1
  const startsLine = (text: string) => text.length - tail === head || text[text.length - tail - 1] === "\n"
  if (tail === 0 || (startsLine(before) && startsLine(after))) return { head, tail }
  const newline = before.indexOf("\n", before.length - tail)
  return { head, tail: newline < 0 ? 0 : before.length - newline - 1 }
}

/** The start of the line so many lines before a place that starts one. */
function linesBack(text: string, place: number, count: number): number {
  let at = place
  for (let back = 0; back < count && at > 0; back++) at = at === 1 ? 0 : text.lastIndexOf("\n", at - 2) + 1
  return at
}

/** The end of the line so many lines behind a place. */
function linesForth(text: string, place: number, count: number): number {
  let at = place
  for (let forth = 0; forth < count && at < text.length; forth++) {
    const newline = text.indexOf("\n", at)
    at = newline < 0 ? text.length : newline + 1
  }
  return at
}

/** The change of one file as a unified diff. Null stands for a file that is not there. Empty when nothing changed. */
export function unifiedDiff(path: string, before: string | null, after: string | null, context = 3): string {
  const hunks = diffTexts(before ?? "", after ?? "", context)
  if (hunks.length === 0 && (before === null) === (after === null)) return ""
  const head = [
    `diff --git ${quotedPath(`a/${path}`)} ${quotedPath(`b/${path}`)}`,
    ...(before === null ? ["new file mode 100644"] : after === null ? ["deleted file mode 100644"] : []),
  ]
  if (hunks.length > 0)
    head.push(
      `--- ${before === null ? "/dev/null" : quotedPath(`a/${path}`)}`,
      `+++ ${after === null ? "/dev/null" : quotedPath(`b/${path}`)}`,
    )
  return `${[...head, ...hunks.flatMap(hunkLines)].join("\n")}\n`
}

/** With their newlines: a last line with one and the same line without are not equal. */
function linesOf(text: string): string[] {
  const lines = text.split("\n").map((line, index, all) => (index < all.length - 1 ? `${line}\n` : line))
  if (lines.at(-1) === "") lines.pop()
  return lines
}

/** Ranges of steps that hold the changes and their context; ranges that touch are one. */
function spansOf(steps: readonly DiffStep[], context: number): [number, number][] {
  const spans: [number, number][] = []
  for (const [index, step] of steps.entries()) {
    if (step.kind === "keep") continue
    const from = Math.max(0, index - context)
    const to = Math.min(steps.length, index + context + 1)
    const last = spans.at(-1)
    if (last !== undefined && from <= last[1]) last[1] = to
    else spans.push([from, to])
  }
  return spans
}

function rowOf(
  step: DiffStep,
  oldLines: readonly string[],
  newLines: readonly string[],
  firstLine: number,
): DiffRow {
  const line = (step.kind === "add" ? newLines[step.newIndex] : oldLines[step.oldIndex]) ?? ""
  return {
    kind: step.kind,
    text: line.endsWith("\n") ? line.slice(0, -1) : line,
    oldLine: step.kind === "add" ? null : firstLine + step.oldIndex + 1,
    newLine: step.kind === "remove" ? null : firstLine + step.newIndex + 1,
    isUnended: !line.endsWith("\n"),
  }
}

/** A hunk without lines of one side names the line before it. */
function countBefore(steps: readonly DiffStep[], from: number, side: "oldIndex" | "newIndex"): number {
  return steps.slice(0, from).filter(step => side in step).length
}

const signs = { keep: " ", remove: "-", add: "+" } as const

function hunkLines({ oldStart, oldCount, newStart, newCount, rows }: DiffHunk): string[] {
  const range = (start: number, count: number) => (count === 1 ? `${start}` : `${start},${count}`)
  return [
    `@@ -${range(oldStart, oldCount)} +${range(newStart, newCount)} @@`,
    ...rows.flatMap(row => [
      `${signs[row.kind]}${row.text}`,
      ...(row.isUnended ? ["\\ No newline at end of file"] : []),
    ]),
  ]
}

/** As git writes names that would break the line they stand in. */
function quotedPath(path: string): string {
  const escaped = Array.from(path, escapedCharacter).join("")
  return escaped === path ? path : `"${escaped}"`
}

function escapedCharacter(character: string): string {
  const code = character.charCodeAt(0)
  if (character === '"' || character === "\\") return `\\${character}`
  return code < 0x20 || code === 0x7f ? `\\${code.toString(8).padStart(3, "0")}` : character
}
