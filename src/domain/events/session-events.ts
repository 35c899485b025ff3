import * as z from "zod/mini"
import { lazily } from "../../base/lazy.ts"
import { externalCallsFor } from "../external-calls.ts"
import { PipelineSettings } from "../pipeline-settings.ts"
import { ProcessIdentity } from "../process-identity.ts"
import { Diagnostic, RecordedJson } from "../tool-call.ts"
import { defineEvent, described } from "./definition.ts"
import { RecordedText } from "./recorded-text.ts"
import { SkillSettings } from "./skill-events.ts"

/** Of 3.1: the last three are final. */
export const sessionStates = [
  "CREATED",
  "PLANNING",
  "AWAITING_APPROVAL",
  "EXECUTING",
  "PAUSED",
  "COMPLETED",
  "FAILED",
  "CANCELLED",
] as const
export type SessionState = (typeof sessionStates)[number]

export const lanes = ["plan", "agent", "skill"] as const
export type Lane = (typeof lanes)[number]

const Milliseconds = lazily(() => z.int().check(z.nonnegative()))

export const SessionStarted = defineEvent(
  "session.started",
  1,
  "Work on the workspace begins; written before anything is touched.",
  () =>
    z.strictObject({
      lane: z.enum(lanes),
      goal: z.string(),
      planId: z.nullable(z.string()),
      planHash: z.nullable(z.string()),
      approvalId: z.nullable(z.string()),
      plan: z.nullable(RecordedText()),
      stepCount: z.int(),
      policyVersion: z.string(),
      agent: z.nullable(PipelineSettings()),
      skill: described(z.optional(SkillSettings()), "of the skills lane, and of no other"),
      treeDigest: z.nullable(z.string()),
      /** `dev:ino` of the files its process printed to, which are no part of the tree. */
      outputs: z.array(z.string()),
      worktreeId: z.nullable(z.string()),
      repoSha: z.nullable(z.string()),
      owner: ProcessIdentity(),
      externalCalls: externalCallsFor("to choose the models"),
    }),
)

const ending = () => ({
  state: z.enum(sessionStates),
  reason: z.string(),
  exitCode: z.int(),
  code: described(z.optional(z.string()), "of the error page, where it did not end well"),
  unverified: described(z.boolean(), "nothing that a program decided has proved that the work is right"),
})

export const SessionRested = defineEvent(
  "session.rested",
  1,
  "There is nothing to do until somebody answers or resumes.",
  () => z.strictObject(ending()),
)

export const SessionFinished = defineEvent(
  "session.finished",
  1,
  "The session has ended for good; nothing of it runs any more.",
  () =>
    z.strictObject({
      ...ending(),
      answer: described(
        z.optional(z.string()),
        "what the model answered, where the plan was to change nothing and has changed nothing",
      ),
      treeDigest: z.nullable(z.string()),
      wallMs: Milliseconds(),
      toolMs: Milliseconds(),
      waitMs: Milliseconds(),
    }),
)

export const SessionUndone = defineEvent(
  "session.undone",
  1,
  "What the session changed was put back, but for what others have changed since.",
  () =>
    z.strictObject({
      restored: z.array(z.string()),
      removed: z.array(z.string()),
      foreign: z.array(z.string()),
      blocked: z.array(z.strictObject({ path: z.string(), reason: z.string() })),
      by: z.string(),
      checkpointId: described(
        z.optional(z.nullable(z.string())),
        "where what was there before is kept, null when nothing had to be",
      ),
      left: described(z.optional(RecordedJson()), "how the paths were left: inodes, times, index"),
    }),
)

export const CheckpointRestored = defineEvent(
  "checkpoint.restored",
  1,
  "A person brought back what a checkpoint holds; what was there before is kept in another one.",
  () =>
    z.strictObject({
      checkpointId: z.string(),
      restored: z.array(z.string()),
      removed: z.array(z.string()),
      foreign: described(
        z.array(z.string()),
        "left alone, because they held something else than what was left",
      ),
      blocked: z.array(z.strictObject({ path: z.string(), reason: z.string() })),
      by: z.string(),
      keptId: described(z.nullable(z.string()), "where what was there before is kept"),
    }),
)

export const PlanApproved = defineEvent(
  "plan.approved",
  1,
  "A person approved exactly this plan, until a moment.",
  () =>
    z.strictObject({
      approvalId: z.string(),
      planId: z.string(),
      planHash: z.string(),
      approver: z.string(),
      stepCount: z.int(),
      expiresAt: z.iso.datetime(),
      isUnseen: described(z.optional(z.boolean()), "a flag approved it, and nobody saw it"),
      isUnconfined: described(
        z.optional(z.boolean()),
        "the approver was shown that nothing confines the commands of its steps; else they are asked about then",
      ),
    }),
)

export const StepStarted = defineEvent("step.started", 1, "A step of the plan is taken up.", () =>
  z.strictObject({
    taskId: z.string(),
    stepId: z.string(),
    index: z.int(),
    title: z.string(),
    tool: z.string(),
    stepKey: z.string(),
  }),
)

export const StepFinished = defineEvent("step.finished", 1, "A step of the plan has ended.", () =>
  z.strictObject({
    taskId: z.string(),
    stepId: z.string(),
    index: z.int(),
    success: z.boolean(),
    callId: z.nullable(z.string()),
    code: z.nullable(z.string()),
    message: described(z.nullable(z.string()), "why it failed, or why it is doubtful although it succeeded"),
    diagnostics: z.array(Diagnostic()),
    durationMs: Milliseconds(),
    waitMs: Milliseconds(),
  }),
)
