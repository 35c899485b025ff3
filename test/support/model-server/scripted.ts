import { assert } from "../../../src/base/assert.ts"
import type { Json } from "../../../src/base/canonical.ts"
import { readScript } from "../../../src/provider/script/script-file.ts"
import type { ScriptReply } from "../../../src/provider/script/script-schema.ts"
import type { ReplyText } from "../agent/agent-workspace.ts"
import type { Act, FakeReply, Fault, ModelServerOptions, Received } from "./contract.ts"
import { encodeReply, wires } from "./encode.ts"
import { chunked, chunkedHead } from "./http.ts"
import { probeAnswer } from "./probes.ts"
import { refusal, type ServerKind } from "./refusals.ts"
import { says } from "./replies.ts"
import { requestFacts } from "./request-facts.ts"

/**
 * The replies of a script, each as the answer to one chat request: the n-th request gets the n-th of them. Where a
 * schema leaves room for one call, several of a reply are spread over as many requests. What acode asks to try out a
 * model is answered by itself and not counted.
 */
export function scriptedAnswers(
  replies: readonly ReplyText[],
  { usage = "scripted" }: { readonly usage?: "scripted" | "counted" } = {},
): ModelServerOptions["answer"] {
  // A script is JSON however a test writes it down.
  const reading = readScript({ replies: JSON.parse(JSON.stringify(replies)) as Json })
  assert("script" in reading, `the script of a test is valid: ${JSON.stringify(reading)}`)
  const waiting = [...reading.script.replies]
  const spread: FakeReply[] = []
  return received => {
    const probe = probeAnswer(received)
    if (probe !== null) return probe
    const rest = spread.shift()
    if (rest !== undefined) return rest
    const next = waiting.shift()
    if (next === undefined) return { acts: [{ send: refusal(kindOf(received), 400, "the script is over") }] }
    const answer = answerOf(next, received, usage)
    if ("acts" in answer || !takesOneCall(received)) return answer
    const [first = answer, ...others] = oneByOne(answer)
    spread.push(...others)
    return first
  }
}

function takesOneCall({ protocol, body, callsTools, followsSchemas }: Received): boolean {
  return !callsTools && followsSchemas && requestFacts(protocol, body).schema !== null
}

function oneByOne(reply: FakeReply): readonly FakeReply[] {
  return reply.calls.length === 0 ? [reply] : reply.calls.map(call => ({ ...reply, calls: [call] }))
}

function answerOf(
  { content, fault, usage }: ScriptReply,
  received: Received,
  counting: "scripted" | "counted",
): FakeReply | Fault {
  const told = counting === "counted" ? "counted" : usage
  const delay = fault === null || fault.afterMs === 0 ? {} : { delayMs: fault.afterMs }
  if (content !== null)
    return { ...content, usage: told, end: content.calls.length > 0 ? "calls" : "stop", ...delay }
  if (fault === null || fault.kind === "garbage") return says(garbage, { usage: told, ...delay })
  const acts = faultActs(fault.kind, received)
  return { acts: fault.afterMs === 0 ? acts : [{ waitMs: fault.afterMs }, ...acts] }
}

function faultActs(kind: NonNullable<ScriptReply["fault"]>["kind"], received: Received): readonly Act[] {
  const server = kindOf(received)
  switch (kind) {
    case "rate_limit":
      return [{ send: refusal(server, 429, "too many requests") }]
    case "overloaded":
      return [{ send: refusal(server, server.protocol === "anthropic" ? 529 : 503, "overloaded") }]
    case "disconnect":
      return brokenOff(received)
    default:
      return [{ send: refusal(server, 504, "the model did not answer in time") }]
  }
}

/** Sends a part of a reply, then closes the connection. */
function brokenOff({ protocol, body }: Received): readonly Act[] {
  const { streams } = requestFacts(protocol, body)
  const pieces = encodeReply(protocol, says('{"plan_id": "never fini'), { streams })
  const sent = streams ? pieces.slice(0, 2) : pieces.map(piece => piece.subarray(0, 20))
  const head = chunkedHead(streams ? wires[protocol].streamType : "application/json")
  return [{ send: head }, ...sent.map(piece => ({ send: chunked(piece) })), { reset: true }]
}

function kindOf({ protocol }: Received): ServerKind {
  return { protocol, flavour: "plain" }
}

/** The text of a confused model: unbalanced brackets, and nothing that could be parsed as an answer. */
const garbage = "}{ ]] <|im_end|> \ufffd\ufffd { not: json,, "
