import type { Json } from "../../../src/base/canonical.ts"
import { isObject } from "../../support/model-server/json.ts"
import type { WireEvent } from "../../support/model-server/wire/wire.ts"
import { bodied, edited, eventsOf, healthy, healthyReply, saying, streamed, wholeOf } from "./bench.ts"
import { amid, faulty, refusing, tooLong } from "./case-parts.ts"
import { type Bench, type FaultCase, fails, malformed, truncated, unavailable } from "./fault-case.ts"

/** What only the Messages API can get wrong. */
export function anthropicCases(bench: Bench): readonly FaultCase[] {
  const own = bench.streams ? [...toldAmid(bench), ...oddEvents(bench), ...oddOrder(bench)] : blocks(bench)
  return [...errors(), ...endings(), ...own]
}

function errors(): readonly FaultCase[] {
  const error = (type: string, message: string) => ({ type: "error", error: { type, message } })
  const invalid = (message: string) => error("invalid_request_error", message)
  const both = invalid("input length and `max_tokens` exceed context limit: 199000 + 8000 > 200000")
  const credit = invalid("Your credit balance is too low to access the Anthropic API.")
  const busy = error("overloaded_error", "Overloaded")
  return [
    { ...faulty("a request that is too long", healthy, tooLong), window: 1000 },
    refusing("too long together with the reply", 400, both, tooLong),
    refusing("no credit", 400, credit, fails("auth")),
    refusing("an overload", 529, busy, fails("overloaded")),
    refusing("an unknown type of error", 400, error("gossip_error", "hm"), fails("badRequest")),
    refusing("a type that says more than the status", 500, busy, fails("overloaded")),
  ]
}

function endings(): readonly FaultCase[] {
  const ended = (unknown: string) => saying("so far", { end: { unknown } })
  return [
    faulty("a pause in the middle of a turn", ended("pause_turn"), truncated, malformed),
    faulty("a window that was full", ended("model_context_window_exceeded"), tooLong),
    faulty("stopped by a sequence", ended("stop_sequence"), { end: "stop", text: "so far" }),
  ]
}

function blocks(bench: Bench): readonly FaultCase[] {
  const thinking = { type: "thinking", thinking: "hm", signature: "EqQB" }
  const thoughtful = edited(bench, healthy, object =>
    Array.isArray(object["content"]) ? { ...object, content: [thinking, ...object["content"]] } : object,
  )
  const message = wholeOf(bench, saying("hi"))
  const holding = (content: Json) =>
    bodied(bench, JSON.stringify({ ...(isObject(message) ? message : {}), content }))
  return [
    faulty("thoughts besides the answer", thoughtful, healthyReply),
    faulty("content that is a text", holding("hi"), malformed),
    faulty("a block without a kind", holding([{}]), malformed),
    faulty("a block that is null", holding([null]), malformed),
  ]
}

function event(type: string, more: { readonly [key: string]: Json } = {}): WireEvent {
  return { name: type, data: { type, ...more } }
}

function toldAmid(bench: Bench): readonly FaultCase[] {
  const told = (type: string) => amid(bench, event("error", { error: { type, message: "it broke" } }))
  return [
    faulty("an overload in the middle", told("overloaded_error"), fails("overloaded")),
    faulty("an error in the middle", told("api_error"), unavailable),
    faulty("an unknown error in the middle", told("gossip_error"), unavailable, malformed),
    faulty("an error that says nothing", amid(bench, event("error")), malformed, unavailable),
    faulty("too many requests, told in the middle", told("rate_limit_error"), fails("rateLimited")),
  ]
}

function oddEvents(bench: Bench): readonly FaultCase[] {
  const events = eventsOf(bench)
  const [first = event("ping"), ...rest] = events
  const delta = (index: Json, given: Json) => event("content_block_delta", { index, delta: given })
  const words = { type: "text_delta", text: "x" }
  const thinking = [
    event("content_block_start", { index: 9, content_block: { type: "thinking", thinking: "" } }),
    delta(9, { type: "thinking_delta", thinking: "hm" }),
    delta(9, { type: "signature_delta", signature: "EqQB" }),
    event("content_block_stop", { index: 9 }),
  ]
  const named = (name: string | null) =>
    streamed(
      bench,
      events.map(({ data }) => ({ name, data })),
    )
  const pinged = events.flatMap(one => [event("ping"), one])
  const gossip = amid(bench, delta(0, { type: "gossip_delta", gossip: "x" }))
  return [
    faulty("pings everywhere", streamed(bench, pinged), healthyReply),
    faulty("an unknown kind of delta", gossip, healthyReply),
    faulty("thoughts before the answer", streamed(bench, [first, ...thinking, ...rest]), healthyReply),
    faulty("events without names", named(null), healthyReply),
    faulty("events with a wrong name", named("message"), healthyReply, malformed),
    faulty("a delta of a block that is not there", amid(bench, delta(77, words)), malformed),
    faulty("an index that is a text", amid(bench, delta("0", words)), malformed),
  ]
}

function oddOrder(bench: Bench): readonly FaultCase[] {
  const events = eventsOf(bench)
  const without = (type: string) =>
    streamed(
      bench,
      events.filter(({ name }) => name !== type),
    )
  const twice = (type: string) =>
    streamed(
      bench,
      events.flatMap(one => (one.name === type ? [one, one] : [one])),
    )
  const unstarted = { ...healthyReply, usage: { input: 0, output: 10 } }
  return [
    faulty("without message_stop", without("message_stop"), truncated),
    faulty("without message_delta", without("message_delta"), truncated, malformed),
    faulty("without message_start", without("message_start"), malformed, unstarted),
    faulty("without the beginnings of blocks", without("content_block_start"), malformed),
    faulty("without the ends of blocks", without("content_block_stop"), malformed, healthyReply),
    faulty("blocks that begin twice", twice("content_block_start"), malformed),
    faulty("blocks that end twice", twice("content_block_stop"), malformed, healthyReply),
    faulty("events the other way round", streamed(bench, events.toReversed()), malformed, truncated),
  ]
}
