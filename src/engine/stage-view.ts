import { ToolCallRequested, ToolCallSettled } from "../domain/call-events.ts"
import { dataOf } from "../domain/event-definition.ts"
import type { Stage } from "../domain/pipeline/stage.ts"
import type { StepState } from "../domain/pipeline/state.ts"
import type { LeftOut } from "../domain/pipeline/told.ts"
import type { StoredEvent } from "../store/contract.ts"
import type { AgentParts } from "./agent-parts.ts"
import { sessionDiff } from "./stages/changes.ts"
import { readContextFiles } from "./stages/context-files.ts"
import type { AcodeFinding, BoundedText, StageView } from "./stages/contract.ts"
import { readInstructions } from "./stages/instructions.ts"
import { outlineOf } from "./stages/outline.ts"

/** Looks up what a stage needs to know of the workspace, and no more: each look costs a walk or a diff. */
export async function stageView(parts: AgentParts, stage: Stage, step: StepState | null): Promise<StageView> {
  const { session, workspace, redactor } = parts
  const isPlanning = stage === "planner"
  const isJudging = stage === "verifier" || stage === "reviewer"
  const outline = isPlanning ? outlineOf((await workspace.tree()).entries) : nothing
  const diff = isJudging ? sessionDiff(parts, session.events) : nothing
  const instructions = readInstructions(workspace, redactor)
  const files = isPlanning || stage === "executor" ? contextFiles(parts) : []
  return {
    ...{ state: session.state, step, instructions, files },
    ...{ outline: outline.text, diff: diff.text, olderResults: "someOld" },
    findings: stage === "reviewer" ? findingsOf(session.events) : [],
    leftOut: [
      ...files.map(file => leftOutOf("longFiles", redactor.redactText(file.path), file)),
      ...[leftOutOf("longOutline", null, outline), leftOutOf("longDiff", null, diff)],
      ...instructions.map(file => leftOutOf("longInstructions", file.path, file)),
    ].filter(({ tokens }) => tokens > 0),
  }
}

const nothing: BoundedText = { text: "", leftOutTokens: 0 }

function leftOutOf(part: LeftOut["part"], name: string | null, read: Partial<BoundedText>): LeftOut {
  return { part, name, tokens: read.leftOutTokens ?? 0 }
}

function contextFiles({ session, workspace, redactor }: AgentParts): StageView["files"] {
  const { contextFiles: globs } = session.state.settings
  return globs.length === 0 ? [] : readContextFiles(workspace, redactor, globs)
}

/** What acode itself saw and a reviewer must know: what was refused, and what nobody can be sure of. */
function findingsOf(events: Iterable<StoredEvent>): readonly AcodeFinding[] {
  const tools = new Map<string, string>()
  const findings: AcodeFinding[] = []
  for (const event of events) {
    const requested = dataOf(ToolCallRequested, event)
    if (requested !== null) tools.set(requested.callId, requested.tool)
    const settled = dataOf(ToolCallSettled, event)
    if (settled === null) continue
    const tool = tools.get(settled.callId) ?? "a call"
    if (settled.outcome === "refused" || settled.outcome === "denied")
      findings.push({
        severity: "minor",
        text: `${tool} was ${settled.outcome}: ${settled.error?.message ?? ""}`,
      })
    if (settled.certainty === "unknown")
      findings.push({ severity: "major", text: `${tool}: whether it took effect is not known` })
  }
  return findings
}
