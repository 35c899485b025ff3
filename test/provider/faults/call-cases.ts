import type { Json } from "../../../src/base/canonical.ts"
import type { FakeCall } from "../../support/model-server/contract.ts"
import { calling, type Edit, edited, healthy } from "./bench.ts"
import { type Bench, type FaultCase, malformed, type Outcome, type ReplyOutcome } from "./fault-case.ts"

/** Calls that cannot be made as they are, and some that can. */
export function callCases(bench: Bench): readonly FaultCase[] {
  return [
    ...invalidJson(bench),
    ...wrongTypes(bench),
    ...names(bench),
    ...ids(bench),
    ...sizes(),
    ...characters(),
    ...endings(bench),
  ]
}

/** The model is told what is wrong, or the reply is asked for again; in no case is there a call. */
const noCall: readonly Outcome[] = [
  malformed,
  { end: "calls", callCount: 0, hasProblems: true },
  { end: "stop", callCount: 0, hasProblems: true },
]

const oneCall = (args: Json): ReplyOutcome => ({
  end: "calls",
  calls: [{ tool: "read_file", arguments: args }],
  hasProblems: false,
})

/** Ten ways in which models get JSON wrong, and a few more. */
function invalidJson(_bench: Bench): readonly FaultCase[] {
  const mutations: Readonly<Record<string, string>> = {
    "cut off": '{"path":"a.t',
    "without the last bracket": '{"path":"a.txt"',
    "with a bracket too many": '{"path":"a.txt"}}',
    "with a comma too many": '{"path":"a.txt",}',
    "with single quotes": "{'path':'a.txt'}",
    "with bare names": '{path:"a.txt"}',
    "with a comment": '{"path":"a.txt" /* the file */}',
    "with the words of Python": '{"path":None,"deep":True}',
    "with a number that is none": '{"path":NaN}',
    "with a line break inside of text": '{"path":"a\n.txt"}',
    "with an escape that is none": '{"path":"a\\x.txt"}',
    "between fences": '```json\n{"path":"a.txt"}\n```',
    "behind words": 'Here you are: {"path":"a.txt"}',
    "as tags": "<path>a.txt</path>",
    twice: '{"path":"a.txt"}{"path":"b.txt"}',
  }
  return Object.entries(mutations).map(([what, text]) => ({
    name: `arguments ${what}`,
    fault: calling({ $raw: text }),
    wanted: noCall,
  }))
}

function wrongTypes({ protocol }: Bench): readonly FaultCase[] {
  const none = [...noCall, oneCall({})]
  const typed = (what: string, args: Json, wanted: readonly Outcome[] = noCall): FaultCase => ({
    name: `arguments that are ${what}`,
    fault: calling(args),
    wanted,
  })
  return [
    typed("a text", "a.txt"),
    typed("JSON in a text", '{"path":"a.txt"}', [...noCall, oneCall({ path: "a.txt" })]),
    typed("a list", ["a.txt"]),
    typed("a number", 5),
    typed("true", true),
    typed("null", null, none),
    typed("an empty object", {}, [oneCall({})]),
    typed("an object of other types", { path: 5, more: [null] }, [oneCall({ path: 5, more: [null] })]),
    {
      name: "arguments that are empty text",
      fault: calling({ $raw: protocol === "ollama" ? '""' : "" }),
      wanted: none,
    },
    {
      name: "arguments that change what an object is",
      fault: calling({ $raw: '{"__proto__":{"path":"a.txt"}}' }),
      wanted: noCall,
    },
  ]
}

/** An object that says which tool is called, in each protocol. */
const isNaming = (object: { readonly [key: string]: Json }) =>
  "name" in object && ("arguments" in object || "input" in object)

const renamed =
  (name: Json): Edit =>
  object =>
    isNaming(object) && object["name"] !== "" ? { ...object, name } : object

function names(bench: Bench): readonly FaultCase[] {
  const unknown = { tool: "launch_rocket", arguments: { path: "a.txt" } }
  const unnamed: Edit = object => {
    if (!isNaming(object)) return object
    const { name: _, ...others } = object
    return others
  }
  return [
    {
      name: "an unknown tool is whoever asks's affair",
      fault: edited(bench, calling({ path: "a.txt" }), renamed("launch_rocket")),
      wanted: [{ end: "calls", calls: [unknown], hasProblems: false }],
    },
    { name: "no name of a tool", fault: edited(bench, calling({}), unnamed), wanted: noCall },
    { name: "an empty name of a tool", fault: edited(bench, calling({}), renamed("")), wanted: noCall },
    { name: "a name that is null", fault: edited(bench, calling({}), renamed(null)), wanted: noCall },
    { name: "a name that is a number", fault: edited(bench, calling({}), renamed(7)), wanted: noCall },
    {
      name: "a name that is an object",
      fault: edited(bench, calling({}), renamed({ a: 1 })),
      wanted: noCall,
    },
  ]
}

