import type { ErrorCode } from "../../domain/error-codes.ts"
import { ToolCallSettled } from "../../domain/events/call-events.ts"
import { dataOf, type NewEvent, newEvent } from "../../domain/events/definition.ts"
import {
  CycleStarted,
  EscalationRaised,
  SessionCancelled,
  StageEntered,
  StageFinished,
  StageProgressed,
  StageTransitioned,
  TransitionRefused,
} from "../../domain/events/pipeline-events.ts"
import { SessionFinished, SessionRested } from "../../domain/events/session-events.ts"
import { exitCodes } from "../../domain/exit-codes.ts"
import type { Action, Completion, Escalation, Move } from "../../domain/pipeline/action.ts"
import { hasChecks, isUnverified } from "../../domain/pipeline/completion.ts"
import { codeOf } from "../../domain/pipeline/escalation.ts"
import type { PipelineState, StageRun } from "../../domain/pipeline/state.ts"
import { cyclesAllowed, cyclesCeiling } from "../../domain/pipeline-settings.ts"
import { backwardEdge, isAllowed, type Stage, transitions } from "../../domain/stage.ts"
import { lastDigest } from "../../gate/session-log.ts"
import type { AgentParts } from "../agent-parts.ts"
import { checksFor } from "../checks/project.ts"

export function enterStage(parts: AgentParts, action: Extract<Action, { kind: "enterStage" }>): void {
  const { state } = parts.session
  const { stage, attempt, feedback } = action
  const isChecked = stage === "verifier" && !state.settings.skipVerify
  parts.session.append([
    newEvent(StageEntered, {
      stage,
      attempt,
      cycle: Object.values(state.cycles).reduce((sum, count) => sum + count, 0),
      planVersion: state.plans.at(-1)?.version ?? 0,
      feedback: [...feedback],
      checks: isChecked ? [...checksFor(state, parts.project)] : [],
    }),
  ])
}

/** Ends a stage and moves to the next one in one commit: either both happened or neither. */
export function move({ session, clock }: AgentParts, action: Move): void {
  const { from, to, status, reason, feedback, fixes } = action
  if (!isAllowed(from, to)) {
    const refused = { from, to, allowed: [...transitions[from]], reason }
    session.append([newEvent(TransitionRefused, refused)])
    throw new Error(`${from} never moves to ${to}`)
  }
  const { state } = session
  const run = state.stage
  const durationMs = run === null ? 0 : Math.max(0, clock.now() - run.enteredAtMs)
  const tokens = tokensOf(state, run)
  const edge = backwardEdge(from, to)
  const count = edge === null ? 0 : state.cycles[edge] + 1
  const cycle: NewEvent[] =
    edge === null || to === "complete"
      ? []
      : [
          newEvent(CycleStarted, {
            from,
            to,
            count,
            reason,
            limit: cyclesAllowed(state.settings.limits),
            fixes: [...fixes],
          }),
        ]
  session.append([
    newEvent(StageFinished, {
      stage: from,
      attempt: run?.attempt ?? 0,
      status,
      message: reason,
      durationMs,
      tokens,
    }),
    ...cycle,
    newEvent(StageTransitioned, {
      from,
      to,
      reason,
      durationMs,
      feedback: [...feedback],
      tokensUsed: tokens,
      cycleCount: count,
      retryCount: run?.attempt ?? 0,
    }),
  ])
}

/** Returns the tokens of the stage run itself, as servers reported them. */
function tokensOf({ tokens }: PipelineState, run: StageRun | null): number {
  return run === null ? 0 : tokens - run.tokensBefore
}

/** Returns a progress event of a stage with several items; none at the end of the stage. */
export function progressed(stage: Stage, done: number, count: number, what: string): readonly NewEvent[] {
  if (done >= count) return []
  return [newEvent(StageProgressed, { stage, message: `${done}/${count} ${what}`, fraction: done / count })]
}

