import * as z from "zod/mini"
import { lazily } from "../../base/lazy.ts"
import { externalCallsFor } from "../external-calls.ts"
import { modes } from "../model-choice.ts"
import { taskPriorities, taskStatuses } from "../task.ts"
import { reviewVerdicts } from "../task-review.ts"
import { defineEvent, described } from "./definition.ts"
import { RecordedText } from "./recorded-text.ts"

const Count = lazily(() => z.int().check(z.nonnegative()))
const Status = lazily(() => z.enum(taskStatuses))
const Tokens = lazily(() => z.strictObject({ input: Count(), output: Count() }))

/** Settings for the tasks of a session, kept for a process that resumes it. */
export const SkillSettings = lazily(() =>
  z.strictObject({
    mode: z.enum(modes),
    /** Null with a script or a recording. */
    server: z.nullable(
      z.strictObject({
        protocol: z.string(),
        endpoint: z.string(),
        consentBy: described(z.nullable(z.string()), "who agreed to what leaves this machine"),
        models: described(
          z.strictObject({ opus: z.string(), sonnet: z.string(), haiku: z.string() }),
          "the model of each tier",
        ),
      }),
    ),
  }),
)
export type SkillSettings = z.infer<ReturnType<typeof SkillSettings>>

export const TaskClaimed = defineEvent(
  "task.claimed",
  1,
  "A task belongs to this session; its file says in_progress.",
  () =>
    z.strictObject({
      taskId: z.string(),
      index: described(Count(), "of its step"),
      path: z.string(),
      skill: z.string(),
      fromStatus: Status(),
      sha256: described(z.string(), "of the file of the task, as it was left"),
      outputSha256: described(
        z.optional(z.nullable(z.string())),
        "of the file at the output path before the task; null where there was none",
      ),
    }),
)

export const TaskAsked = defineEvent("task.asked", 1, "A model is about to be asked for a task.", () =>
  z.strictObject({
    taskId: z.string(),
    index: Count(),
    attempt: Count(),
    replyIndex: described(Count(), "its place in a script or a recording"),
    model: z.string(),
    requestDigest: z.string(),
    maxTokens: Count(),
  }),
)

export const TaskReplied = defineEvent(
  "task.replied",
  1,
  "A model has answered, or could not; nothing has been done with it yet.",
  () =>
    z.strictObject({
      taskId: z.string(),
      index: Count(),
      attempt: Count(),
      text: RecordedText(),
      isRedacted: described(
        z.boolean(),
        "parts that look like secrets are not in this record, so an output cannot be made of it",
      ),
      stopReason: described(z.nullable(z.string()), "null when it failed"),
      failure: z.nullable(
        z.strictObject({ code: z.string(), message: z.string(), retryAfterMs: z.nullable(Count()) }),
      ),
      usage: Tokens(),
      durationMs: Count(),
      externalCalls: externalCallsFor("for this reply"),
    }),
)

export const TaskSettled = defineEvent(
  "task.settled",
  1,
  "The execution of a task has ended; its file says so.",
  () =>
    z.strictObject({
      taskId: z.string(),
      index: Count(),
      status: Status(),
      outputPath: z.nullable(z.string()),
      error: z.nullable(z.strictObject({ code: z.string(), message: z.string() })),
      warnings: z.array(z.string()),
      tokens: Tokens(),
      durationMs: Count(),
    }),
)

export const TaskReopened = defineEvent("task.reopened", 1, "A person set a task back to pending.", () =>
  z.strictObject({
    taskId: z.string(),
    path: z.string(),
    fromStatus: Status(),
    by: z.string(),
    reason: z.string(),
  }),
)

export const PipelinePlanned = defineEvent(
  "pipeline.planned",
  1,
  "The tasks of a pipeline, before any file of them is written: a process that resumes makes none twice.",
  () =>
    z.strictObject({
      pipelineId: z.string(),
      goal: z.string(),
      priority: z.enum(taskPriorities),
      inputs: z.array(z.strictObject({ path: z.string(), description: z.string() })),
      steps: z.array(
        z.strictObject({
          tasks: z.array(z.strictObject({ id: z.string(), skill: z.string() })),
          requirements: z.string(),
          reviewer: described(
            z.nullable(z.string()),
            "who reviews the tasks of the step; null when they are not reviewed",
          ),
        }),
      ),
      limits: z.strictObject({
        parallelMax: Count(),
        revisionsMax: Count(),
        tokensMax: z.nullable(Count()),
      }),
    }),
)
export type PipelinePlan = z.infer<typeof PipelinePlanned.data>

export const ReviewFinished = defineEvent("review.finished", 1, "The output of a task was reviewed.", () =>
  z.strictObject({
    taskId: z.string(),
    index: Count(),
    round: Count(),
    verdict: z.enum(reviewVerdicts),
    summary: z.string(),
    findingCount: Count(),
    path: described(z.string(), "of the review"),
  }),
)
