import type { Json } from "../../base/canonical.ts"
import { firstLine } from "../../base/text.ts"
import { withoutThinking } from "../text/thinking.ts"
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
  if (status === "done") return { modelCallId: call.id, problem: problemWith(active, turns), failure: null }
  if (status !== "failed")
    return { modelCallId: call.id, problem: `status is "done" or "failed", not "${status}"`, failure: null }
  const message = textIn(call.arguments, "summary") ?? "the model gave the step up"
  return { modelCallId: call.id, problem: null, failure: { code: "ACODE-EXEC-001", message } }
}

/** Why a step is not done that the model says is; null when it is believed. */
function problemWith(active: StepState, turns: readonly Turn[]): string | null {
  if (active.step.kind === "concrete") return null
  const problems = [unusable(turns.at(-1)?.problems ?? []), missing(active, turns), failedCommand(active)]
  return problems.filter(each => each !== null).join(" ") || null
}

/** What the same answer asked for besides was not done. */
function unusable(problems: readonly string[]): string | null {
  if (problems.length === 0) return null
  return `the step is not done, because not all of that answer could be used: ${problems.join("; ")}. Call ${finishTool} alone.`
}

/** A claim is never evidence: a step that was to change something has changed something. */
function missing(active: StepState, turns: readonly Turn[]): string | null {
  const { step, changedPaths, commandCount, callCount } = active
  if (step.kind === "concrete") return null
  const needs = requirements[step.action] ?? null
  const has = { change: changedPaths.length, command: commandCount, call: callCount }
  if (needs === null || has[needs] > 0) return null
  const hasTried = turns.some(({ calls }) => calls.some(call => call.tool !== finishTool))
  const why = needs === "call" && hasTried ? "every call of this step failed" : sentences[needs]
  return `${step.action} is not done: ${why}. Do it, or call ${finishTool} with status "failed".`
}

/**
 * A command that failed is told once. A model that says again that the step is done may be right, because some steps
 * are there to see something fail: but then only a check of its task makes the session verified.
 */
function failedCommand({ lastCommand, refusedSeq }: StepState): string | null {
  if (lastCommand?.failure == null || refusedSeq > lastCommand.seq) return null
  return (
    `The last command of this step did not succeed: ${firstLine(lastCommand.failure.message, 300)}. ` +
    `Make it succeed and run it again, or call ${finishTool} with status "failed". ` +
    `If the step was only to see it fail, call ${finishTool} again and say so.`
  )
}

/** A step that its model called done although its last command had failed. */
export function isDoubtful({ step, status, lastCommand }: StepState): boolean {
  return step.kind === "open" && status === "done" && lastCommand?.failure != null
}

/** What the model says when it is done with its calls: in its last words, and in the summary of the step. */
export function answerIn(turns: readonly Turn[]): string | null {
  const answered = turns.filter(({ failure }) => failure === null)
  const lastWork = answered.findLastIndex(({ calls }) => calls.some(({ tool }) => tool !== finishTool))
  const closing = answered.slice(Math.min(lastWork + 1, answered.length - 1))
  const last = answered.at(-1)?.calls.findLast(({ tool }) => tool === finishTool)
  const summary = last === undefined ? "" : (textIn(last.arguments, "summary") ?? "")
  const words = closing.map(({ text }) => withoutThinking(text).trim())
  const parts = [...words, summary.trim()].filter(part => part !== "")
  // What is part of another one is not said twice.
  const isRepeated = (part: string, index: number) =>
    parts.some((other, at) => at !== index && other.includes(part) && (other !== part || at < index))
  const said = parts.filter((part, index) => !isRepeated(part, index))
  return said.length === 0 ? null : said.join("\n\n")
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
