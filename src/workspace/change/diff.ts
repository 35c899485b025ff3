import type { DiffHunk, DiffRow } from "./contract.ts"
import { type DiffStep, diffLines } from "./line-diff.ts"

/** What changed between two texts, with some unchanged lines around it. Equal texts have no hunks. */
export function diffTexts(before: string, after: string, context = 3): DiffHunk[] {
  const oldLines = linesOf(before)
  const newLines = linesOf(after)
  const steps = diffLines(oldLines, newLines)
  return spansOf(steps, context).map(([from, to]) => {
    const rows = steps.slice(from, to).map(step => rowOf(step, oldLines, newLines))
    const olds = rows.filter(row => row.oldLine !== null)
    const news = rows.filter(row => row.newLine !== null)
    return {
      oldStart: olds[0]?.oldLine ?? countBefore(steps, from, "oldIndex"),
      oldCount: olds.length,
      newStart: news[0]?.newLine ?? countBefore(steps, from, "newIndex"),
      newCount: news.length,
      rows,
    }
  })
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

function rowOf(step: DiffStep, oldLines: readonly string[], newLines: readonly string[]): DiffRow {
  const line = (step.kind === "add" ? newLines[step.newIndex] : oldLines[step.oldIndex]) ?? ""
  return {
    kind: step.kind,
    text: line.endsWith("\n") ? line.slice(0, -1) : line,
    oldLine: step.kind === "add" ? null : step.oldIndex + 1,
    newLine: step.kind === "remove" ? null : step.newIndex + 1,
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
