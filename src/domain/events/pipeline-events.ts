import * as z from "zod/mini"
import { lazily } from "../../base/lazy.ts"
import { externalCallsFor } from "../external-calls.ts"
import { PipelineSettings } from "../pipeline-settings.ts"
import { ProcessIdentity } from "../process-identity.ts"
import { stages } from "../stage.ts"
import { RecordedJson } from "../tool-call.ts"
import { defineEvent, described } from "./definition.ts"

const Stage = lazily(() => z.enum(stages))
const Target = lazily(() => z.enum([...stages, "complete"]))
const Count = lazily(() => z.int().check(z.nonnegative()))

export const SessionResumed = defineEvent(
  "session.resumed",
  1,
  "A person lets a resting session go on, or a new process takes over a dead one's.",
  () =>
    z.strictObject({
      settings: PipelineSettings(),
      /** Steps that failed are passed over. */
      skipsFailed: z.boolean(),
      /** What changed while an interrupted command ran is restored, and the command runs again. */
      redoesCommand: z.optional(z.boolean()),
      by: z.string(),
      owner: ProcessIdentity(),
      externalCalls: externalCallsFor("to choose the models"),
    }),
)

export const SessionPaused = defineEvent("session.paused", 1, "A person asked to pause.", () =>
  z.strictObject({ by: z.string(), reason: z.string() }),
)

export const SessionCancelled = defineEvent("session.cancelled", 1, "A person ended it for good.", () =>
  z.strictObject({ by: z.string(), reason: z.string() }),
)

export const controls = ["pause", "cancel"] as const
export type Control = (typeof controls)[number]

export const ControlRequested = defineEvent(
  "control.requested",
  1,
  "Somebody wants the process that drives a session to stop; in a stream of its own, which anybody may append to.",
  () =>
    z.strictObject({
      sessionId: z.string(),
      control: z.enum(controls),
      by: z.string(),
      reason: z.string(),
    }),
)

/** Where that is left for a session: its own stream may be appended to only by the process that drives it. */
export function controlStreamOf(sessionId: string): string {
  return sessionId.replace(/^ses_/, "ctl_")
}

export const StageEntered = defineEvent("stage.entered", 1, "A stage begins, or begins again.", () =>
  z.strictObject({
    stage: Stage(),
    attempt: Count(),
    cycle: Count(),
    planVersion: Count(),
    feedback: z.array(z.string()),
    /** What the verifier will check, in order; empty for the others. */
    checks: z.array(z.strictObject({ id: z.string(), kind: z.string(), taskId: z.nullable(z.string()) })),
  }),
)

export const StageProgressed = defineEvent(
  "stage.progressed",
  1,
  "Something to tell while a stage works.",
  () => z.strictObject({ stage: Stage(), message: z.string(), fraction: z.nullable(z.number()) }),
)

export const stageStatuses = ["success", "failed", "retry", "cycle", "timeout"] as const
export type StageStatus = (typeof stageStatuses)[number]

export const StageFinished = defineEvent("stage.finished", 1, "A stage has ended.", () =>
  z.strictObject({
    stage: Stage(),
    attempt: Count(),
    status: z.enum(stageStatuses),
    message: z.string(),
    durationMs: Count(),
    tokens: described(Count(), "of this stage run alone, as servers reported them"),
  }),
)

export const StageTransitioned = defineEvent(
  "stage.transitioned",
  1,
  "The session moves to another stage, or the same one again; in one commit with the end of the last.",
  () =>
    z.strictObject({
      from: Stage(),
      to: Target(),
      reason: z.string(),
      /** For the stage it leads to. */
      feedback: z.array(z.string()),
      durationMs: Count(),
      tokensUsed: described(Count(), "of the stage that it leaves"),
      cycleCount: Count(),
      retryCount: Count(),
    }),
)

export const TransitionRefused = defineEvent(
  "transition.refused",
  1,
  "A move that is not allowed, or not now, was attempted.",
  () => z.strictObject({ from: Stage(), to: Target(), allowed: z.array(z.string()), reason: z.string() }),
)

export const CycleStarted = defineEvent("cycle.started", 1, "Work goes back to an earlier stage.", () =>
  z.strictObject({
    from: Stage(),
    to: Stage(),
    count: Count(),
    limit: Count(),
    reason: z.string(),
    /** One new open step for each task that has to be mended. */
    fixes: z.array(z.strictObject({ taskId: z.string(), stepId: z.string(), description: z.string() })),
  }),
)

export const PlanProposed = defineEvent("plan.proposed", 1, "The planner proposes a plan.", () =>
  z.strictObject({
    version: Count(),
    planHash: z.string(),
    /** As the planner wrote it. */
    plan: RecordedJson(),
    explanation: z.string(),
    checks: described(
      z.optional(z.array(z.array(z.string()))),
      "commands of the project itself that verify the work, besides the plan's criteria",
    ),
  }),
)

export const StepRefused = defineEvent(
  "step.refused",
  1,
  "A model said a step was finished, and it was not.",
  () =>
    z.strictObject({ taskId: z.string(), stepId: z.string(), modelCallId: z.string(), reason: z.string() }),
)

export const verdicts = ["passed", "failed", "inconclusive"] as const
export type Verdict = (typeof verdicts)[number]

export const CheckFinished = defineEvent(
  "check.finished",
  1,
  "One criterion was checked, on exactly this tree.",
  () =>
    z.strictObject({
      criterionId: z.string(),
      taskId: z.nullable(z.string()),
      kind: z.string(),
      verdict: z.enum(verdicts),
      reason: z.string(),
      argv: z.nullable(z.array(z.string())),
      exitCode: z.nullable(z.int()),
      outputHash: z.nullable(z.string()),
      executionId: z.nullable(z.string()),
      treeDigest: z.string(),
      /** Where it is another one: files were changed while the check ran, most likely by the check itself. */
      treeAfter: z.optional(z.string()),
      /** The file it looked at: as the criterion names it, and where it really is. */
      paths: z.optional(z.array(z.string())),
    }),
)

export const escalationLevels = [
  "StepRetryLimit",
  "StageRetryLimit",
  "TurnLimit",
  "CycleLimit",
  "TimeoutLimit",
  "NoProgress",
  "BudgetLimit",
  "StageFailed",
  "Unrecoverable",
] as const
export type EscalationLevel = (typeof escalationLevels)[number]

export const EscalationRaised = defineEvent(
  "escalation.raised",
  1,
  "The session cannot go on by itself; a person is told why and what to do.",
  () =>
    z.strictObject({
      level: z.enum(escalationLevels),
      stage: Stage(),
      reason: z.string(),
      advice: z.string(),
      exitCode: z.int(),
    }),
)