function ids(bench: Bench): readonly FaultCase[] {
  const two = (first: string | null, second: string | null): readonly FakeCall[] => [
    { id: first, tool: "read_file", arguments: { path: "a" } },
    { id: second, tool: "read_file", arguments: { path: "b" } },
  ]
  const first = { tool: "read_file", arguments: { path: "a" } }
  const twice: readonly Outcome[] = [
    { end: "calls", calls: [first, { tool: "read_file", arguments: { path: "b" } }] },
  ]
  const unidentified: Edit = object => {
    if (!("id" in object) || !("function" in object || object["type"] === "tool_use")) return object
    const { id: _, ...others } = object
    return others
  }
  const both = { ...healthy, calls: two("x1", "x2") }
  const numbered: Edit = object =>
    "id" in object && ("function" in object || object["type"] === "tool_use") ? { ...object, id: 5 } : object
  return [
    { name: "two calls", fault: both, wanted: twice },
    {
      name: "two calls of one id",
      fault: { ...both, calls: two("x", "x") },
      wanted: [...twice, { end: "calls", calls: [first], hasProblems: true }],
    },
    { name: "calls with empty ids", fault: { ...both, calls: two("", "") }, wanted: [malformed, ...twice] },
    { name: "calls without ids", fault: edited(bench, both, unidentified), wanted: [malformed, ...twice] },
    { name: "ids that are numbers", fault: edited(bench, both, numbered), wanted: [malformed, ...twice] },
    {
      name: "an id that is far too long",
      fault: { ...both, calls: two("x".repeat(100_000), "y") },
      wanted: [malformed, ...twice],
    },
  ]
}

function many(count: number) {
  const calls = Array.from({ length: count }, (_, index) => ({
    id: `c${index}`,
    tool: "read_file",
    arguments: { path: `f${index}` },
  }))
  return { ...healthy, text: "", calls }
}

function nested(levels: number): Json {
  return { $raw: `{"a":${"[".repeat(levels)}${"]".repeat(levels)}}` }
}

function sizes(): readonly FaultCase[] {
  const long = { path: "a".repeat(900_000) }
  return [
    { name: "two hundred calls", fault: many(200), wanted: [{ end: "calls", callCount: 200 }] },
    {
      name: "two hundred and one calls",
      fault: many(201),
      wanted: [{ end: "calls", callCount: 200, hasProblems: true }],
    },
    { name: "an argument of 900 kB", fault: calling(long), wanted: [oneCall(long)] },
    {
      name: "an argument of 1.5 MB",
      fault: calling({ path: "a".repeat(1_500_000) }),
      wanted: [{ end: "calls", callCount: 0, hasProblems: true }],
    },
    { name: "an argument of 10 MB", fault: calling({ path: "a".repeat(10_000_000) }), wanted: noCall },
    { name: "arguments nested a hundred levels", fault: calling(nested(100)), wanted: noCall },
    { name: "arguments nested without end", fault: calling(nested(20_000)), wanted: noCall },
  ]
}

function characters(): readonly FaultCase[] {
  const exact = (name: string, path: string): FaultCase => ({
    name,
    fault: calling({ path }),
    wanted: [oneCall({ path })],
  })
  return [
    exact("arguments with a NUL", "a\0b"),
    exact("arguments with control characters", "\u001b[31m\u0007\r\n\t\b"),
    exact("arguments with text of many languages", "größe ✓ 🙂 日本語 e\u0301 \u202e"),
    {
      name: "arguments with half a character",
      fault: calling({ $raw: '{"path":"a\\ud800b"}' }),
      wanted: [oneCall({ path: "a\ud800b" }), oneCall({ path: "a\ufffdb" }), ...noCall],
    },
  ]
}

function endings({ protocol }: Bench): readonly FaultCase[] {
  const length: ReplyOutcome = { end: "length", callCount: 0 }
  const whole: ReplyOutcome = { end: "length", calls: [{ tool: "read_file", arguments: { path: "a.txt" } }] }
  return [
    {
      name: "the limit in the middle of a call",
      fault: calling({ $raw: '{"path":"a.t' }, { end: "length" }),
      wanted: [length, malformed],
    },
    {
      name: "the limit right behind a call",
      fault: calling({ path: "a.txt" }, { end: "length" }),
      // Only where calls come in one piece is one that is there surely whole.
      wanted: protocol === "ollama" ? [length, whole] : [length],
    },
    {
      name: "calls and an ordinary stop",
      fault: { ...healthy, end: "stop" },
      wanted: [{ end: "calls", callCount: 1 }],
    },
    {
      name: "calls announced, and none there",
      fault: { ...healthy, calls: [] },
      wanted: [malformed, { end: "stop", callCount: 0 }, { end: "calls", callCount: 0 }],
    },
    {
      name: "a refusal with a call",
      fault: { ...healthy, end: "refused" },
      wanted: [malformed, { end: "refused", callCount: 0 }],
    },
  ]
}
