import { counted } from "../../base/text.ts"
import type { ModelItem, ModelRequest, Provider } from "../contract.ts"
import { ownCallId } from "../limits.ts"
import { failedItem, itemsWithFailure, modelFailure } from "../reply-fault.ts"
import type { Items } from "../streamed-items.ts"
import { timerWait, type Wait } from "../wait.ts"
import type { Script } from "./script-file.ts"
import type { FaultKind, ScriptReply } from "./script-schema.ts"

/**
 * Returns a model that replies with the entries of a file. The request has the index of the next reply, not the memory,
 * so that a session resumes after a crash with the reply it had not recorded yet.
 */
export function createScripted(script: Script, wait: Wait = timerWait): Provider {
  return {
    name: "script",
    ask: (request, signal) => itemsWithFailure(() => replyTo(script, request, signal, wait), signal),
  }
}

async function* replyTo(
  script: Script,
  { stage, replyIndex }: ModelRequest,
  signal: AbortSignal,
  wait: Wait,
): AsyncGenerator<Items> {
  const reply = script.replies[replyIndex]
  const entry = `replies[${replyIndex}]`
  if (reply === undefined) {
    const count = counted(script.replies.length, "reply", "replies")
    return yield [
      failedItem("script", `the ${stage} asks for ${entry} of the script, which has only ${count}`),
    ]
  }
  if (reply.stage !== stage)
    return yield [
      failedItem("script", `the ${stage} asks, and ${entry} of the script is for the ${reply.stage}`),
    ]
  if (reply.fault?.kind === "disconnect") yield [{ kind: "text", text: brokenOff }]
  if (reply.fault !== null) await wait(reply.fault.afterMs, signal)
  yield itemsOf(reply, replyIndex, entry)
}

function itemsOf(reply: ScriptReply, replyIndex: number, entry: string): Items {
  return [
    ...(reply.content === null ? [] : saying(reply.content, replyIndex)),
    ...(reply.fault?.kind === "garbage" ? [{ kind: "text", text: garbage } as const] : []),
    ...(reply.usage === null ? [] : [{ kind: "usage", ...reply.usage } as const]),
    ending(reply, entry),
  ]
}

function saying({ text, calls }: NonNullable<ScriptReply["content"]>, replyIndex: number): Items {
  const calling = calls.map(({ id, tool, arguments: args }, index): ModelItem => {
    return { kind: "call", call: { id: id ?? ownCallId(replyIndex, index + 1), tool, arguments: args } }
  })
  return text === "" ? calling : [{ kind: "text", text }, ...calling]
}

function ending({ content, fault }: ScriptReply, entry: string): ModelItem {
  if (content !== null) return { kind: "end", reason: content.calls.length > 0 ? "calls" : "stop" }
  const failure = fault === null ? null : failures[fault.kind]
  if (failure === null) return { kind: "end", reason: "stop" }
  const scripted = modelFailure(failure[0], `${failure[1]} (${entry} of the script)`)
  return {
    kind: "failure",
    failure: fault?.kind === "disconnect" ? { ...scripted, isConnection: true } : scripted,
  }
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

/** Half of an answer, which is not JSON. */
const brokenOff = '{"plan_id": "never fini'

/** The output of a confused model: brackets that do not match, and nothing that could be read as an answer. */
const garbage = "}{ ]] <|im_end|> \ufffd\ufffd { not: json,, "
