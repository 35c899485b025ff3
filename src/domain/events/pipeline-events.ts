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
  "A person resumes a resting session, or a new process takes over the session of a dead one.",
  () =>
    z.strictObject({
      settings: PipelineSettings(),
      /** Skips the steps that failed. */
      skipsFailed: z.boolean(),
      /** Restores what changed while an interrupted command ran, and runs the command again. */
      redoesCommand: z.optional(z.boolean()),
      by: z.string(),
      owner: ProcessIdentity(),
      externalCalls: externalCallsFor("to choose the models"),
    }),
)

export const RequestAdded = defineEvent(
  "request.added",
  1,
  "A person adds a request to a resting or finished session, which continues with it; in one commit with the resume.",
  () => z.strictObject({ text: z.string(), by: z.string() }),
)

export const SessionPaused = defineEvent("session.paused", 1, "A person paused the session.", () =>
  z.strictObject({ by: z.string(), reason: z.string() }),
)

export const SessionCancelled = defineEvent("session.cancelled", 1, "A person cancelled the session.", () =>
  z.strictObject({ by: z.string(), reason: z.string() }),
)

export const controls = ["pause", "cancel"] as const
export type Control = (typeof controls)[number]

export const ControlRequested = defineEvent(
  "control.requested",
  1,
  "A request to the process that drives a session to stop; in a separate stream, which any process may append to.",
  () =>
    z.strictObject({
      sessionId: z.string(),
      control: z.enum(controls),
      by: z.string(),
      reason: z.string(),
    }),
)

/**
 * Returns the stream of requests for a session: only the process that drives a session may append to the stream of
 * the session itself.
 */
export function controlStreamOf(sessionId: string): string {
  return sessionId.replace(/^ses_/, "ctl_")
}

export const StageEntered = defineEvent("stage.entered", 1, "A stage begins, or is repeated.", () =>
  z.strictObject({
    stage: Stage(),
    attempt: Count(),
    cycle: Count(),
    planVersion: Count(),
    feedback: z.array(z.string()),
    /** The checks that the verifier will make, in order; empty for the other stages. */
    checks: z.array(z.strictObject({ id: z.string(), kind: z.string(), taskId: z.nullable(z.string()) })),
  }),
)

export const StageProgressed = defineEvent(
  "stage.progressed",
  1,
  "Progress to report while a stage works.",
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
    tokens: described(Count(), "of this stage run only, as servers reported them"),
  }),
)

export const StageTransitioned = defineEvent(
  "stage.transitioned",
  1,
  "The session moves to another stage, or to the same one again; in one commit with the end of the previous stage.",
  () =>
    z.strictObject({
      from: Stage(),
      to: Target(),
      reason: z.string(),
      /** Feedback for the next stage. */
      feedback: z.array(z.string()),
      durationMs: Count(),
      tokensUsed: described(Count(), "of the stage that ended"),
      cycleCount: Count(),
      retryCount: Count(),
    }),
)

export const TransitionRefused = defineEvent(
  "transition.refused",
  1,
  "A move that is not allowed in this state was attempted.",
  () => z.strictObject({ from: Stage(), to: Target(), allowed: z.array(z.string()), reason: z.string() }),
)

export const CycleStarted = defineEvent("cycle.started", 1, "The session returns to an earlier stage.", () =>
  z.strictObject({
    from: Stage(),
    to: Stage(),
    count: Count(),
    limit: Count(),
    reason: z.string(),
    /** One new open step for each task that needs a fix. */
    fixes: z.array(z.strictObject({ taskId: z.string(), stepId: z.string(), description: z.string() })),
  }),
)

export const PlanProposed = defineEvent("plan.proposed", 1, "The planner proposes a plan.", () =>
  z.strictObject({
    version: Count(),
    planHash: z.string(),
    /** The text that the planner wrote. */
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
  "A model reported an unfinished step as finished.",
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
      /**
       * The tree after the check if it differs: files were changed while the check ran, most likely by the check
       * itself.
       */
      treeAfter: z.optional(z.string()),
      /** The file that was checked: as the criterion names it, and its real path. */
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
  "The session cannot continue by itself; the event holds the reason and advice for a person.",
  () =>
    z.strictObject({
      level: z.enum(escalationLevels),
      stage: Stage(),
      reason: z.string(),
      advice: z.string(),
      exitCode: z.int(),
    }),
)
