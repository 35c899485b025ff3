import type { Json } from "../../base/canonical.ts"
import { type ExitCode, exitCodes } from "../../domain/exit-codes.ts"
import { planCodeOf } from "../../domain/plan/codes.ts"
import type { ConcreteStep } from "../../domain/plan/plan.ts"
import type { Diagnostic } from "../../domain/tool-call.ts"
import type { CallCause, SettledCall } from "../../gate/contract.ts"
import type { DiffStat } from "../diffstat.ts"

/** The result of a plan run, as JSON: the names are those of the plan format. */
export interface PlanResult {
  readonly plan_id: string
  readonly plan_hash: string
  readonly session_id: string
  readonly status: "Completed" | "Failed"
  readonly step_results: readonly StepResult[]
  readonly total_duration_ms: number
  readonly wall_ms: number
  readonly tool_ms: number
  readonly wait_ms: number
  readonly exit_code: number
  /** Returns why not all steps succeeded; null if they did. */
  readonly error_code: string | null
  readonly error_message: string | null
}

/** The result with the changes of the run, which are counted when it has ended. */
export interface PlanReport extends PlanResult {
  readonly changes: DiffStat
}

export interface StepResult {
  readonly step_id: string
  readonly tool_name: string
  readonly success: boolean
  /** Names the evidence of this step permanently, also if its precondition failed and no tool was called. */
  readonly execution_id: string
  readonly step_key: string
  readonly result_digest: string | null
  readonly result: Json
  readonly stdout: string | null
  readonly stderr: string | null
  readonly error_code: string | null
  readonly error_message: string | null
  readonly duration_ms: number
  readonly diagnostic_artifacts: readonly Diagnostic[]
}

/** The end of a step: the result of its call, which may not have been made. */
export type StepEnd = Pick<
  SettledCall,
  | "callId"
  | "outcome"
  | "error"
  | "value"
  | "resultDigest"
  | "diagnostics"
  | "durationMs"
  | "waitMs"
  | "cause"
>

export function stepResult(step: ConcreteStep, stepKey: string, end: StepEnd): StepResult {
  return {
    step_id: step.id,
    tool_name: step.tool,
    success: end.outcome === "succeeded",
    execution_id: end.callId,
    step_key: stepKey,
    result_digest: end.resultDigest,
    result: end.value,
    stdout: textOf(end.value, "stdout"),
    stderr: textOf(end.value, "stderr"),
    error_code: end.error?.code ?? null,
    error_message: end.error?.message ?? null,
    duration_ms: end.durationMs,
    diagnostic_artifacts: end.diagnostics,
  }
}

/** Returns the end of a call, with the code of the plan format if there is one. */
export function called(step: ConcreteStep, settled: SettledCall): StepEnd {
  const { error } = settled
  const code = error === null ? null : planCodeOf(step, error.code)
  if (error === null || code === null) return settled
  const diagnostics = settled.diagnostics.map(each => (each.code === error.code ? { ...each, code } : each))
  return { ...settled, error: { ...error, code }, diagnostics }
}

/**
 * The exit codes of a plan run by the cause of its failure: a step that simply failed is 30; the others are more
 * specific.
 */
export const callExitCodes: Readonly<Record<CallCause, ExitCode>> = {
  failed: exitCodes.stepFailed.code,
  violation: exitCodes.violation.code,
  refused: exitCodes.denied.code,
  timeout: exitCodes.stepTimeout.code,
  stopped: exitCodes.cancelled.code,
  unknown: exitCodes.undecided.code,
  awaiting: exitCodes.needsAnswer.code,
}

function textOf(value: Json, key: string): string | null {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return null
  const text = Object.entries(value).find(([name]) => name === key)?.[1]
  return typeof text === "string" ? text : null
}
