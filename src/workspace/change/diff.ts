import type { DiffHunk, DiffRow, LineCounts } from "./contract.ts"
import { type DiffStep, diffLines } from "./line-diff.ts"
import { countNewlines } from "./text-lines.ts"

/** Returns the differences between two texts, with some unchanged lines around them. Equal texts have no hunks. */
export function diffTexts(before: string, after: string, context = 3): DiffHunk[] {
  const { oldLines, newLines, firstLine, steps } = comparedLines(before, after, context)
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

/** Counts the lines that were added and removed. */
export function countChanges(before: string, after: string): LineCounts {
  if (before === "" || after === "") return { added: countLines(after), removed: countLines(before) }
  const { steps } = comparedLines(before, after, 0)
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

interface ComparedLines {
  readonly oldLines: readonly string[]
  readonly newLines: readonly string[]
  /** The number of lines before these, the same in both texts. */
  readonly firstLine: number
  readonly steps: readonly DiffStep[]
}

/**
 * Splits into lines only the differences and the context around them: most of a large file is equal and needs no lines.
 */
function comparedLines(before: string, after: string, context: number): ComparedLines {
  const { head, tail } = commonEnds(before, after)
  const from = linesBack(before, head, context)
  const tailStart = before.length - tail
  const to = linesForth(before, tailStart, context)
  const oldLines = linesOf(before.slice(from, to))
  const newLines = linesOf(after.slice(from, after.length - (before.length - to)))
  return { oldLines, newLines, firstLine: countNewlines(before, from), steps: diffLines(oldLines, newLines) }
}

/** Returns how many characters of whole lines two texts share at the beginning and at the end. */
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

/** Returns the start of the line `count` lines before a line start. */
function linesBack(text: string, index: number, count: number): number {
  let at = index
  for (let back = 0; back < count && at > 0; back++) at = at === 1 ? 0 : text.lastIndexOf("\n", at - 2) + 1
  return at
}

/** Returns the end of the line `count` lines after an index. */
function linesForth(text: string, index: number, count: number): number {
  let at = index
  for (let forth = 0; forth < count && at < text.length; forth++) {
    const newline = text.indexOf("\n", at)
    at = newline < 0 ? text.length : newline + 1
  }
  return at
}

/** Returns the change of one file as a unified diff. Null means a missing file. Empty when nothing changed. */
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

/** Splits a text into lines with their newlines: a last line with a newline differs from the same line without. */
function linesOf(text: string): string[] {
  const lines = text.split("\n").map((line, index, all) => (index < all.length - 1 ? `${line}\n` : line))
  if (lines.at(-1) === "") lines.pop()
  return lines
}

/** Returns ranges of steps that cover the changes and their context; ranges that touch are merged. */
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

/** Counts the lines before a hunk: a hunk without lines of one side names the line before it. */
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

/** Quotes names that would break the line they are in, as git does. */
function quotedPath(path: string): string {
  const escaped = Array.from(path, escapedCharacter).join("")
  return escaped === path ? path : `"${escaped}"`
}

function escapedCharacter(character: string): string {
  const code = character.charCodeAt(0)
  if (character === '"' || character === "\\") return `\\${character}`
  return code < 0x20 || code === 0x7f ? `\\${code.toString(8).padStart(3, "0")}` : character
}
