import type { Json } from "../../../src/base/canonical.ts"
import type { WireEvent } from "../../support/model-server/wire/wire.ts"
import { edited, eventsOf, healthy, healthyReply, saying, streamed } from "./bench.ts"
import { amid, faulty, refusing, tooLong } from "./case-parts.ts"
import { type Bench, type FaultCase, fails, malformed, truncated, unavailable } from "./fault-case.ts"

/** What only Ollama can get wrong. */
export function ollamaCases(bench: Bench): readonly FaultCase[] {
  return [...errors(), ...replies(bench), ...(bench.streams ? streams(bench) : [])]
}

function errors(): readonly FaultCase[] {
  const busy = "server busy, please try again. maximum pending requests exceeded"
  return [
    refusing("a model that is not there", 404, { error: 'model "fake" not found' }, fails("notFound")),
    refusing("a model without tools", 400, { error: "fake does not support tools" }, fails("badRequest")),
    refusing("too long, told", 400, { error: "the input length exceeds the context length" }, tooLong),
    refusing("a queue that is full", 503, { error: busy }, fails("overloaded")),
    refusing("a call that is not read", 500, { error: "error parsing tool call: raw='{'" }, malformed),
  ]
}

function replies(bench: Bench): readonly FaultCase[] {
  const thinking = edited(bench, healthy, object =>
    "role" in object ? { ...object, thinking: "hm, so", images: null } : object,
  )
  const elsewhere = edited(bench, healthy, object =>
    "done" in object ? { ...object, remote_model: "big", remote_host: "https://ollama.com" } : object,
  )
  const done = (value: Json) =>
    edited(bench, healthy, object => ("done" in object ? { ...object, done: value } : object))
  const full = saying("hi", { usage: { input: 8190, output: 2 } })
  const cut = faulty("a request that is cut without a word", saying("hi", { usage: "counted" }), tooLong)
  return [
    { ...cut, window: 1000 },
    faulty("thoughts besides the answer", thinking, healthyReply),
    faulty("a model that was only loaded", saying("", { end: { unknown: "load" } }), unavailable, malformed),
    faulty("a model that runs elsewhere", elsewhere, fails("badRequest")),
    faulty("done that is neither true nor false", done("yes"), malformed, truncated),
    faulty("never done", done(false), truncated),
    faulty("a count that leaves no room for a reply", full, tooLong),
  ]
}

function streams(bench: Bench): readonly FaultCase[] {
  const told = (error: Json): WireEvent => ({ name: null, data: { error } })
  const long = told("the input length exceeds the context length")
  return [
    faulty("an error in the middle", amid(bench, told("unexpected EOF")), unavailable),
    faulty("an error that is an object", amid(bench, told({ message: "no" })), unavailable),
    faulty("too long, told in the middle", amid(bench, long), tooLong),
    faulty("without the line that is done", streamed(bench, eventsOf(bench).slice(0, -1)), truncated),
  ]
}
