import * as z from "zod/mini"
import { lazily } from "../../base/lazy.ts"
import { externalCallsFor } from "../external-calls.ts"
import { PipelineSettings } from "../pipeline-settings.ts"
import { ProcessIdentity } from "../process-identity.ts"
import { Diagnostic, RecordedJson } from "../tool-call.ts"
import { defineEvent, described } from "./definition.ts"
import { RecordedText } from "./recorded-text.ts"
import { SkillSettings } from "./skill-events.ts"

/** The states of a session; the last three are final. */
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
      intent: described(z.optional(z.string()), "what the plan is for; only in the plan lane"),
      evidenceReferenced: described(
        z.optional(z.array(z.string())),
        "the evidence that the plan cites; only in the plan lane",
      ),
      policyVersion: z.string(),
      agent: z.nullable(PipelineSettings()),
      skill: described(z.optional(SkillSettings()), "only in the skills lane"),
      treeDigest: z.nullable(z.string()),
      /** `dev:ino` of the files that the process printed to, which are not part of the tree. */
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
  code: described(z.optional(z.string()), "the error code, if it did not end well"),
  unverified: described(z.boolean(), "no check that a program decides has proved the work"),
})

export const SessionRested = defineEvent(
  "session.rested",
  1,
  "The session does nothing until a question is answered or it is resumed.",
  () => z.strictObject(ending()),
)

export const SessionFinished = defineEvent(
  "session.finished",
  1,
  "The session has ended permanently; none of its processes runs any more.",
  () =>
    z.strictObject({
      ...ending(),
      answer: described(
        z.optional(z.string()),
        "the answer of the model, if the plan was to change nothing and has changed nothing",
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
  "The changes of the session were undone, except for paths that were changed since.",
  () =>
    z.strictObject({
      restored: z.array(z.string()),
      removed: z.array(z.string()),
      foreign: z.array(z.string()),
      blocked: z.array(z.strictObject({ path: z.string(), reason: z.string() })),
      by: z.string(),
      checkpointId: described(
        z.optional(z.nullable(z.string())),
        "the checkpoint of the files before the undo; null if none was needed",
      ),
      left: described(
        z.optional(RecordedJson()),
        "the state in which the paths were left: inodes, times, index",
      ),
    }),
)

export const CheckpointRestored = defineEvent(
  "checkpoint.restored",
  1,
  "A person restored a checkpoint; another one holds the files from before.",
  () =>
    z.strictObject({
      checkpointId: z.string(),
      restored: z.array(z.string()),
      removed: z.array(z.string()),
      foreign: described(z.array(z.string()), "not restored, because they were changed since"),
      blocked: z.array(z.strictObject({ path: z.string(), reason: z.string() })),
      by: z.string(),
      keptId: described(z.nullable(z.string()), "the checkpoint of the files from before"),
    }),
)

export const PlanApproved = defineEvent(
  "plan.approved",
  1,
  "A person approved exactly this plan, until a given time.",
  () =>
    z.strictObject({
      approvalId: z.string(),
      planId: z.string(),
      planHash: z.string(),
      approver: z.string(),
      stepCount: z.int(),
      expiresAt: z.iso.datetime(),
      isUnseen: described(z.optional(z.boolean()), "a flag approved it, and no person saw it"),
      isUnconfined: described(
        z.optional(z.boolean()),
        "the question showed that nothing confines the commands of its steps; otherwise each of them needs approval",
      ),
    }),
)

export const PlanRevoked = defineEvent(
  "plan.revoked",
  1,
  "A person ended the approval of a plan before its time; a run under it makes no further step.",
  () => z.strictObject({ approvalId: z.string(), by: z.string(), reason: z.nullable(z.string()) }),
)

export const StepStarted = defineEvent("step.started", 1, "A step of the plan begins.", () =>
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
    message: described(z.nullable(z.string()), "the reason of the failure, or of doubt about the success"),
    diagnostics: z.array(Diagnostic()),
    durationMs: Milliseconds(),
    waitMs: Milliseconds(),
  }),
)
