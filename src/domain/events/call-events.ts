import * as z from "zod/mini"
import { lazily } from "../../base/lazy.ts"
import { decisions, effectCategories } from "../effect.ts"
import {
  CallConfinement,
  CallError,
  CallOrigin,
  certainties,
  Diagnostic,
  effectClasses,
  FileChange,
  PathDoubt,
  RecordedJson,
  toolOutcomes,
  UncoveredChanges,
} from "../tool-call.ts"
import { defineEvent, described } from "./definition.ts"
import { RecordedText } from "./recorded-text.ts"

export const ToolCallRequested = defineEvent(
  "tool_call.requested",
  1,
  "A tool call was requested; nothing has been decided.",
  () =>
    z.strictObject({
      callId: z.string(),
      tool: described(z.string(), "the name as it was written"),
      canonicalTool: described(z.nullable(z.string()), "the tool it names; null if there is none"),
      arguments: RecordedJson(),
      argsDigest: described(z.string(), "keyed hash of the arguments before redaction"),
      origin: CallOrigin(),
    }),
)

export const ToolCallStarted = defineEvent(
  "tool_call.started",
  1,
  "The intent: the call that is about to be made, with everything needed to find out after a crash if it took effect.",
  () =>
    z.strictObject({
      callId: z.string(),
      effectClass: z.enum(effectClasses),
      targets: z.array(FileChange()),
      checkpointId: described(z.nullable(z.string()), "the pre-image, if one was taken"),
      approvalId: z.nullable(z.string()),
      decision: z.strictObject({
        decision: z.enum(decisions),
        rule: z.string(),
        reason: z.string(),
        level: z.int(),
      }),
      confinement: z.nullable(CallConfinement()),
      head: gitHead(),
    }),
)

export const ToolCallSettled = defineEvent(
  "tool_call.settled",
  1,
  "The outcome of a call; written before the result is returned.",
  () =>
    z.strictObject({
      callId: z.string(),
      outcome: z.enum(toolOutcomes),
      certainty: z.enum(certainties),
      error: z.nullable(CallError()),
      result: z.nullable(RecordedJson()),
      text: described(z.nullable(RecordedText()), "the text for the model, if a model made the call"),
      resultDigest: described(z.nullable(z.string()), "equal in two runs of one plan with the same result"),
      exitCode: z.nullable(z.int()),
      executionId: described(z.nullable(z.string()), "the execution of its command"),
      paths: described(
        z.array(z.string()),
        "the paths it read, and those it changed if the changes are an artifact",
      ),
      changes: RecordedChanges(),
      uncovered: described(
        z.optional(UncoveredChanges()),
        "its changes that cannot be undone; omitted if there are none",
      ),
      diagnostics: z.array(Diagnostic()),
      durationMs: z.int().check(z.nonnegative()),
      waitMs: z.int().check(z.nonnegative()),
      head: gitHead(),
      left: described(z.optional(RecordedJson()), "how the changed paths were left: inodes, times, index"),
      directories: described(
        z.optional(RecordedJson()),
        "directories that were created, removed or got another mode: path, mode before and after",
      ),
      doubts: described(
        z.optional(z.array(PathDoubt())),
        "changes that another program may have made, if a later process settled the call",
      ),
    }),
)

function gitHead() {
  return described(z.optional(z.nullable(z.string())), "branch and commit that git had checked out")
}

/** The changes of a call in the workspace; many changes become an artifact. */
export const RecordedChanges = lazily(() =>
  z.discriminatedUnion("kind", [
    z.strictObject({ kind: z.literal("inline"), value: z.array(FileChange()) }),
    z.strictObject({ kind: z.literal("artifact"), ref: z.string(), bytes: z.int(), count: z.int() }),
  ]),
)

export const approvalKinds = ["confirmation", "action", "plan", "review"] as const
export type ApprovalKind = (typeof approvalKinds)[number]

export const approvalAnswers = ["granted", "refused", "skipped", "stopped"] as const
export type ApprovalAnswer = (typeof approvalAnswers)[number]

export const ApprovalRequested = defineEvent(
  "approval.requested",
  1,
  "A person is asked; the question shows exactly what will be done.",
  () =>
    z.strictObject({
      approvalId: z.string(),
      sessionId: z.string(),
      callId: described(z.nullable(z.string()), "the call it is about; null for plans and reviews"),
      stepId: z.nullable(z.string()),
      kind: described(
        z.enum(approvalKinds),
        "the source: the plan, policy, or a question about a whole plan or review",
      ),
      category: z.enum(effectCategories),
      level: z.int(),
      operation: described(z.string(), "the action, in one line"),
      reach: described(
        z.optional(z.string()),
        "the part of the network and of the files that it could touch",
      ),
      isRedacted: described(
        z.optional(z.boolean()),
        "parts that look like secrets are not in this record: only a person who sees them may approve it",
      ),
      isConfined: described(
        z.optional(z.boolean()),
        "for a plan: true if the question showed that a sandbox confines its commands",
      ),
      files: z.array(z.string()),
      reason: z.string(),
      rule: z.string(),
      preview: RecordedText(),
      subjectHash: z.string(),
      expiresAt: z.nullable(z.iso.datetime()),
      options: z.array(z.string()),
    }),
)

export const ApprovalAnswered = defineEvent(
  "approval.answered",
  1,
  "The answer to an approval request; the first one counts.",
  () =>
    z.strictObject({
      approvalId: z.string(),
      answer: z.enum(approvalAnswers),
      by: z.string(),
      via: z.enum(["prompt", "command", "flag", "nobody"]),
      reason: z.nullable(z.string()),
      expiresAt: z.iso.datetime(),
    }),
)
