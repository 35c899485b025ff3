import type { Json } from "../../base/canonical.ts"
import { firstLine } from "../../base/text.ts"
import { withoutThinking } from "../text/thinking.ts"
import type { StepFailure } from "./action.ts"
import type { StepState, Turn } from "./state.ts"

/** The name of the call by which a model reports that a step is finished. It touches nothing and is not a tool. */
export const finishTool = "finish_step"

export interface Claim {
  readonly modelCallId: string
  /** The reason why the claim is rejected; null if it is accepted. */
  readonly problem: string | null
  /** Set if the model reports that it could not do the step. */
  readonly failure: StepFailure | null
}

/**
 * Returns what the model claims about the step in its last turn, checked against what was really done; null if it
 * claims nothing.
 */
export function claimOf(active: StepState, turns: readonly Turn[]): Claim | null {
  const last = turns.at(-1)
  const call = last?.calls.find(({ tool, result }) => tool === finishTool && result === null)
  if (last === undefined || call === undefined) return null
  const status = textIn(call.arguments, "status") ?? "done"
  if (status === "done") return { modelCallId: call.id, problem: problemWith(active, turns), failure: null }
  if (status !== "failed")
    return { modelCallId: call.id, problem: `status is "done" or "failed", not "${status}"`, failure: null }
  const message = textIn(call.arguments, "summary") ?? "the model gave up the step"
  return { modelCallId: call.id, problem: null, failure: { code: "ACODE-EXEC-001", message } }
}

/** Returns why a step that the model calls done is not done; null if the claim is accepted. */
function problemWith(active: StepState, turns: readonly Turn[]): string | null {
  if (active.step.kind === "concrete") return null
  const problems = [unusable(turns.at(-1)?.problems ?? []), missing(active, turns), failedCommand(active)]
  return problems.filter(each => each !== null).join(" ") || null
}

/** Returns a problem if parts of the same answer were invalid and so not done. */
function unusable(problems: readonly string[]): string | null {
  if (problems.length === 0) return null
  return `the step is not done, because not all of that answer could be used: ${problems.join("; ")}. Call ${finishTool} alone.`
}

/**
 * Returns what the step lacks. A claim is never evidence: a step that should change something must have changed
 * something.
 */
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
 * Reports a failed command to the model once. A model that repeats that the step is done may be right, because some
 * steps exist to see something fail. But then only a check of its task makes the session verified.
 */
function failedCommand({ lastCommand, refusedSeq }: StepState): string | null {
  if (lastCommand?.failure == null || refusedSeq > lastCommand.seq) return null
  return (
    `The last command of this step did not succeed: ${firstLine(lastCommand.failure.message, 300)}. ` +
    `Make it succeed and run it again, or call ${finishTool} with status "failed". ` +
    `If the step was only to see it fail, call ${finishTool} again and say so.`
  )
}

/** Returns whether the model called a step done although its last command had failed. */
export function isDoubtful({ step, status, lastCommand }: StepState): boolean {
  return step.kind === "open" && status === "done" && lastCommand?.failure != null
}

/** Returns the answer of the model when it is done with its calls: its last text and the summary of the step. */
export function answerIn(turns: readonly Turn[]): string | null {
  const answered = turns.filter(({ failure }) => failure === null)
  const lastWork = answered.findLastIndex(({ calls }) => calls.some(({ tool }) => tool !== finishTool))
  const closing = answered.slice(Math.min(lastWork + 1, answered.length - 1))
  const last = answered.at(-1)?.calls.findLast(({ tool }) => tool === finishTool)
  const summary = last === undefined ? "" : (textIn(last.arguments, "summary") ?? "")
  const words = closing.map(({ text }) => withoutThinking(text).trim())
  const parts = [...words, summary.trim()].filter(part => part !== "")
  // Text that another part contains is not repeated.
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
  // A directory without files is not part of the tree, so creating one changes nothing visible.
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
