import type { Json } from "../../../src/base/canonical.ts"
import type { FakeReply, Fault } from "../../support/model-server/contract.ts"
import { plainEncoding, wires } from "../../support/model-server/encode.ts"
import { bytes, chunked, chunkedHead, lastChunk, whole } from "../../support/model-server/http.ts"
import { isObject } from "../../support/model-server/json.ts"
import { jsonText, type WireEvent } from "../../support/model-server/wire/wire.ts"
import { type Bench, faultOf, type ReplyOutcome } from "./fault-case.ts"

/** What a healthy model says here: some words, some of them not ASCII, and one call. */
export const healthy: FakeReply = {
  text: "Let me look: größe ✓ 🙂",
  calls: [{ id: "call_a", tool: "read_file", arguments: { path: "a.txt" } }],
  usage: { input: 20, output: 10 },
  end: "calls",
}

export const healthyReply: ReplyOutcome = {
  end: "calls",
  text: "Let me look: größe ✓ 🙂",
  calls: [{ tool: "read_file", arguments: { path: "a.txt" } }],
  usage: { input: 20, output: 10 },
  hasProblems: false,
}

export function saying(text: string, more: Partial<FakeReply> = {}): FakeReply {
  return { text, calls: [], usage: { input: 20, output: 10 }, end: "stop", ...more }
}

/** Calls one tool with arguments as they are given; a text in `$raw` is written as it is. */
export function calling(args: Json, more: Partial<FakeReply> = {}): FakeReply {
  return { ...healthy, text: "", calls: [{ id: "call_a", tool: "read_file", arguments: args }], ...more }
}

export function eventsOf({ protocol }: Bench, reply: FakeReply = healthy): readonly WireEvent[] {
  return wires[protocol].events(reply, plainEncoding)
}

export function wholeOf({ protocol }: Bench, reply: FakeReply = healthy): Json {
  return wires[protocol].whole(reply, plainEncoding)
}

/** These events as a proper stream. */
export function streamed(bench: Bench, events: readonly WireEvent[]): Fault {
  return streamedBytes(bench, events.map(wires[bench.protocol].frame))
}

export function streamedBytes({ protocol }: Bench, pieces: readonly Uint8Array[]): Fault {
  return faultOf(chunkedHead(wires[protocol].streamType), ...pieces.map(chunked), lastChunk)
}

/** The body of a proper response that was not asked to stream, or was. */
export function bodied({ protocol, streams }: Bench, body: string | Uint8Array): Fault {
  return faultOf(whole(200, body, streams ? { "content-type": wires[protocol].streamType } : {}))
}

/** The reply with every object in it changed by this, streamed or whole. */
export function edited(bench: Bench, reply: FakeReply, edit: Edit): Fault {
  if (!bench.streams) return bodied(bench, jsonText(mapped(wholeOf(bench, reply), edit)))
  const events = eventsOf(bench, reply).map(event =>
    isRaw(event.data) ? event : { ...event, data: mapped(event.data, edit) },
  )
  return streamed(bench, events)
}

/** Gives what stands in the place of an object. */
export type Edit = (object: { readonly [key: string]: Json }) => Json

/** From the inside out, so that what is put in is not changed again. */
function mapped(value: Json, edit: Edit): Json {
  if (Array.isArray(value)) return value.map(member => mapped(member, edit))
  if (!isObject(value)) return value
  return edit(Object.fromEntries(Object.entries(value).map(([key, member]) => [key, mapped(member, edit)])))
}

function isRaw(data: WireEvent["data"]): data is { readonly raw: string } {
  return typeof data === "object" && data !== null && "raw" in data && typeof data.raw === "string"
}

/** The body of the healthy reply, as it would be sent. */
export function healthyBytes(bench: Bench, reply: FakeReply = healthy): Uint8Array {
  const { frame } = wires[bench.protocol]
  if (!bench.streams) return bytes(jsonText(wholeOf(bench, reply)))
  return new Uint8Array(Buffer.concat(eventsOf(bench, reply).map(frame)))
}
