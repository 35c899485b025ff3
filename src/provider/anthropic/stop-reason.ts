import { oneLine } from "../../base/text.ts"
import type { ModelFailureKind, ModelItem } from "../contract.ts"
import { modelFailure } from "../failures.ts"

type ReplyEnd = Extract<ModelItem, { kind: "end" | "failure" }>

/**
 * What the reason for which a model stopped means for the reply. A reason that is not known is a failure: as an
 * ordinary end it would make a refusal or half an answer a result.
 */
export function endOf(stopReason: string): ReplyEnd {
  switch (stopReason) {
    case "end_turn":
    case "stop_sequence":
      return { kind: "end", reason: "stop" }
    case "tool_use":
      return { kind: "end", reason: "calls" }
    case "max_tokens":
      return { kind: "end", reason: "length" }
    case "refusal":
      return { kind: "end", reason: "refused" }
    case "model_context_window_exceeded":
      return failed("contextTooLong", "the reply did not fit into what the model can hold with the request")
    case "pause_turn":
      return failed("truncated", "the server paused in the middle of the reply")
    default:
      return failed(
        "malformed",
        `the server stopped for a reason that is not known: ${oneLine(stopReason, 60)}`,
      )
  }
}

function failed(kind: ModelFailureKind, message: string): ReplyEnd {
  return { kind: "failure", failure: modelFailure(kind, message) }
}
