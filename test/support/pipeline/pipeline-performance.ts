import type { Json } from "../../../src/base/canonical.ts"
import { type NewEvent, newEvent } from "../../../src/domain/events/definition.ts"
import { SessionCancelled, StepRefused } from "../../../src/domain/events/pipeline-events.ts"
import { SessionFinished } from "../../../src/domain/events/session-events.ts"
import type { Action, Completion, Move } from "../../../src/domain/pipeline/action.ts"
import { finishTool } from "../../../src/domain/pipeline/claim.ts"
import type { PipelineState, PlannedCheck, StepState } from "../../../src/domain/pipeline/state.ts"
import { backwardEdge } from "../../../src/domain/stage.ts"
import type { Random } from "../../soak/random.ts"
import {
  answered,
  approved,
  asked,
  callAsked,
  callBegan,
  callSettled,
  checked,
  cycle,
  ended,
  entered,
  escalated,
  moved,
  proposed,
  replied,
  rested,
  stepEnded,
  stepStarted,
  wanted,
} from "./pipeline-events.ts"
import { randomPlan } from "./pipeline-plans.ts"

/** Appends what the runner appends for an action, commit by commit, in a world of random choices. */
export class Performance {
  private ids = 0
  private tree = 0
  /** The probability that nothing fails: with constant failures no session gets far enough to repeat stages. */
  private readonly calm: number

  constructor(private readonly random: Random) {
    this.calm = random.oneOf([10, 3, 1])
  }

  commits(state: PipelineState, action: Action): readonly (readonly NewEvent[])[] {
    switch (action.kind) {
      case "rest":
        return []
      case "settleCall":
        return [[this.settledAfterCrash(action.call.callId, action.call.effectClass === "once")]]
      case "enterStage":
        return [
          [
            entered(action.stage, {
              ...action,
              feedback: [...action.feedback],
              checks: this.checks(state, action),
            }),
          ],
        ]
      case "askModel":
        return [[this.reply(state, action)]]
      case "explore":
        return action.calls.flatMap(({ id }) => this.read(id))
      case "proposePlan":
        return [[proposed(action.turn.output, action.version)]]
      case "askAboutPlan":
        return this.question("plan", action.plan.plan.hash)
      case "askAboutReview":
        return this.question("review", "")
      case "awaitAnswer":
        return [[this.answer(action.approvalId)]]
      case "startStep":
        return [[stepStarted(action.step)]]
      case "callTools":
        return action.calls.flatMap(({ id }) => this.call(id))
      case "callStep":
        return this.concrete(action.step)
      case "refuseStep":
        return [[refused(action)]]
      case "finishStep":
        return [[stepEnded(action.step, action.failure === null)]]
      case "runChecks":
        return action.checks.flatMap(check => this.check(check))
      case "judge":
        return [action.checks.map(check => this.checked(check))]
      case "move":
        return [move(state, action)]
      case "escalate":
        return [escalated(action, state)]
      case "complete":
        return [this.complete(state, action.end)]
      case "cancel":
        return [[newEvent(SessionCancelled, { by: action.answer.by, reason: "stopped" })]]
    }
  }

  answer(approvalId: string): NewEvent {
    const answer = this.fails(3) ? this.random.oneOf(["refused", "skipped", "stopped"] as const) : "granted"
    return answered(answer, approvalId)
  }

  private fails(odds: number): boolean {
    return this.rarely(odds * this.calm)
  }

  private rarely(odds: number): boolean {
    return this.random.whole(odds) === 1
  }

  private nextId(prefix: string): string {
    this.ids += 1
    return `${prefix}_${this.ids}`
  }

  private checks({ plans, settings }: PipelineState, { stage }: { readonly stage: string }) {
    if (stage !== "verifier" || settings.skipVerify) return []
    return (plans.at(-1)?.plan.tasks ?? []).flatMap(task =>
      task.acceptance.map(({ id, kind }) => ({ id, kind, taskId: task.id })),
    )
  }

  private reply(
    { replyCount }: PipelineState,
    { stage, step, turn }: Extract<Action, { kind: "askModel" }>,
  ): NewEvent {
    const told = { stage, stepId: step?.step.id ?? null, turn, replyIndex: replyCount }
    if (this.fails(4)) {
      const kind = this.rarely(3) ? "contextTooLong" : "overloaded"
      const failure = { kind, message: "busy", retryable: !this.rarely(4), retryAfterMs: null }
      return replied({ ...told, replyIndex: null, failure })
    }
    if (stage === "executor")
      return replied({ ...told, calls: this.wishes(), text: { kind: "inline", text: this.nextId("said") } })
    if (stage === "planner" && this.rarely(3))
      return replied({ ...told, calls: [wanted(this.nextId("model"), "read_file", this.random.whole(3))] })
    if (this.fails(3)) return replied({ ...told, problems: this.rarely(2) ? ["no JSON"] : [] })
    return replied({ ...told, answer: this.output(stage) })
  }

  private output(stage: string): Json {
    if (stage === "planner" && this.rarely(9)) return { answer: "so it is" }
    if (stage === "planner") return randomPlan(this.random)
    if (stage === "verifier") return { criteria: [] }
    const decision = this.random.oneOf(["approve", "approve", "fix", "replan", "nonsense"])
    return { decision, summary: "so it is" }
  }

