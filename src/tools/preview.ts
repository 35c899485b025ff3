import { exactLine, exactName } from "../base/text.ts"
import type { DiffRow } from "../workspace/change/contract.ts"
import type { ToolRoom } from "./contract.ts"

/** One file of a change, as a person is asked about it. */
export interface PreviewedChange {
  readonly path: string
  /** Null for what is not there, or is no text. */
  readonly before: string | null
  readonly after: string | null
  /** Said above the lines: `new file`, `binary, 120 bytes, is replaced`. */
  readonly remark: string | null
}

/** A change with the numbers of its lines. For the record both texts are redacted whole, or half a key could stay. */
export function changePreview(room: ToolRoom, change: PreviewedChange, isWhole: boolean): string {
  const shown = (text: string | null) => (isWhole ? (text ?? "") : room.redactor.redactText(text ?? ""))
  const [before, after] = [shown(change.before), shown(change.after)]
  const path = exactName(change.path)
  const head = change.remark === null ? path : `${path} (${change.remark})`
  const hunks = room.changes.diffTexts(before, after)
  return [
    head,
    ...hunks.flatMap(({ oldStart, oldCount, newStart, newCount, rows }) => [
      `@@ -${oldStart},${oldCount} +${newStart},${newCount} @@`,
      ...rows.map(rowText),
    ]),
    "",
  ].join("\n")
}

const signs = { keep: " ", remove: "-", add: "+" } as const

function rowText({ kind, text, oldLine, newLine, isUnended }: DiffRow): string {
  const numbers = `${String(oldLine ?? "").padStart(5)} ${String(newLine ?? "").padStart(5)}`
  return `${numbers} ${signs[kind]}${exactLine(text)}${isUnended ? " (no newline at the end)" : ""}`
}
