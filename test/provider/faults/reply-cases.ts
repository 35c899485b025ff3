import type { Json } from "../../../src/base/canonical.ts"
import { bytes, joined } from "../../support/model-server/http.ts"
import { bodied, type Edit, edited, healthy, healthyBytes, healthyReply, saying } from "./bench.ts"
import { type Bench, type FaultCase, fails, malformed, type Outcome, truncated } from "./fault-case.ts"

/** What a reply says, how it ends and what it is said to have cost. */
export function replyCases(bench: Bench): readonly FaultCase[] {
  return [...texts(bench), ...ends(bench), ...usages(bench), ...fields(bench)]
}

const said = (text: string): Outcome => ({ end: "stop", text, callCount: 0 })

function texts(bench: Bench): readonly FaultCase[] {
  const long = "word ".repeat(150_000)
  const invalid = replaced(healthyBytes(bench, saying("a@@b")), "@@", [0xff, 0xc3])
  const exact = (name: string, text: string): FaultCase => ({
    name,
    fault: saying(text),
    wanted: [said(text)],
  })
  return [
    exact("an empty reply", ""),
    exact("a reply of one blank", " "),
    exact("a reply of line breaks", "\n\n\r\n"),
    exact("text with a NUL", "a\0b"),
    exact("text with what ends events elsewhere", "data: [DONE]\n\nevent: message_stop\n\n"),
    exact("text that looks like JSON", '{"done":true,"error":"no"}'),
    exact("text with separators of lines that JSON may hold", "a\u2028b\u2029c\u0085d"),
    exact("a text of 750 kB", long),
    { name: "a text of 1.5 MB", fault: saying(long + long), wanted: [malformed] },
    {
      name: "half a character",
      fault: saying("a\ud800b"),
      wanted: [said("a\ud800b"), said("a\ufffdb"), malformed],
    },
    {
      name: "bytes that are no UTF-8",
      fault: bodied(bench, invalid),
      wanted: [said("a\ufffd\ufffdb"), malformed],
    },
  ]
}

function replaced(source: Uint8Array, word: string, instead: readonly number[]): Uint8Array {
  const place = Buffer.from(source).indexOf(word)
  return joined([source.subarray(0, place), new Uint8Array(instead), source.subarray(place + word.length)])
}

const reasonNames = ["done_reason", "finish_reason", "stop_reason"]

/** Only where it says something: a stream says null until its end. */
const reasoned =
  (reason: Json): Edit =>
  object => {
    const name = reasonNames.find(key => typeof object[key] === "string")
    return name === undefined ? object : { ...object, [name]: reason }
  }

function ends(bench: Bench): readonly FaultCase[] {
  const unread: readonly Outcome[] = [malformed, truncated]
  const refused: readonly Outcome[] =
    bench.protocol === "ollama" ? [malformed] : [{ end: "refused", callCount: 0 }]
  return [
    { name: "a refusal", fault: saying("I will not.", { end: "refused" }), wanted: refused },
    { name: "a refusal without words", fault: saying("", { end: "refused" }), wanted: refused },
    {
      name: "the limit in the middle of the text",
      fault: saying("half a", { end: "length" }),
      wanted: [{ end: "length", text: "half a" }],
    },
    {
      name: "the limit before anything",
      fault: saying("", { end: "length" }),
      wanted: [{ end: "length", text: "" }, fails("contextTooLong")],
    },
    {
      name: "an end for an unknown reason",
      fault: saying("hm", { end: { unknown: "bored" } }),
      wanted: [malformed],
    },
    {
      name: "an unknown reason, with a call",
      fault: { ...healthy, end: { unknown: "bored" } },
      wanted: [malformed],
    },
    { name: "an end for no reason", fault: edited(bench, saying("hm"), reasoned(null)), wanted: unread },
    { name: "an end for an empty reason", fault: edited(bench, saying("hm"), reasoned("")), wanted: unread },
    {
      name: "an end for a reason that is a number",
      fault: edited(bench, saying("hm"), reasoned(3)),
      wanted: unread,
    },
    {
      name: "an end for a reason that is an object",
      fault: edited(bench, saying("hm"), reasoned({ a: 1 })),
      wanted: unread,
    },
  ]
}