  /** Ids that some models give twice, and a claim among other calls. */
  private wishes() {
    const count = this.random.whole(4)
    const calls = Array.from({ length: count }, () =>
      wanted(this.rarely(5) ? "call_twice" : this.nextId("model"), "write_file", this.random.whole(3)),
    )
    if (this.random.whole(3) === 1) return calls
    const status = this.fails(2) ? this.random.oneOf(["failed", "nearly"]) : "done"
    return [...calls, wanted(this.nextId("model"), finishTool, { summary: "so", status })]
  }

  private call(modelCallId: string | null): NewEvent[][] {
    const callId = this.nextId("call")
    const effectClass = this.random.oneOf(["read", "replace", "run", "once"] as const)
    return [[callAsked(callId, modelCallId)], [callBegan(callId, effectClass)], [this.settled(callId)]]
  }

  private read(modelCallId: string): NewEvent[][] {
    const callId = this.nextId("call")
    const outcome = this.fails(2) ? this.random.oneOf(["failed", "refused"] as const) : "succeeded"
    const settled = callSettled(callId, { outcome, changed: [], executionId: null, resultDigest: callId })
    return [[callAsked(callId, modelCallId)], [callBegan(callId, "read")], [settled]]
  }

  private settled(callId: string): NewEvent {
    const outcome = this.fails(2) ? this.random.oneOf(["failed", "refused", "denied"] as const) : "succeeded"
    const isDone = outcome === "succeeded" || outcome === "failed"
    const changed = isDone && this.random.whole(3) !== 1 ? [`file${this.random.whole(3)}`] : []
    if (changed.length > 0) this.tree += 1
    const executionId = isDone && this.rarely(2) ? callId : null
    return callSettled(callId, {
      outcome,
      changed,
      executionId,
      certainty: isDone ? "done" : "notDone",
      error:
        outcome === "succeeded" ? null : { code: "ACODE-EXEC-005", message: "no", where: null, hint: null },
      resultDigest: this.random.oneOf(["same", "other"]),
      waitMs: this.random.whole(2) * 100,
    })
  }

  private settledAfterCrash(callId: string, isOnce: boolean): NewEvent {
    const certainty = isOnce ? "unknown" : this.random.oneOf(["notDone", "done", "partly"] as const)
    const changed = certainty === "notDone" ? [] : ["file0"]
    if (changed.length > 0) this.tree += 1
    return callSettled(callId, { outcome: "interrupted", certainty, changed })
  }

  /** The end of the call and of the step are one commit, or the process dies between them. */
  private concrete(step: StepState): NewEvent[][] {
    const [first = [], second = [], settled = []] = this.call(null)
    return this.rarely(2)
      ? [first, second, settled]
      : [first, second, [...settled, stepEnded(step, succeeded(settled))]]
  }

  private check(check: PlannedCheck): NewEvent[][] {
    const calls = this.rarely(2) ? this.call(null) : []
    return [...calls, [this.checked(check)]]
  }

  private checked({ id, kind, taskId }: PlannedCheck): NewEvent {
    const verdict = this.fails(8)
      ? "inconclusive"
      : this.random.oneOf(["passed", "passed", "failed"] as const)
    return checked(id, verdict, { kind, taskId, treeDigest: `tree${this.tree}` })
  }

  private question(kind: "plan" | "review", hash: string): NewEvent[][] {
    const approvalId = this.nextId("apr")
    const question = asked(kind, approvalId)
    if (this.rarely(3)) return [[question, rested(10, "AWAITING_APPROVAL")]]
    if (kind === "plan" && this.rarely(2))
      return [[question, answered("granted", approvalId), approved(hash)]]
    return [[question], [this.answer(approvalId)]]
  }

  /** Completes the session, unless a file was changed since, which only reading the tree shows. */
  private complete({ cycles, settings }: PipelineState, end: Completion): NewEvent[] {
    if (end.unverified || !this.rarely(4)) return [sessionEnded(end)]
    if (cycles["reviewer→executor"] >= settings.limits.cyclesMax) return [rested(21)]
    return [cycle("reviewer", "executor"), moved("reviewer", "executor", ["the tree is another one"])]
  }
}

function move({ stage }: PipelineState, { from, to, status, feedback, fixes }: Move): NewEvent[] {
  const isBack = backwardEdge(from, to) !== null && to !== "complete"
  return [
    ended(from, status, stage?.attempt ?? 0),
    ...(isBack ? [cycle(from, to, [...fixes])] : []),
    moved(from, to, feedback),
  ]
}

function refused({ step, modelCallId, reason }: Extract<Action, { kind: "refuseStep" }>): NewEvent {
  return newEvent(StepRefused, { taskId: step.task.id, stepId: step.step.id, modelCallId, reason })
}

function sessionEnded({ reason, exitCode, unverified }: Completion): NewEvent {
  return newEvent(SessionFinished, {
    state: "COMPLETED",
    reason,
    exitCode,
    unverified,
    treeDigest: null,
    wallMs: 0,
    toolMs: 0,
    waitMs: 0,
  })
}

function succeeded([settled]: readonly NewEvent[]): boolean {
  const data = settled?.data
  return typeof data === "object" && data !== null && "outcome" in data && data.outcome === "succeeded"
}
