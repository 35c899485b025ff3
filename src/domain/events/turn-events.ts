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
    /** How long the request is by acode's own estimate, before it is corrected by what the server reports. */
    estimatedTokens: Count(),
    /** Which model, and where: every request that leaves this machine is in the log. Null with a script. */
    model: z.nullable(z.string()),
    endpoint: z.nullable(z.string()),
  }),
)

export const ContextTrimmed = defineEvent(
  "context.trimmed",
  1,
  "A request leaves out parts: to fit, or what is newly old or longer than its share.",
  () =>
    z.strictObject({
      stage: Stage(),
      stepId: z.nullable(z.string()),
      turn: Count(),
      tokensBefore: described(Count(), "with what the request before still told"),
      tokensAfter: Count(),
      tokensMax: described(z.nullable(Count()), "null where nothing bounds the request"),
      shortenedCount: Count(),
      shortened: described(
        z.array(z.enum(shortenedParts)),
        "those that are old or long only of what is newly so, the others to fit",
      ),
      leftOut: described(
        z.optional(
          z.array(z.strictObject({ part: z.enum(longParts), name: z.nullable(z.string()), tokens: Count() })),
        ),
        "of each long part about how much is newly not shown; missing where there is none",
      ),
    }),
)

export const TurnFinished = defineEvent(
  "turn.finished",
  1,
  "A model has answered, or could not; what it asks for has not been done yet.",
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
      /** What a planner, verifier or reviewer answered, once it is of the right shape. */
      output: z.nullable(RecordedJson()),
      problems: z.array(z.string()),
      isCutOff: described(
        z.optional(z.literal(true)),
        "the reply is as long as it was allowed to be; missing where it is not",
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
