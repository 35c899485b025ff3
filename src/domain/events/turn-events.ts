import * as z from "zod/mini"
import { lazily } from "../../base/lazy.ts"
import { externalCallsFor } from "../external-calls.ts"
import { longParts, shortenedParts } from "../model-choice.ts"
import { stages } from "../stage.ts"
import { RecordedJson } from "../tool-call.ts"
import { defineEvent, described } from "./definition.ts"
import { RecordedText } from "./recorded-text.ts"

const Stage = lazily(() => z.enum(stages))
const Count = lazily(() => z.int().check(z.nonnegative()))

export const ModelRequested = defineEvent("model.requested", 1, "A model is about to be asked.", () =>
  z.strictObject({
    stage: Stage(),
    stepId: z.nullable(z.string()),
    turn: Count(),
    replyIndex: Count(),
    messageCount: Count(),
    requestDigest: z.string(),
    /** The size of the request by acode's own estimate, before it is corrected by what the server reports. */
    estimatedTokens: Count(),
    /** The model and its server: every request that leaves this machine is in the log. Null with a script. */
    model: z.nullable(z.string()),
    endpoint: z.nullable(z.string()),
  }),
)

export const ContextTrimmed = defineEvent(
  "context.trimmed",
  1,
  "A request omits parts: to fit its limit, or because they became old or exceed their share.",
  () =>
    z.strictObject({
      stage: Stage(),
      stepId: z.nullable(z.string()),
      turn: Count(),
      tokensBefore: described(Count(), "of the request with everything that the previous one held"),
      tokensAfter: Count(),
      tokensMax: described(z.nullable(Count()), "null without a limit"),
      shortenedCount: Count(),
      shortened: described(
        z.array(z.enum(shortenedParts)),
        "old and long parts once, when they become so; other parts whenever they are omitted to fit",
      ),
      leftOut: described(
        z.optional(
          z.array(z.strictObject({ part: z.enum(longParts), name: z.nullable(z.string()), tokens: Count() })),
        ),
        "estimated tokens of each long part that this request is the first to cut; missing if there are none",
      ),
    }),
)

export const TurnFinished = defineEvent(
  "turn.finished",
  1,
  "A model has answered or failed; the calls that it requests have not been made yet.",
  () =>
    z.strictObject({
      stage: Stage(),
      stepId: z.nullable(z.string()),
      turn: Count(),
      replyIndex: z.nullable(Count()),
      text: RecordedText(),
      calls: z.array(
        z.strictObject({
          id: z.string(),
          tool: z.string(),
          arguments: RecordedJson(),
          argsDigest: z.string(),
        }),
      ),
      /** The answer of a planner, verifier or reviewer, once it has the right shape. */
      output: z.nullable(RecordedJson()),
      problems: z.array(z.string()),
      isCutOff: described(
        z.optional(z.literal(true)),
        "the reply was cut off at its maximum size; missing if it was not",
      ),
      failure: z.nullable(
        z.strictObject({
          kind: z.string(),
          message: z.string(),
          retryable: z.boolean(),
          retryAfterMs: z.nullable(Count()),
        }),
      ),
      usage: z.strictObject({ input: Count(), output: Count() }),
      durationMs: Count(),
      externalCalls: externalCallsFor("for this reply"),
    }),
)
