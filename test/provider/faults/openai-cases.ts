import type { Json } from "../../../src/base/canonical.ts"
import type { Fault } from "../../support/model-server/contract.ts"
import { rawEvent, type WireEvent } from "../../support/model-server/wire/wire.ts"
import { edited, eventsOf, healthy, healthyReply, saying, streamed } from "./bench.ts"
import { amid, faulty, refusing, tooLong } from "./case-parts.ts"
import {
  type Bench,
  type FaultCase,
  fails,
  malformed,
  type Outcome,
  truncated,
  unavailable,
} from "./fault-case.ts"

/** What only servers like those of OpenAI can get wrong, and each of them in its own way. */
export function openaiCases(bench: Bench): readonly FaultCase[] {
  const cases = [...overflows(), ...errors(), ...replies(bench)]
  return bench.streams ? [...cases, ...cutShort(bench), ...toldAmid(bench), ...callPieces(bench)] : cases
}

function overflows(): readonly FaultCase[] {
  const cases = (["plain", "llamacpp", "vllm", "lmstudio"] as const).map(flavour => ({
    ...faulty(`a request that is too long for ${flavour}`, healthy, tooLong),
    window: 1000,
    flavour,
  }))
  const keep = "The number of tokens to keep from the initial prompt is greater than the context length"
  const vllm = { message: "This model's maximum context length is 8192 tokens.", type: "BadRequestError" }
  return [
    ...cases,
    refusing("too long for another version of LM Studio", 400, { error: keep }, tooLong),
    refusing("too long for a newer vLLM", 400, { error: { ...vllm, param: null, code: 400 } }, tooLong),
  ]
}

function errors(): readonly FaultCase[] {
  const error = (message: string, type: string, code: Json): Json => ({
    error: { message, type, param: null, code },
  })
  const missing = error("The model `fake` does not exist", "invalid_request_error", "model_not_found")
  const quota = error("You exceeded your current quota", "insufficient_quota", "insufficient_quota")
  const jinja = error("tools param requires --jinja flag", "server_error", 500)
  const loading = error("Loading model", "unavailable_error", 503)
  return [
    refusing("a model that is not there", 404, missing, fails("notFound")),
    refusing("a model that still loads", 503, loading, fails("overloaded")),
    refusing("a quota that is used up", 429, quota, fails("rateLimited")),
    refusing("tools that must be switched on", 500, jinja, fails("badRequest")),
  ]
}

function replies(bench: Bench): readonly FaultCase[] {
  const second = { index: 1, delta: { content: "no" }, message: { content: "no" }, finish_reason: "stop" }
  const two = edited(bench, healthy, object =>
    Array.isArray(object["choices"]) && object["choices"].length > 0
      ? { ...object, choices: [second, ...object["choices"]] }
      : object,
  )
  const thoughts = edited(bench, healthy, object =>
    "role" in object || "content" in object
      ? { ...object, reasoning_content: "hm", reasoning: "so" }
      : object,
  )
  const chosen = (choices: Json) =>
    edited(bench, healthy, object => ("choices" in object ? { ...object, choices } : object))
  const filtered = saying("half", { end: { unknown: "content_filter" } })
  const old = saying("", { end: { unknown: "function_call" } })
  const problem: Outcome = { end: "stop", callCount: 0, hasProblems: true }
  return [
    faulty("two choices, the other first", two, healthyReply),
    faulty("thoughts besides the answer", thoughts, healthyReply),
    faulty("a filter that stopped it", filtered, { end: "refused", callCount: 0 }),
    faulty("choices that are no list", chosen({ a: 1 }), malformed),
    faulty("no choices at all", chosen([]), malformed, truncated),
    faulty("the old form of calls", old, malformed, problem),
  ]
}

function cutShort(bench: Bench): readonly FaultCase[] {
  const events = eventsOf(bench)
  const done = rawEvent("[DONE]")
  const withoutFinish = edited(bench, healthy, object =>
    "finish_reason" in object ? { ...object, finish_reason: null } : object,
  )
  const uncounted = { ...healthyReply, usage: { input: 0, output: 0 } }
  return [
    faulty("without [DONE]", streamed(bench, events.slice(0, -1)), healthyReply),
    faulty("without a reason, but [DONE]", withoutFinish, truncated, malformed),
    faulty("a reason and nothing behind it", streamed(bench, events.slice(0, -2)), uncounted),
    faulty("[DONE] at once", streamed(bench, [done]), truncated, malformed),
    faulty("[DONE] in the middle", amid(bench, done), truncated, malformed),
  ]
}

function toldAmid(bench: Bench): readonly FaultCase[] {
  const told = (error: Json, name: string | null = null) => amid(bench, { name, data: { error } })
  return [
    faulty("an error in the middle", told({ message: "boom", type: "server_error" }), unavailable),
    faulty("an overload in the middle", told({ type: "overloaded_error" }), fails("overloaded")),
    faulty("too many requests, told in the middle", told({ message: "no", code: 429 }), fails("rateLimited")),
    faulty("an error that is a text", told("the model has crashed"), unavailable),
    faulty("an error by its name, as of LM Studio", told({ message: "crashed" }, "error"), unavailable),
  ]
}

function callPieces(bench: Bench): readonly FaultCase[] {
  const args = [{ path: "a" }, { path: "b" }]
  const calls = args.map(given => ({ id: given.path, tool: "read_file", arguments: given }))
  const two = { ...healthy, calls }
  const both: Outcome = { end: "calls", calls: calls.map(({ id: _, ...call }) => call) }
  const unindexed = edited(bench, two, object => {
    if (!("function" in object)) return object
    const { index: _, ...others } = object
    return others
  })
  const zeroed = edited(bench, two, object => ("function" in object ? { ...object, index: 0 } : object))
  return [
    faulty("calls without an index", unindexed, both),
    faulty("calls that all have the index 0", zeroed, both),
    faulty("a character in halves", halves(bench), { end: "stop", text: "🙂" }),
  ]
}

/** A model that produces bytes may end a piece in the middle of a pair. */
function halves(bench: Bench): Fault {
  const [first = rawEvent("{}"), , ...others] = eventsOf(bench, saying("x"))
  const piece = (content: string): WireEvent => ({
    name: null,
    data: { choices: [{ index: 0, delta: { content }, finish_reason: null }] },
  })
  return streamed(bench, [first, piece("\ud83d"), piece("\ude42"), ...others])
}
