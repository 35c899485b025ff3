import { oneLine, printable } from "../base/text.ts"
import { type Level, levelLabels } from "../domain/effect.ts"
import type { ApprovalSummary } from "../store/session/contract.ts"
import { shortId } from "./format.ts"

/** A request as a person reads it before they answer, without its preview. Foreign text can do nothing here. */
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
  const touches = reach === null ? "" : `  ${steady(oneLine(reach, 500))}`
  return [
    `approval ${shortId(id)}${touches}`,
    ...rows.map(([name, text]) => `  ${name.padEnd(width)}  ${text}`),
  ]
}

/** What there is to see of a preview within so many rows, and whether that is all of it. */
export interface ShownPreview {
  readonly lines: readonly string[]
  readonly isWhole: boolean
}

/**
 * The preview, wrapped here and not by the terminal: a line of any length takes rows that are counted, so that it
 * cannot push the question off the screen.
 */
export function previewLines(preview: string, columns: number, rowsMax: number): ShownPreview {
  const lines = preview.replace(/\n$/, "").split("\n")
  const shown: string[] = []
  for (const [index, line] of lines.entries()) {
    const rows = wrapped(steady(printable(line.replaceAll("\t", "    "))), columns - gutter.length)
    const room = rowsMax - shown.length
    shown.push(...rows.slice(0, room).map(row => `${gutter}${row}`))
    if (rows.length > room || (rows.length === room && index < lines.length - 1))
      return {
        lines: [
          ...shown,
          `  … ${index + (rows.length > room ? 0 : 1)} of ${lines.length} lines; v shows all`,
        ],
        isWhole: false,
      }
  }
  return { lines: shown, isWhole: true }
}

const gutter = "  │ "

function labelOf(level: number): string {
  // Levels are 1 to 4 in every decision; a record of another version may know more.
  return levelLabels[level as Level] ?? "unknown"
}

function targetsText(files: readonly string[]): string {
  const [first = "", ...others] = files
  return others.length === 0 ? first : `${files.length} files: ${files.join(", ")}`
}

/** Marks that pile up on one character reach into the lines around it: from the fourth on they are shown as codes. */
function steady(text: string): string {
  return text.replace(/(?<=\p{M}{3})\p{M}/gu, mark => `\\u{${(mark.codePointAt(0) ?? 0).toString(16)}}`)
}

function wrapped(text: string, columns: number): readonly string[] {
  const widthMax = Math.max(20, columns)
  const rows: string[] = []
  let row = ""
  let width = 0
  for (const character of text) {
    const taken = Bun.stringWidth(character)
    if (width + taken > widthMax) {
      rows.push(row)
      row = ""
      width = 0
    }
    row += character
    width += taken
  }
  return [...rows, row]
}
