import type { Json } from "../../base/canonical.ts"
import type { ArtifactStore } from "../contract.ts"
import { jsonOf } from "../recorded-values.ts"
import { readRow } from "../table-projection.ts"
import type { EvidenceDetails } from "./contract.ts"
import { type EvidenceReading, recordedCall, toEvidence } from "./evidence-queries.ts"
import { type CallRow, evidenceTable, pathsOf, type SettledFields } from "./evidence-rows.ts"

type EvidenceArtifact = EvidenceDetails["artifacts"][number]

/** A call, whole: its row, what it was given, and everything it gave back. */
export function showEvidence(
  { connection, log }: EvidenceReading,
  artifacts: ArtifactStore,
  id: string,
): EvidenceDetails | null {
  const row = readRow<CallRow>(connection, evidenceTable, id)
  if (row === null) return null
  const { requested, settled } = recordedCall(log, row)
  return {
    ...toEvidence(row),
    arguments: jsonOf(requested.arguments, artifacts),
    paths: settled === null ? [] : pathsOf(settled),
    artifacts: [...(settled === null ? [] : outcomeArtifacts(settled, artifacts)), ...stepContext(row)],
  }
}

function outcomeArtifacts(settled: SettledFields, artifacts: ArtifactStore): readonly EvidenceArtifact[] {
  const diagnostics =
    settled.diagnostics.length === 0 ? [] : [{ kind: "diagnostics", content: settled.diagnostics }]
  if (settled.result === null) return diagnostics
  const result = jsonOf(settled.result, artifacts)
  return [{ kind: "result", content: result }, ...outputs(result), ...diagnostics]
}

/** What a command printed stands in its result. */
function outputs(result: Json): readonly EvidenceArtifact[] {
  if (result === null || typeof result !== "object") return []
  const members = new Map(Object.entries(result))
  return ["stdout", "stderr"].flatMap(kind => {
    const content = members.get(kind)
    return typeof content === "string" ? [{ kind, content }] : []
  })
}

function stepContext(row: CallRow): readonly EvidenceArtifact[] {
  const { plan_id, plan_hash, task_id, step_id, step_key } = row
  if (plan_id === null && step_id === null) return []
  return [{ kind: "step_context", content: { plan_id, plan_hash, task_id, step_id, step_key } }]
}
