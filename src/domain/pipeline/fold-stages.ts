import { dataOf } from "../event-definition.ts"
import { activeState } from "./active-state.ts"
import { newStep } from "./fold-steps.ts"
import {
  CheckFinished,
  CycleStarted,
  StageEntered,
  StageFinished,
  StageTransitioned,
} from "./pipeline-events.ts"
import { checkKey } from "./progress.ts"
import type { PipelineEvent } from "./recorded-event.ts"
import { backwardEdge, type Stage } from "./stage.ts"
import type { PipelineState, StageRun, StepState } from "./state.ts"

export function applyStage(state: PipelineState, event: PipelineEvent): PipelineState {
  const entered = dataOf(StageEntered, event)
  if (entered !== null) return enter(state, entered.stage, runOf(state, event, entered))
  const finished = dataOf(StageFinished, event)
  if (finished !== null) {
    const { stage, attempt, status } = finished
    const history = [...state.history, { stage, attempt, status, seq: event.seq }]
    // A move that follows says otherwise; where none does, the stage is entered again when the session goes on.
    const moved = { to: stage, feedback: state.stage?.feedback ?? [], isRetry: true }
    return { ...state, stage: null, moved, history }
  }
  const moved = dataOf(StageTransitioned, event)
  if (moved !== null) {
    const { from, to, feedback } = moved
    return { ...state, moved: { to, feedback, isRetry: from === to } }
  }
  const cycle = dataOf(CycleStarted, event)
  if (cycle !== null) return startCycle(state, cycle.from, cycle.to, cycle.fixes)
  const check = dataOf(CheckFinished, event)
  return check === null ? state : addCheck(state, event.seq, check)
}

function runOf(
  { tokens }: PipelineState,
  event: PipelineEvent,
  entered: Pick<StageRun, "stage" | "attempt" | "feedback" | "checks">,
): StageRun {
  const { stage, attempt, feedback, checks } = entered
  return {
    ...{ stage, attempt, feedback, checks },
    enteredAtMs: Date.parse(event.at),
    enteredSeq: event.seq,
    tokensBefore: tokens,
    question: null,
  }
}

/** The executor keeps the turns of a step that is not finished; its turns are counted from here. */
function enter(before: PipelineState, stage: Stage, run: StageRun): PipelineState {
  const turns = stage === "executor" ? before.turns : []
  const state: PipelineState = { ...before, stage: run, moved: null, turns }
  const entered = { ...state, state: activeState(state) }
  if (stage !== "verifier") return entered
  // After a rest a person may have mended something, or nothing: the same failure again is no sign of standing still.
  const lastVerification = run.attempt > 0 ? null : before.verification
  return { ...entered, verification: null, lastVerification }
}

/** Finished steps stay finished; each task that has to be mended gets one step more. */
function startCycle(
  state: PipelineState,
  from: Stage,
  to: Stage,
  fixes: readonly { readonly taskId: string; readonly stepId: string; readonly description: string }[],
): PipelineState {
  const edge = backwardEdge(from, to)
  const cycles = edge === null ? state.cycles : { ...state.cycles, [edge]: state.cycles[edge] + 1 }
  const added = fixes.flatMap((fix, offset) => fixStep(state, fix, state.steps.length + offset) ?? [])
  return { ...state, cycles, turns: [], steps: [...state.steps, ...added] }
}

function fixStep(
  { steps }: PipelineState,
  fix: { readonly taskId: string; readonly stepId: string; readonly description: string },
  index: number,
): StepState | null {
  const task = steps.find(step => step.task.id === fix.taskId)?.task
  if (task === undefined) return null
  return newStep(
    task,
    {
      kind: "open",
      id: fix.stepId,
      title: "mend what was found",
      description: fix.description,
      action: "FIX",
      dependsOn: [],
    },
    index,
  )
}

function addCheck(
  state: PipelineState,
  seq: number,
  check: NonNullable<ReturnType<typeof dataOf<typeof CheckFinished>>>,
): PipelineState {
  const { criterionId, taskId, kind, verdict, reason, treeDigest, treeAfter, paths = [] } = check
  const checks = [...(state.verification?.checks ?? [])]
  const last = checks.findIndex(each => each.criterionId === criterionId && each.taskId === taskId)
  const result = {
    ...{ seq, criterionId, taskId, kind, verdict, reason, treeDigest, paths },
    hasChangedTree: treeAfter !== undefined,
    runs: (checks[last]?.runs ?? 0) + 1,
  }
  checks.splice(last === -1 ? checks.length : last, last === -1 ? 0 : 1, result)
  const failedChecks =
    verdict === "failed" ? new Set([...state.failedChecks, checkKey(check)]) : state.failedChecks
  return { ...state, failedChecks, verification: { seq, treeDigest: treeAfter ?? treeDigest, checks } }
}