const countNames = [
  "prompt_eval_count",
  "eval_count",
  "prompt_tokens",
  "completion_tokens",
  "input_tokens",
  "output_tokens",
]

const counted =
  (count: Json): Edit =>
  object =>
    Object.fromEntries(
      Object.entries(object).map(([key, value]) => [key, countNames.includes(key) ? count : value]),
    )

/** A wrong count may fail the reply or be left out; it must not be believed. */
function usages(bench: Bench): readonly FaultCase[] {
  const unbelieved: readonly Outcome[] = [malformed, { ...said("hi"), usage: { input: 0, output: 0 } }]
  const wrong: readonly (readonly [string, Json])[] = [
    ["negative", -5],
    ["a fraction", 1.5],
    ["a text", "20"],
    ["null", null],
    ["a list", [20]],
  ]
  const cases = wrong.map(([what, count]) => ({
    name: `a usage that is ${what}`,
    fault: edited(bench, saying("hi"), counted(count)),
    wanted: unbelieved,
  }))
  return [
    ...cases,
    {
      name: "no usage",
      fault: saying("hi", { usage: null }),
      wanted: [{ ...said("hi"), usage: { input: 0, output: 0 } }],
    },
    {
      name: "a usage beyond all numbers",
      fault: edited(bench, saying("hi"), counted(1e300)),
      wanted: [...unbelieved, fails("contextTooLong")],
    },
    {
      name: "a usage that is written as infinite",
      fault: bodied(
        bench,
        Buffer.from(healthyBytes(bench, saying("hi")))
          .toString()
          .replaceAll(/:20\b/g, ":1e999"),
      ),
      wanted: [...unbelieved, { ...said("hi"), usage: { input: 0, output: 10 } }, fails("contextTooLong")],
    },
  ]
}

function fields(bench: Bench): readonly FaultCase[] {
  const more: Edit = object => ({ ...object, zzz_new: { deep: [1, null, "x"] } })
  const nameless: Edit = object => {
    const { model: _, created_at: __, created: ___, role: ____, ...others } = object
    return others
  }
  const typed =
    (value: Json): Edit =>
    object =>
      Object.fromEntries(
        Object.entries(object).map(([key, given]) => [
          key,
          (key === "content" || key === "text") && typeof given === "string" && given !== "" ? value : given,
        ]),
      )
  return [
    { name: "fields that nobody knows", fault: edited(bench, saying("hi"), more), wanted: [said("hi")] },
    { name: "without model, role and time", fault: edited(bench, healthy, nameless), wanted: [healthyReply] },
    {
      name: "a text that is a number",
      fault: edited(bench, saying("hi"), typed(5)),
      wanted: [malformed, said("")],
    },
    {
      name: "a text that is an object",
      fault: edited(bench, saying("hi"), typed({ a: "hi" })),
      wanted: [malformed, said("")],
    },
    {
      name: "another model than was asked",
      fault: edited(bench, healthy, object => ("model" in object ? { ...object, model: "other" } : object)),
      wanted: [healthyReply],
    },
    {
      name: "an error instead of a reply, with status 200",
      fault: bodied(bench, errorLine(bench)),
      wanted: [fails("unavailable"), fails("overloaded"), malformed],
    },
  ]
}

function errorLine({ protocol, streams }: Bench): Uint8Array {
  const bodies = {
    ollama: '{"error":"llama runner process has terminated"}',
    openai: '{"error":{"message":"The server had an error","type":"server_error","param":null,"code":null}}',
    anthropic: '{"type":"error","error":{"type":"api_error","message":"Internal server error"}}',
  }
  const body = bodies[protocol]
  if (!streams) return bytes(body)
  const event = protocol === "anthropic" ? "event: error\n" : ""
  return bytes(protocol === "ollama" ? `${body}\n` : `${event}data: ${body}\n\n`)
}
