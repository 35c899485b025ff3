import type { Json } from "../../base/canonical.ts"
import type { StepFailure } from "./action.ts"
import type { StepState, Turn } from "./state.ts"

/** The name of the call by which a model says that a step is finished. It touches nothing and is no tool. */
export const finishTool = "finish_step"

export interface Claim {
  readonly modelCallId: string
  /** Why it is not so; null when it is believed. */
  readonly problem: string | null
  /** Set when the model says that it could not do the step. */
  readonly failure: StepFailure | null
}

/** What the model says about the step in its last turn, checked against what was really done; null when nothing. */
export function claimOf(active: StepState, turns: readonly Turn[]): Claim | null {
  const last = turns.at(-1)
  const call = last?.calls.find(({ tool, result }) => tool === finishTool && result === null)
  if (last === undefined || call === undefined) return null
  const status = textIn(call.arguments, "status") ?? "done"
  if (status === "done")
    return { modelCallId: call.id, problem: unusable(last.problems) ?? missing(active), failure: null }
  if (status !== "failed")
    return { modelCallId: call.id, problem: `status is "done" or "failed", not "${status}"`, failure: null }
  const message = textIn(call.arguments, "summary") ?? "the model gave the step up"
  return { modelCallId: call.id, problem: null, failure: { code: "ACODE-EXEC-001", message } }
}

/** What the same answer asked for besides was not done. */
function unusable(problems: readonly string[]): string | null {
  if (problems.length === 0) return null
  return `the step is not done, because not all of that answer could be used: ${problems.join("; ")}. Call ${finishTool} alone.`
}

/** A claim is never evidence: a step that was to change something has changed something. */
function missing({ step, changedPaths, commandCount, callCount }: StepState): string | null {
  if (step.kind === "concrete") return null
  const needs = requirements[step.action] ?? null
  const has = { change: changedPaths.length, command: commandCount, call: callCount }
  if (needs === null || has[needs] > 0) return null
  return `${step.action} is not done: ${sentences[needs]}. Do it, or call ${finishTool} with status "failed".`
}

const requirements: Readonly<Record<string, "change" | "command" | "call">> = {
  WRITE_FILE: "change",
  MODIFY_FILE: "change",
  CREATE_FILE: "change",
  DELETE_FILE: "change",
  GENERATE_CODE: "change",
  FIX: "change",
  // A directory without files is no part of the tree, so making one changes nothing that could be seen.
  CREATE_DIRECTORY: "call",
  RUN_COMMAND: "command",
  READ_FILE: "call",
  ANALYZE_CODE: "call",
}

const sentences = {
  change: "no file was changed in this step",
  command: "no command was run in this step",
  call: "no call was made in this step",
} as const

function textIn(value: Json, key: string): string | null {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return null
  const found = Object.entries(value).find(([name]) => name === key)?.[1]
  return typeof found === "string" ? found : null
}
