import { canonicalJson } from "../../../src/base/canonical.ts"
import { type NewEvent, newEvent } from "../../../src/domain/events/definition.ts"
import { SessionPaused } from "../../../src/domain/events/pipeline-events.ts"
import type { Action } from "../../../src/domain/pipeline/action.ts"
import { nextAction } from "../../../src/domain/pipeline/next-action.ts"
import type { PipelineState } from "../../../src/domain/pipeline/state.ts"
import { cyclesAllowed, type PipelineSettings } from "../../../src/domain/pipeline-settings.ts"
import type { Random } from "../../soak/random.ts"
import { defaultLimits } from "./default-limits.ts"
import { RecordedSession, rested, resumed, settingsOf } from "./pipeline-events.ts"
import { Performance } from "./pipeline-performance.ts"
import { PipelineWatch } from "./pipeline-watch.ts"

export interface Simulation {
  /** The number of actions that the runner performed. */
  readonly steps: number
  readonly ending: string
  /** One line for each thing that is not as it must be. */
  readonly violations: readonly string[]
}

/**
 * Simulates a session from its start until it has ended, or rests and is not resumed: the runner without a real world.
 * Models fail, calls fail, people refuse, pause and leave, the clock jumps, and the process dies between any two
 * commits.
 */
export function simulate(random: Random): Simulation {
  const session = new RecordedSession(randomSettings(random))
  const performance = new Performance(random)
  const watch = new PipelineWatch()
  /** The limit of disturbances: pauses, crashes, and resumes by a person. */
  let disturbances = random.whole(12)
  let steps = 0
  let sinceDisturbance = 0
  for (;;) {
    steps += 1
    sinceDisturbance += 1
    const { state } = session
    const action = session.next()
    watch.decided(state, action)
    if (canonicalJson(action) !== canonicalJson(nextAction(state, session.nowMs)))
      watch.found("the same state has two next actions")
    if (sinceDisturbance > actionsMax(state)) watch.found(`no rest after ${sinceDisturbance} actions`)
    if (watch.violations.length > 0) break
    if (action.kind === "rest") {
      if (state.finished !== null || disturbances === 0) break
      append(session, watch, [
        ...lateAnswer(state, random, performance),
        resumed(...randomResume(state, random)),
      ])
    } else if (disturbances > 0 && action.kind !== "settleCall" && random.whole(40) === 1) {
      append(session, watch, [newEvent(SessionPaused, { by: "ann", reason: "lunch" }), rested(22)])
    } else {
      const isWhole = perform(session, watch, performance.commits(state, action), random, disturbances > 0)
      session.nowMs += elapsed(action, random)
      if (isWhole) continue
      takeOver(session, watch)
    }
    disturbances -= 1
    sinceDisturbance = 0
  }
  if (!Bun.deepEquals(session.refold(), session.state, true)) watch.found("a fold from the start differs")
  return { steps, ending: endingOf(session.state), violations: watch.violations }
}

/** False when the process died before the last commit. */
function perform(
  session: RecordedSession,
  watch: PipelineWatch,
  commits: readonly (readonly NewEvent[])[],
  random: Random,
  mayDie: boolean,
): boolean {
  for (const commit of commits) {
    if (mayDie && random.whole(60) === 1) return false
    append(session, watch, commit)
    // Calls after a stop or a pause are not made.
    if (session.state.rest !== null || session.state.finished !== null) return true
  }
  return true
}

function append(session: RecordedSession, watch: PipelineWatch, events: readonly NewEvent[]): void {
  const before = session.events.length
  session.add(...events)
  for (const event of session.events.slice(before)) watch.happened(event, session.state)
}

/** All that a new process has is the log. */
function takeOver(session: RecordedSession, watch: PipelineWatch): void {
  if (!Bun.deepEquals(session.refold(), session.state, true)) watch.found("after a crash the fold differs")
  append(session, watch, [resumed(session.state.settings)])
}

function elapsed({ kind }: Action, random: Random): number {
  if (kind !== "askModel" && kind !== "callTools" && kind !== "runChecks") return 1
  const jump = random.whole(60)
  if (jump === 1) return 3_600_000
  return jump === 2 ? -3_600_000 : 1_000 * random.whole(10)
}

function lateAnswer(state: PipelineState, random: Random, performance: Performance): NewEvent[] {
  const question = state.stage?.question ?? state.plans.at(-1)?.question ?? null
  if (question === null || question.answer !== null || random.whole(3) === 1) return []
  return [performance.answer(question.approvalId)]
}

function randomResume({ settings }: PipelineState, random: Random): [PipelineSettings, boolean] {
  const cyclesMax = settings.limits.cyclesMax + random.whole(3)
  const turnsMax = settings.limits.turnsMax + random.whole(3)
  const tokensMax = settings.limits.tokensMax === null ? null : settings.limits.tokensMax + random.whole(300)
  return [
    { ...settings, planOnly: false, limits: { ...settings.limits, cyclesMax, turnsMax, tokensMax } },
    random.whole(3) === 1,
  ]
}

function randomSettings(random: Random): PipelineSettings {
  const limits = {
    cyclesMax: random.oneOf([3, 0, 1, 2, 10]),
    turnsMax: random.oneOf([10, 1, 2, 3]),
    stepRetriesMax: random.whole(4),
    tokensMax: random.oneOf([null, null, 100, 400]),
    // Without it as in a session from before there was this limit.
    modelRetriesMax: random.oneOf([[2], [0], [1], [5], []])[0],
    stageTimeoutMs: { ...defaultLimits.stageTimeoutMs, executor: random.oneOf([null, 60_000]) },
  }
  return settingsOf(limits, {
    planOnly: random.whole(10) === 1,
    skipVerify: random.whole(6) === 1,
    requireReviewApproval: random.whole(3) === 1,
  })
}

/** More than the limits allow between two disturbances, with room for nothing but what they allow. */
function actionsMax({ settings, steps }: PipelineState): number {
  const { limits } = settings
  const attempts = 1 + limits.stepRetriesMax + (limits.modelRetriesMax ?? limits.stepRetriesMax)
  const stageRuns = 4 * (1 + 3 * cyclesAllowed(limits)) * (1 + limits.stageRetriesMax.planner)
  /** The planner also reads, and each of its turns is asked for and called. */
  const replies = (1 + limits.stageRetriesMax.verifier + 12) * (attempts + 1)
  /** A turn is asked for, its calls are made, and up to four claims are refused. */
  const perStep = 4 + Math.max(1, limits.turnsMax) * (attempts + 6)
  const openSteps = Math.max(9, steps.length) + 3 * cyclesAllowed(limits)
  return stageRuns * (12 + replies) + (1 + cyclesAllowed(limits)) * openSteps * perStep
}

function endingOf({ finished, rest, state }: PipelineState): string {
  const end = finished ?? rest
  return `${end?.state ?? state} ${end?.exitCode ?? "?"}`
}
