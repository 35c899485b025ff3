import type { Json } from "../../../src/base/canonical.ts"
import { wires } from "../../support/model-server/encode.ts"
import { bytes, chunked, chunkedHead, lastChunk, whole } from "../../support/model-server/http.ts"
import { jsonText, rawEvent, type WireEvent } from "../../support/model-server/wire/wire.ts"
import { bodied, eventsOf, healthyBytes, healthyReply, streamed, streamedBytes } from "./bench.ts"
import { type Bench, type FaultCase, faultOf, malformed, type Outcome, truncated } from "./fault-case.ts"

/** How pieces are written down: lines, events, JSON. */
export function framingCases(bench: Bench): readonly FaultCase[] {
  if (!bench.streams) return [...oddBodies(bench), ...contentTypes(bench)]
  const lines = bench.protocol === "ollama" ? lineCases(bench) : eventCases(bench)
  return [...oddEvents(bench), ...cutStreams(bench), ...contentTypes(bench), ...lines]
}

const fine: readonly Outcome[] = [healthyReply]

const textOf = (bench: Bench) => Buffer.from(healthyBytes(bench)).toString("utf8")

function oddBodies(bench: Bench): readonly FaultCase[] {
  const text = textOf(bench)
  const body = (name: string, content: string, wanted: readonly Outcome[] = [malformed]): FaultCase => ({
    name,
    fault: bodied(bench, content),
    wanted,
  })
  return [
    body("an empty body", ""),
    body("a body of blanks", "  \n\n  "),
    body("half of a body", text.slice(0, text.length / 2)),
    body("a body without its last bracket", text.slice(0, -1)),
    body("two bodies in one", text + text),
    body("a page for browsers, with status 200", "<html><body>Welcome</body></html>"),
    body("null", "null"),
    body("a list", "[]"),
    body("a number", "42"),
    body("a text", '"hello"'),
    body("an object with nothing in it", "{}"),
    body("nesting without end", `${"[".repeat(100_000)}${"]".repeat(100_000)}`),
    body("blanks around the body", ` \r\n${text}\n\n`, fine),
    body("a byte order mark", `\ufeff${text}`, [...fine, malformed]),
    body("JSON over many lines", JSON.stringify(JSON.parse(text), null, 2), fine),
  ]
}

/** What the server says it sends is often wrong; what it sends counts. */
function contentTypes(bench: Bench): readonly FaultCase[] {
  const types = ["text/plain", "application/octet-stream", "text/html; charset=utf-8", ""]
  const odd = types.map(
    (type): FaultCase => ({
      name: `sent as ${type === "" ? "nothing" : type}`,
      fault: faultOf(whole(200, healthyBytes(bench), { "content-type": type })),
      wanted: fine,
    }),
  )
  const { protocol, streams } = bench
  const other = { ...bench, streams: !streams }
  const type = streams ? "application/json" : wires[protocol].streamType
  return [
    ...odd,
    {
      name: streams ? "one piece, though a stream was asked for" : "a stream, though nobody asked for one",
      fault: faultOf(chunkedHead(type), chunked(healthyBytes(other)), lastChunk),
      wanted: [healthyReply, malformed],
    },
  ]
}

/** Events that are no part of any reply. */
function oddEvents(bench: Bench): readonly FaultCase[] {
  const events = eventsOf(bench)
  const inserted = (event: WireEvent) => streamed(bench, [...events.slice(0, 2), event, ...events.slice(2)])
  const name = bench.protocol === "anthropic" ? "content_block_delta" : null
  const broken: readonly (readonly [string, string])[] = [
    ["that is no JSON", "{oops"],
    ["that is null", "null"],
    ["that is a list", "[1]"],
    ["that is a text", '"hello"'],
    ["with two objects", '{"a":1}{"b":2}'],
    ["nested without end", `${"[".repeat(50_000)}${"]".repeat(50_000)}`],
  ]
  return broken.map(([what, text]) => ({
    name: `an event ${what}`,
    fault: inserted(rawEvent(text, name)),
    wanted: [malformed],
  }))
}

