import type { Json } from "../../../src/base/canonical.ts"
import type { PlannedCheck, StepState } from "../../../src/domain/pipeline/state.ts"
import type { PipelineSettings } from "../../../src/domain/pipeline-settings.ts"
import { planHash } from "../../../src/domain/plan/plan.ts"
import {
  approved,
  callAsked,
  callSettled,
  checked,
  ended,
  entered,
  moved,
  proposed,
  RecordedSession,
  replied,
  settingsOf,
  stepEnded,
  stepStarted,
} from "./pipeline-events.ts"
import { smallPlan } from "./pipeline-plans.ts"

/** A session in the planner, before the first request. */
export function atPlanner(settings: PipelineSettings = settingsOf()): RecordedSession {
  return new RecordedSession(settings).add(entered("planner"))
}

/** A session with a proposed plan, before an answer. */
export function atProposal(
  plan: Json = smallPlan(),
  settings: PipelineSettings = settingsOf(),
): RecordedSession {
  return atPlanner(settings).add(replied({ stage: "planner", answer: plan }), proposed(plan))
}

/** The plan is approved and none of its steps has begun. */
export function atExecutor(
  plan: Json = smallPlan(),
  settings: PipelineSettings = settingsOf(),
): RecordedSession {
  const session = atProposal(plan, settings).add(approved(planHash(plan)))
  return session.add(ended("planner"), moved("planner", "executor"), entered("executor"))
}

/** The first step has begun. */
export function atStep(plan: Json = smallPlan(), settings: PipelineSettings = settingsOf()): RecordedSession {
  const session = atExecutor(plan, settings)
  return session.add(stepStarted(stepAt(session, 0)))
}

/** All steps are done, each by one call that changed a file, and the verifier is entered. */
export function atVerifier(
  checks: readonly PlannedCheck[] = [{ id: "a1", kind: "command", taskId: "t1" }],
  settings: PipelineSettings = settingsOf(),
  plan: Json = smallPlan(),
): RecordedSession {
  const session = atExecutor(plan, settings)
  for (const step of session.state.steps) doStep(session, step)
  return toVerifier(session, checks)
}

export function toVerifier(session: RecordedSession, checks: readonly PlannedCheck[]): RecordedSession {
  return session.add(
    ended("executor"),
    moved("executor", "verifier"),
    entered("verifier", { checks: [...checks] }),
  )
}

/** One check passed, and the reviewer is entered. */
export function atReviewer(settings: PipelineSettings = settingsOf()): RecordedSession {
  return toReviewer(
    atVerifier([{ id: "a1", kind: "command", taskId: "t1" }], settings).add(checked("a1", "passed")),
  )
}

export function toReviewer(session: RecordedSession): RecordedSession {
  return session.add(ended("verifier"), moved("verifier", "reviewer"), entered("reviewer"))
}

/** A step begun and ended, with one call that changed a file. */
export function doStep(session: RecordedSession, step: StepState): RecordedSession {
  const callId = `call_${step.index}`
  return session.add(
    stepStarted(step),
    callAsked(callId),
    callSettled(callId, { changed: [`${step.step.id}.txt`] }),
    stepEnded(step),
  )
}

export function stepAt({ state }: RecordedSession, index: number): StepState {
  const step = state.steps[index]
  if (step === undefined) throw new Error(`there is no step ${index}`)
  return step
}
