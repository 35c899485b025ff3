import { unknownId } from "../app/recorded-id.ts"
import { shownPath } from "../base/path-names.ts"
import { oneLine } from "../base/text.ts"
import type { EvidenceDetails } from "../store/evidence/contract.ts"
import { certaintyText } from "./certainty-text.ts"
import type { CliContext } from "./context.ts"
import { defineCommand } from "./definition.ts"
import { durationText } from "./format.ts"

export const evidenceShow = defineCommand({
  name: "evidence show",
  summary: "one call: its arguments, its outcome and what it gave back",
  arguments: [{ name: "ID", id: "evidence", summary: "the id, its beginning or its last characters" }],
  flags: {},
  examples: [
    { line: "acode evidence show 3f2a91bc", note: "by the id that the other queries show" },
    { line: "acode evidence show 3f2a91bc --json", note: "with everything it gave back" },
  ],
  run: async ({ arguments: [typed = ""] }, context) => {
    const app = await context.service()
    const id = await app.idOf(typed, "evidence")
    const found = (await app.evidence())?.show(id) ?? null
    if (found === null) throw unknownId(id, "evidence")
    if (context.globals.json) context.output.json(found)
    print(found, context)
    return 0
  },
})

function print(found: EvidenceDetails, { output }: CliContext): void {
  const { status, certainty, durationMs, planId, taskId, stepId, errorCode, errorMessage } = found
  const rows: [string, string | null][] = [
    ["id", found.id],
    ["session", found.sessionId],
    ["tool", found.tool],
    ["status", certainty === null ? status : `${status}, its effect ${certaintyText[certainty]}`],
    ["at", found.at],
    ["took", durationMs === null ? null : durationText(durationMs)],
    ["exit code", found.exitCode === null ? null : String(found.exitCode)],
    ["error", errorCode === null ? null : `${errorCode}: ${errorMessage ?? ""}`],
    ["plan", planId],
    ["step", stepId === null ? null : `${taskId ?? "-"} ${stepId}`],
    ["digest", found.resultDigest],
    ["paths", found.paths.length === 0 ? null : found.paths.map(shownPath).join(", ")],
    ["arguments", JSON.stringify(found.arguments)],
    ...found.artifacts.map(({ kind, content }): [string, string] => [kind, JSON.stringify(content)]),
  ]
  const shown = rows.flatMap(([name, value]) => (value === null ? [] : [[name, value] as const]))
  const width = Math.max(...shown.map(([name]) => name.length))
  for (const [name, value] of shown) output.line(`${name.padEnd(width)}  ${oneLine(value, 500)}`)
}
