import { oneLine } from "../base/text.ts"
import type { EvidenceRow } from "../store/evidence/contract.ts"
import type { CliContext } from "./context.ts"
import { durationText, shortId } from "./format.ts"

/** Prints rows of evidence: a line each, or one array. No rows is no error. */
export function printEvidence(rows: readonly EvidenceRow[], context: CliContext): number {
  return printRows(rows, evidenceLine, context)
}

/** The same for any kind of row that has an id. */
export function printRows<Row extends { readonly id: string }>(
  rows: readonly Row[],
  lineOf: (row: Row) => string,
  { output, globals }: CliContext,
): number {
  if (globals.json) output.json(rows)
  for (const row of rows) output.line(lineOf(row))
  if (rows.length === 0) output.notice("nothing found")
  return 0
}

function evidenceLine(row: EvidenceRow): string {
  const { id, at, tool, status, durationMs, stepId, errorCode, errorMessage } = row
  const took = durationMs === null ? "" : durationText(durationMs)
  const step = stepId === null ? "" : `  step ${oneLine(stepId, 40)}`
  const error = errorCode === null ? "" : `  ${errorCode}: ${oneLine(errorMessage ?? "", 80)}`
  return (
    `${marks[status]} ${shortId(id)}  ${at.slice(0, 19)}Z  ${oneLine(tool, 30).padEnd(14)}` +
    ` ${status.padEnd(11)} ${took.padStart(8)}${step}${error}`
  )
}

const marks: Readonly<Record<EvidenceRow["status"], string>> = {
  started: "…",
  succeeded: "✓",
  failed: "✗",
  interrupted: "⚠",
}