export function escalateNow({ session, clock }: AgentParts, action: Escalation): void {
  const { level, stage, reason, advice, exitCode, code, status } = action
  const run = session.state.stage
  const unverified = isUnverified(session.state)
  const ended =
    status === null || run === null
      ? []
      : [
          newEvent(StageFinished, {
            stage: run.stage,
            attempt: run.attempt,
            status,
            message: reason,
            durationMs: Math.max(0, clock.now() - run.enteredAtMs),
            tokens: tokensOf(session.state, run),
          }),
        ]
  session.append([
    newEvent(EscalationRaised, { level, stage, reason, advice, exitCode }),
    ...ended,
    newEvent(SessionRested, {
      state: "PAUSED",
      reason: `${reason}; ${advice}`,
      exitCode,
      unverified,
      ...withCode(code),
    }),
  ])
}

/** Completes the session if the present tree is the one that was verified. Otherwise the work is verified again. */
export async function complete(parts: AgentParts, { answer, ...end }: Completion): Promise<void> {
  const { session, workspace } = parts
  const { digest } = await workspace.tree()
  if (hasChecks(session.state) && session.state.verification?.treeDigest !== digest) {
    goBack(parts)
    return
  }
  session.append([
    newEvent(SessionFinished, {
      state: "COMPLETED",
      ...end,
      ...(answer === null ? {} : { answer }),
      treeDigest: digest,
      ...timesOf(parts),
    }),
  ])
}

function goBack({ session }: AgentParts): void {
  const { cycles, settings } = session.state
  const from: Stage = "reviewer"
  const reason = "the tree was changed after it was verified"
  const refused = newEvent(TransitionRefused, { from, to: "complete", allowed: ["executor"], reason })
  const allowed = cyclesAllowed(settings.limits)
  const count = cycles["reviewer→executor"] + 1
  if (count > allowed) {
    const advice = toVerifyAgain(allowed)
    const exit = allowed === 0 ? "verificationFailed" : "cycleLimit"
    const exitCode = exitCodes[exit].code
    session.append([
      refused,
      newEvent(EscalationRaised, { level: "CycleLimit", stage: from, reason, advice, exitCode }),
      newEvent(SessionRested, {
        state: "PAUSED",
        exitCode,
        unverified: true,
        reason: `${reason}; ${advice}`,
        ...withCode(codeOf("StageFailed", exit)),
      }),
    ])
    return
  }
  session.append([
    refused,
    newEvent(CycleStarted, { from, to: "executor", count, limit: allowed, reason, fixes: [] }),
    newEvent(StageTransitioned, {
      from,
      to: "executor" as const,
      reason,
      durationMs: 0,
      feedback: [reason],
      tokensUsed: 0,
      cycleCount: count,
      retryCount: 0,
    }),
  ])
}

function toVerifyAgain(allowed: number): string {
  const putBack = "restore what was changed, then `acode resume`"
  if (allowed >= cyclesCeiling) return putBack
  return `verify it again: \`acode resume --max-cycles ${allowed + 1}\`; or ${putBack}`
}

function withCode(code: ErrorCode | null): { readonly code?: ErrorCode } {
  return code === null ? {} : { code }
}

/** Cancels a session, by a person at a question or from another terminal. */
export async function cancelSession(parts: AgentParts, by: string, reason: string): Promise<void> {
  const treeDigest = await lastDigest(parts.workspace)
  parts.session.append([
    newEvent(SessionCancelled, { by, reason }),
    newEvent(SessionFinished, {
      state: "CANCELLED",
      reason: `cancelled by ${by}: ${reason}`,
      exitCode: exitCodes.cancelled.code,
      code: "ACODE-ORCH-007",
      unverified: isUnverified(parts.session.state),
      treeDigest,
      ...timesOf(parts),
    }),
  ])
}

/** Returns the total time, the time in tools and the time waiting for people. */
function timesOf({ session: { events }, clock }: AgentParts) {
  let [began, toolMs, waitMs] = [clock.now(), 0, 0]
  for (const event of events) {
    if (event.seq === 1) began = Date.parse(event.at)
    const settled = dataOf(ToolCallSettled, event)
    toolMs += settled?.durationMs ?? 0
    waitMs += settled?.waitMs ?? 0
  }
  return { wallMs: Math.max(0, clock.now() - began), toolMs, waitMs }
}
