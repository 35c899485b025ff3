import { counted } from "../../base/text.ts"
import type { ModelItem, ModelRequest, Provider } from "../contract.ts"
import { ownCallId } from "../limits.ts"
import { failedItem, modelFailure, toldItems } from "../reply-fault.ts"
import type { Items } from "../streamed-items.ts"
import { timerWait, type Wait } from "../wait.ts"
import type { Script } from "./script-file.ts"
import type { FaultKind, ScriptReply } from "./script-schema.ts"

/**
 * A model that says what a file says. Which reply is next is in the request and never in memory, so that a session
 * goes on after a crash with the reply it had not recorded yet.
 */
export function createScripted(script: Script, wait: Wait = timerWait): Provider {
  return {
    name: "script",
    ask: (request, signal) => toldItems(() => replyTo(script, request, signal, wait), signal),
  }
}

async function* replyTo(
  script: Script,
  { stage, replyIndex }: ModelRequest,
  signal: AbortSignal,
  wait: Wait,
): AsyncGenerator<Items> {
  const reply = script.replies[replyIndex]
  const place = `replies[${replyIndex}]`
  if (reply === undefined) {
    const count = counted(script.replies.length, "reply", "replies")
    return yield [
      failedItem("script", `the ${stage} asks for ${place} of the script, which has only ${count}`),
    ]
  }
  if (reply.stage !== stage)
    return yield [
      failedItem("script", `the ${stage} asks, and ${place} of the script is for the ${reply.stage}`),
    ]
  if (reply.fault?.kind === "disconnect") yield [{ kind: "text", text: brokenOff }]
  if (reply.fault !== null) await wait(reply.fault.afterMs, signal)
  yield itemsOf(reply, replyIndex, place)
}

function itemsOf(reply: ScriptReply, replyIndex: number, place: string): Items {
  return [
    ...(reply.content === null ? [] : saying(reply.content, replyIndex)),
    ...(reply.fault?.kind === "garbage" ? [{ kind: "text", text: garbage } as const] : []),
    ...(reply.usage === null ? [] : [{ kind: "usage", ...reply.usage } as const]),
    ending(reply, place),
  ]
}

function saying({ text, calls }: NonNullable<ScriptReply["content"]>, replyIndex: number): Items {
  const calling = calls.map(({ id, tool, arguments: args }, index): ModelItem => {
    return { kind: "call", call: { id: id ?? ownCallId(replyIndex, index + 1), tool, arguments: args } }
  })
  return text === "" ? calling : [{ kind: "text", text }, ...calling]
}

function ending({ content, fault }: ScriptReply, place: string): ModelItem {
  if (content !== null) return { kind: "end", reason: content.calls.length > 0 ? "calls" : "stop" }
  const failure = fault === null ? null : failures[fault.kind]
  if (failure === null) return { kind: "end", reason: "stop" }
  const told = modelFailure(failure[0], `${failure[1]} (${place} of the script)`)
  return { kind: "failure", failure: fault?.kind === "disconnect" ? { ...told, isConnection: true } : told }
}

/** Null where a fault ends like a reply. */
const failures = {
  rate_limit: ["rateLimited", "too many requests"],
  overloaded: ["overloaded", "the model is overloaded"],
  timeout: ["timeout", "the model did not answer in time"],
  disconnect: ["unavailable", "the connection broke off in the middle of a reply"],
  garbage: null,
  slow: ["timeout", "the model was too slow"],
} as const satisfies Record<FaultKind, unknown>

/** Half of an answer, and no JSON. */
const brokenOff = '{"plan_id": "never fini'

/** What a confused model says: brackets that do not match, and nothing that could be taken for an answer. */
const garbage = "}{ ]] <|im_end|> \ufffd\ufffd { not: json,, "
