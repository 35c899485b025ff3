import { canonicalJson } from "../../../src/base/canonical.ts"
import { ToolCallSettled } from "../../../src/domain/events/call-events.ts"
import { dataOf } from "../../../src/domain/events/definition.ts"
import {
  CheckFinished,
  CycleStarted,
  PlanProposed,
  StageEntered,
  StageFinished,
  StageTransitioned,
} from "../../../src/domain/events/pipeline-events.ts"
import { SessionFinished } from "../../../src/domain/events/session-events.ts"
import type { Action } from "../../../src/domain/pipeline/action.ts"
import type { PipelineEvent } from "../../../src/domain/pipeline/recorded-event.ts"
import type { PipelineState, Rest, StepState } from "../../../src/domain/pipeline/state.ts"
import { cyclesAllowed } from "../../../src/domain/pipeline-settings.ts"
import type { Stage, Target } from "../../../src/domain/stage.ts"

/** Written down once more, so that a slip in the product's own table shows. */
const edges = [
  ...["planner→executor", "planner→planner", "executor→verifier", "executor→executor"],
  ...["verifier→reviewer", "verifier→executor"],
  ...["reviewer→planner", "reviewer→executor", "reviewer→complete"],
  ...["planner→complete", "executor→complete"],
]

/** Watches a session from outside, by its events and decisions alone, and reports violations. */
export class PipelineWatch {
  readonly violations: string[] = []
  private readonly doneSteps = new Set<string>()
  private readonly cyclesTaken = new Map<string, number>()
  private readonly stagesSincePlan = new Set<Stage>()
  private stage: Target = "planner"
  /** The stage from which the session moved to its end. */
  private lastStage: Stage = "planner"
  private plannedIntent = "MUTATE"
  private lastChangeSeq = 0
  private verdicts: { readonly seq: number; readonly kind: string; readonly verdict: string }[] = []

  found(violation: string): void {
    this.violations.push(violation)
  }

  decided(state: PipelineState, action: Action): void {
    if (state.finished !== null && action.kind !== "rest") this.found(`${action.kind} after the end`)
    if (state.rest !== null && action.kind !== "rest") this.found(`${action.kind} while it rests`)
    if (action.kind === "move" && !edges.includes(`${action.from}→${action.to}`))
      this.found(`an illegal move ${action.from}→${action.to}`)
    if (action.kind === "startStep") this.starting(state, action.step)
    if (action.kind === "escalate" && (action.reason === "" || action.advice === ""))
      this.found(`an escalation without a reason or advice: ${action.level}`)
  }

  happened(event: PipelineEvent, state: PipelineState): void {
    const entered = dataOf(StageEntered, event)
    if (entered !== null && entered.stage !== this.stage)
      this.found(`entered ${entered.stage} where ${this.stage} was next`)
    if (entered?.stage === "verifier") this.verdicts = []
    const transition = dataOf(StageTransitioned, event)
    if (transition !== null) this.moved(transition.from, transition.to)
    const finished = dataOf(StageFinished, event)
    if (finished?.status === "success") this.stagesSincePlan.add(finished.stage)
    const check = dataOf(CheckFinished, event)
    if (check !== null) this.verdicts.push({ seq: event.seq, kind: check.kind, verdict: check.verdict })
    const settled = dataOf(ToolCallSettled, event)
    if (settled?.changes.kind === "inline" && settled.changes.value.length > 0) this.lastChangeSeq = event.seq
    const plan = dataOf(PlanProposed, event)
    if (plan !== null) {
      this.stagesSincePlan.clear()
      this.plannedIntent = /"intent":"(\w+)"/.exec(JSON.stringify(plan.plan))?.[1] ?? ""
    }
    const cycle = dataOf(CycleStarted, event)
    if (cycle !== null) this.cycled(`${cycle.from}→${cycle.to}`, state)
    this.remember(state)
    const end = dataOf(SessionFinished, event)
    if (end?.state === "COMPLETED") this.completed(end, state)
  }

  private moved(from: Stage, to: Target): void {
    if (!edges.includes(`${from}→${to}`)) this.found(`an illegal edge ${from}→${to}`)
    if (from !== this.stage && this.stage !== "complete")
      this.found(`a move from ${from} while at ${this.stage}`)
    this.stage = to
    this.lastStage = from
  }

  private cycled(edge: string, { settings, cycles }: PipelineState): void {
    const taken = (this.cyclesTaken.get(edge) ?? 0) + 1
    this.cyclesTaken.set(edge, taken)
    const known = Object.entries(cycles).find(([name]) => name === edge)?.[1]
    if (known !== taken) this.found(`${edge} was taken ${taken} times, counted ${known}`)
    if (taken > cyclesAllowed(settings.limits)) this.found(`${edge} was taken ${taken} times`)
  }

  private starting({ steps }: PipelineState, { task, step, status }: StepState): void {
    if (status !== "pending") this.found(`step ${step.id} is started while ${status}`)
    if (this.doneSteps.has(keyOf({ task, step }))) this.found(`step ${task.id}/${step.id} is done again`)
    const isBefore = (other: StepState) =>
      task.dependsOn.includes(other.task.id) ||
      (other.task.id === task.id && step.dependsOn.includes(other.step.id))
    const open = steps.find(other => isBefore(other) && other.status !== "done" && other.status !== "skipped")
    if (open !== undefined) this.found(`step ${step.id} runs before ${open.step.id}`)
  }

  /** A step that a later plan left out may come again with the plan after that. */
  private remember({ steps }: PipelineState): void {
    const present = new Set(steps.map(keyOf))
    for (const key of this.doneSteps) if (!present.has(key)) this.doneSteps.delete(key)
    for (const step of steps) if (step.status === "done") this.doneSteps.add(keyOf(step))
  }

  private completed({ unverified, exitCode }: Rest, { settings, steps, spentTokens }: PipelineState): void {
    if (spentTokens > (settings.limits.tokensMax ?? spentTokens)) this.found("completed beyond its budget")
    if (this.lastStage === "planner" || this.lastStage === "executor") {
      if (this.lastChangeSeq > 0) this.found("a session that changed files ended with an answer")
      if (this.lastStage === "executor" && this.plannedIntent === "MUTATE")
        this.found("a plan that changes something ended with an answer")
      if (!unverified) this.found("an answer is verified")
      if (exitCode !== 0 && exitCode !== 41) this.found(`answered with exit ${exitCode}`)
      return
    }
    const missing = ["planner", "executor", "verifier", "reviewer"].filter(
      stage => !([...this.stagesSincePlan] as string[]).includes(stage),
    )
    if (missing.length > 0) this.found(`completed without ${missing.join(", ")}`)
    const last = this.verdicts.at(-1)
    const isVerified =
      last !== undefined &&
      last.seq > this.lastChangeSeq &&
      this.verdicts.every(each => each.verdict === "passed")
    const isSkipped = steps.every(({ status }) => status === "skipped")
    const isProved = this.verdicts.some(each => each.kind !== "judgement" && each.verdict === "passed")
    if (!unverified && (isSkipped || settings.skipVerify || !isProved)) this.found("verified without a proof")
    if (exitCode === 0 && unverified && (isSkipped || !settings.skipVerify)) this.found("exits 0 unverified")
    if (exitCode !== 0 && (exitCode !== 41 || !unverified)) this.found(`completed with exit ${exitCode}`)
    if (!unverified && !isVerified) this.found("completed on a verification that does not hold")
  }
}

function keyOf({ task, step }: Pick<StepState, "task" | "step">): string {
  return `${task.id} ${canonicalJson(step)}`
}
