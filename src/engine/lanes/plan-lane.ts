import type { Clock } from "../../base/clock.ts"
import type { Faults } from "../../base/faults.ts"
import type { Grant } from "../../domain/effect.ts"
import type { ErrorCode } from "../../domain/error-codes.ts"
import { newEvent } from "../../domain/events/definition.ts"
import { SessionFinished, StepFinished, StepStarted } from "../../domain/events/session-events.ts"
import { type ExitCode, exitCodes } from "../../domain/exit-codes.ts"
import { type ConcreteStep, type Plan, type PlanTask, stepKey } from "../../domain/plan/plan.ts"
import type { Gate, SessionLog } from "../../gate/contract.ts"
import { lastDigest } from "../../gate/session-log.ts"
import type { CodeQuestions } from "../../tools/contract.ts"
import type { Workspace } from "../../workspace/contract.ts"
import {
  callExitCodes,
  called,
  type PlanResult,
  type StepEnd,
  type StepResult,
  stepResult,
} from "./plan-result.ts"
import { unmetPrecondition } from "./precondition.ts"

export interface PlanLaneParts {
  readonly log: SessionLog
  readonly gate: Gate
  readonly workspace: Workspace
  readonly code: CodeQuestions
  readonly clock: Clock
  readonly faults: Faults
  /** Returns why the plan may no longer be run, because a person revoked its approval; null while it may. */
  readonly whyRevoked: () => string | null
}

/** An approved plan, its steps in the order in which they run. */
export interface RunnablePlan {
  readonly plan: Plan
  readonly steps: readonly PlannedStep[]
  readonly grant: Grant
}

export interface PlannedStep {
  readonly task: PlanTask
  readonly step: ConcreteStep
  readonly index: number
}

/** Callbacks about the progress of a run. Nothing they do changes the run. */
export interface PlanWatcher {
  readonly onStepStart?: (step: PlannedStep, count: number) => void
  readonly onStepComplete?: (step: PlannedStep, result: StepResult) => void
  readonly onStepFailed?: (step: PlannedStep, result: StepResult) => void
  readonly onOutput?: (stream: "stdout" | "stderr", chunk: Uint8Array) => void
}

/**
 * Runs an approved plan exactly as written: one call a step, one step after the other, no retry, and the first
 * failure is the end. The caller has recorded the start of the session; the end is recorded when this returns.
 */
export async function runPlan(
  parts: PlanLaneParts,
  runnable: RunnablePlan,
  watcher: PlanWatcher,
  signal: AbortSignal | null,
): Promise<PlanResult> {
  const beganMs = parts.clock.monotonicMs()
  const run = new PlanRun(parts, runnable, watcher, signal)
  const { exitCode, code, reason, isCancelled } = await run.steps()
  const wallMs = Math.round(parts.clock.monotonicMs() - beganMs)
  const { toolMs, waitMs } = run
  parts.log.append([
    newEvent(SessionFinished, {
      state: exitCode === 0 ? "COMPLETED" : isCancelled ? "CANCELLED" : "FAILED",
      reason,
      exitCode,
      ...(code === null ? {} : { code }),
      unverified: true,
      treeDigest: await lastDigest(parts.workspace),
      wallMs,
      toolMs,
      waitMs,
    }),
  ])
  parts.faults.reach("plan.finished")
  return {
    plan_id: runnable.plan.planId,
    plan_hash: runnable.plan.hash,
    session_id: parts.log.sessionId,
    status: exitCode === 0 ? "Completed" : "Failed",
    step_results: run.results,
    total_duration_ms: wallMs,
    wall_ms: wallMs,
    tool_ms: toolMs,
    wait_ms: waitMs,
    exit_code: exitCode,
    error_code: code,
    error_message: code === null ? null : reason,
  }
}

interface End {
  readonly exitCode: ExitCode
  readonly code: ErrorCode | null
  readonly reason: string
  readonly isCancelled: boolean
}

class PlanRun {
  readonly results: StepResult[] = []
  toolMs = 0
  waitMs = 0

  constructor(
    private readonly parts: PlanLaneParts,
    private readonly runnable: RunnablePlan,
    private readonly watcher: PlanWatcher,
    private readonly signal: AbortSignal | null,
  ) {}

  async steps(): Promise<End> {
    const { steps, plan } = this.runnable
    for (const planned of steps) {
      if (this.signal?.aborted) return interrupted
      const revoked = this.parts.whyRevoked()
      if (revoked !== null) return unauthorized(revoked)
      tell(() => this.watcher.onStepStart?.(planned, steps.length))
      const key = stepKey(plan.hash, planned.index, planned.step.id, planned.step.arguments)
      const end = await this.step(planned, key)
      this.toolMs += end.durationMs
      this.waitMs += end.waitMs
      const result = stepResult(planned.step, key, end)
      this.results.push(result)
      if (!result.success) {
        tell(() => this.watcher.onStepFailed?.(planned, result))
        return this.signal?.aborted ? interrupted : failedAt(planned, end)
      }
      tell(() => this.watcher.onStepComplete?.(planned, result))
    }
    const reason = steps.length === 1 ? "the step is done" : `all ${steps.length} steps done`
    return { exitCode: exitCodes.done.code, code: null, reason, isCancelled: false }
  }

  private async step(planned: PlannedStep, key: string): Promise<StepEnd> {
    const { task, step, index } = planned
    const { plan, grant } = this.runnable
    const where = { taskId: task.id, stepId: step.id }
    const started = newEvent(StepStarted, {
      ...where,
      index,
      title: step.title,
      tool: step.tool,
      stepKey: key,
    })
    const settled = await this.parts.gate.call({
      tool: step.tool,
      arguments: step.arguments,
      // Recorded like every other failure, and its tool is not called.
      obstacle: await unmetPrecondition(step, this.parts),
      origin: { planId: plan.planId, planHash: plan.hash, stepKey: key, modelCallId: null, ...where },
      grant: { ...grant, hosts: task.resources.hosts },
      isGrantedAsWritten: true,
      offered: null,
      isForModel: false,
      requiresConfirmation: step.requiresConfirmation,
      askedAs: null,
      signal: this.signal,
      onOutput: this.watcher.onOutput ?? null,
      before: [started],
      after: call => [finished(planned, called(step, call))],
    })
    return called(step, settled)
  }
}

function tell(watch: () => void): void {
  try {
    watch()
  } catch {
    // A watcher cannot change the run: a closed terminal must not leave a session without its end.
  }
}

function finished({ task, step, index }: PlannedStep, end: StepEnd) {
  return newEvent(StepFinished, {
    taskId: task.id,
    stepId: step.id,
    index,
    success: end.outcome === "succeeded",
    callId: end.callId,
    code: end.error?.code ?? null,
    message: end.error?.message ?? null,
    diagnostics: [...end.diagnostics],
    durationMs: end.durationMs,
    waitMs: end.waitMs,
  })
}

const interrupted: End = {
  exitCode: exitCodes.interrupted.code,
  code: "ACODE-ORCH-007",
  reason: "interrupted by the user",
  isCancelled: true,
}

function unauthorized(reason: string): End {
  return { exitCode: exitCodes.denied.code, code: "E002", reason, isCancelled: false }
}

function failedAt({ step }: PlannedStep, { error, cause }: StepEnd): End {
  const reason = `step ${step.id} failed: ${error?.message ?? "no reason was given"} (${error?.code ?? "?"})`
  return {
    exitCode: callExitCodes[cause ?? "failed"],
    code: error?.code ?? null,
    reason,
    isCancelled: cause === "stopped",
  }
}
