import { oneLine, printable } from "../../base/text.ts"
import { type Level, levelLabels } from "../../domain/effect.ts"
import type { ApprovalSummary } from "../../store/session/contract.ts"
import { shortId } from "./format.ts"

/**
 * Returns a request as the person reads it before answering, without its preview; what it could reach comes first.
 * Control characters in foreign text are escaped.
 */
export function approvalLines(approval: ApprovalSummary): readonly string[] {
  const { id, level, category, operation, reach, files, reason, rule, stepId, expiresAt } = approval
  const rows: [string, string][] = [
    ["operation", steady(oneLine(operation, 500))],
    ["level", `${level}, ${labelOf(level)} (${category})`],
    ["why", steady(oneLine(`${reason} (${rule})`, 500))],
  ]
  if (files.length > 0) rows.push(["target", steady(oneLine(targetsText(files), 500))])
  if (stepId !== null) rows.push(["step", steady(oneLine(stepId, 100))])
  if (expiresAt !== null) rows.push(["expires", expiresAt])
  const width = Math.max(...rows.map(([name]) => name.length))
  const touches = reach === null ? "" : `  ${steady(printable(reach))}`
  return [
    `approval ${shortId(id)}${touches}`,
    ...rows.map(([name, text]) => `  ${name.padEnd(width)}  ${text}`),
  ]
}

/** Returns a whole request as rows of the screen, followed by its preview. */
export function questionRows(approval: ApprovalSummary, columns: number): readonly string[] {
  const preview = approval.preview === "" ? [] : previewRows(approval.preview, columns)
  return [...wrappedLines(approvalLines(approval), columns), ...preview]
}

/** Returns a preview with a bar at the left; rows that continue a line have another bar than rows that begin one. */
export function previewRows(preview: string, columns: number): readonly string[] {
  const lines = preview.replace(/\n$/, "").split("\n")
  return wrappedLines(lines.map(readable), columns, { first: "  │ ", next: "  ┊ " })
}

interface Gutters {
  readonly first: string
  readonly next: string
}

/**
 * Wraps lines here and not in the terminal, so that their rows can be counted and a continued line cannot pass for a
 * new one.
 */
export function wrappedLines(
  lines: readonly string[],
  columns: number,
  { first, next }: Gutters = { first: "", next: "  ┊ " },
): readonly string[] {
  return lines.flatMap(line => {
    const width = (gutter: string) => Math.max(2, columns - gutter.length)
    return wrapped(line, width(first), width(next)).map((row, index) => `${index === 0 ? first : next}${row}`)
  })
}

/** Escapes a line of foreign text for the terminal. */
function readable(line: string): string {
  return steady(printable(line.replaceAll("\t", "    ")))
}

function labelOf(level: number): string {
  // Levels are 1 to 4 in every decision; a record of another version may know more.
  return levelLabels[level as Level] ?? "unknown"
}

function targetsText(files: readonly string[]): string {
  const [first = "", ...others] = files
  return others.length === 0 ? first : `${files.length} files: ${files.join(", ")}`
}

/** Escapes combining marks from the fourth on one character: many of them would cover the lines around it. */
function steady(text: string): string {
  return text.replace(/(?<=\p{M}{3})\p{M}/gu, mark => `\\u{${(mark.codePointAt(0) ?? 0).toString(16)}}`)
}

function wrapped(text: string, firstMax: number, nextMax: number): readonly string[] {
  const rows: string[] = []
  let row = ""
  let width = 0
  for (const character of text) {
    const taken = Bun.stringWidth(character)
    if (width + taken > (rows.length === 0 ? firstMax : nextMax)) {
      rows.push(row)
      row = ""
      width = 0
    }
    row += character
    width += taken
  }
  return [...rows, row]
}