/** A stream that ends, properly, before the reply does. */
function cutStreams(bench: Bench): readonly FaultCase[] {
  const events = eventsOf(bench)
  const text = textOf(bench)
  const lastWithJson = events.findLastIndex(
    ({ data }) => typeof data === "object" && data !== null && !("raw" in data),
  )
  const half = bytes(text.slice(0, text.lastIndexOf("{") + 3))
  return [
    { name: "no event at all", fault: streamed(bench, []), wanted: [truncated, malformed] },
    { name: "one event and no more", fault: streamed(bench, events.slice(0, 1)), wanted: [truncated] },
    { name: "a stream cut in the middle", fault: streamed(bench, events.slice(0, 5)), wanted: [truncated] },
    { name: "half of the last event", fault: streamedBytes(bench, [half]), wanted: [truncated, malformed] },
    {
      name: "events twice, from the beginning",
      fault: streamed(bench, [...events.slice(0, lastWithJson), ...events]),
      wanted: [malformed, truncated, { end: "calls" }],
    },
    { name: "events behind the end", fault: streamed(bench, [...events, ...events]), wanted: fine },
    {
      name: "nothing but the end",
      fault: streamed(bench, events.slice(-1)),
      wanted: [truncated, malformed, { end: "stop", text: "", callCount: 0 }],
    },
  ]
}

function lineCases(bench: Bench): readonly FaultCase[] {
  const text = textOf(bench)
  const lines = (name: string, content: string, wanted = fine): FaultCase => ({
    name,
    fault: bodied(bench, content),
    wanted,
  })
  return [
    lines("lines that end with CRLF", text.replaceAll("\n", "\r\n")),
    lines("lines that end this way and that", mixedEnds(text)),
    lines("no end of the last line", text.trimEnd()),
    lines("blank lines between", text.replaceAll("\n", "\n\n \n")),
    lines("a byte order mark", `\ufeff${text}`),
    lines("blanks around each line", text.replaceAll("\n", "  \n  ")),
    lines("everything on one line", text.replaceAll("\n", " "), [malformed]),
    lines("lines as of server-sent events", text.replaceAll(/^/gm, "data: "), [malformed]),
  ]
}

function eventCases(bench: Bench): readonly FaultCase[] {
  const text = textOf(bench)
  const written = (name: string, content: string, wanted = fine): FaultCase => ({
    name,
    fault: bodied(bench, content),
    wanted,
  })
  return [
    written("lines that end with CRLF", text.replaceAll("\n", "\r\n")),
    written("lines that end with CR", text.replaceAll("\n", "\r")),
    written("lines that end this way and that", mixedEnds(text)),
    written("comments between", text.replaceAll("\n\n", "\n\n: keep-alive\n\n:\n")),
    written("fields that nobody needs", text.replaceAll("\n\n", "\nid: 7\nretry: 100\nnonsense\n\n")),
    written("no blank behind the colon", text.replaceAll("data: ", "data:").replaceAll("event: ", "event:")),
    written("many empty lines", text.replaceAll("\n\n", "\n\n\n\n\n")),
    written("a byte order mark", `\ufeff${text}`),
    written("no empty line at the end", text.trimEnd(), [healthyReply, truncated]),
    written("data over several lines", spreadData(bench)),
    written("an unknown event with data that is no JSON", `event: gossip\ndata: hello\n\n${text}`, [
      healthyReply,
      malformed,
    ]),
    written("an unknown event", `event: gossip\ndata: {"type":"gossip","a":1}\n\n${text}`),
    written("an event without data", `event: ping\n\n${text}`),
    written("an event whose data is empty", `data:\n\n${text}`, [healthyReply, malformed]),
  ]
}

function mixedEnds(text: string): string {
  let count = 0
  return text.replaceAll("\n", () => (count++ % 2 === 0 ? "\r\n" : "\n"))
}

function spreadData(bench: Bench): string {
  return eventsOf(bench)
    .map(({ name, data }) => {
      const isJson = typeof data === "object" && data !== null && !("raw" in data)
      const text = isJson ? JSON.stringify(data as Json, null, 1) : jsonText(data)
      const lines = isJson ? text.split("\n") : ["[DONE]"]
      const first = name === null ? "" : `event: ${name}\n`
      return `${first}${lines.map(line => `data: ${line}\n`).join("")}\n`
    })
    .join("")
}
