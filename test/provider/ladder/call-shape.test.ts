import { describe, expect, test } from "bun:test"
import type { Json } from "../../../src/base/canonical.ts"
import { callsOf } from "../../../src/provider/ladder/call-shape.ts"
import { nested } from "../provider-kit.ts"
import { offered } from "./ladder-kit.ts"

const read = { tool: "read_file", arguments: { path: "a" } }

describe("a value that stands for a call", () => {
  const spellings: readonly Json[] = [
    { tool: "read_file", arguments: { path: "a" } },
    { name: "read_file", arguments: { path: "a" } },
    { function: "read_file", args: { path: "a" } },
    { name: "read_file", parameters: { path: "a" } },
    { name: "read_file", input: { path: "a" }, type: "tool_use", id: "toolu_1" },
    { name: "read_file", arguments: '{"path":"a"}' },
    { name: "read_file", arguments: ' {"path":"a"}\n' },
    { type: "function", function: { name: "read_file", arguments: '{"path":"a"}' } },
    {
      tool_calls: [{ id: "1", type: "function", function: { name: "read_file", arguments: { path: "a" } } }],
    },
    { tool: "read_file", name: "read_file", arguments: { path: "a" }, args: { path: "a" } },
    [{ name: "read_file", arguments: { path: "a" } }],
  ]
  test.each(spellings.map(value => [JSON.stringify(value)]))("%s", json => {
    expect(callsOf(JSON.parse(json), offered)).toEqual({ kind: "calls", calls: [read] })
  })

  test("may stand for several, in their order", () => {
    const write = { tool: "write_file", arguments: { path: "b", content: "" } }
    expect(callsOf([read, write, read], offered)).toEqual({ kind: "calls", calls: [read, write, read] })
  })

  test("may have no arguments to give", () => {
    expect(callsOf({ tool: "read_file", arguments: {} }, offered)).toMatchObject({ kind: "calls" })
  })
})

describe("a value about something else is neither a call nor a problem", () => {
  const others: readonly Json[] = [
    ...[null, 1, "read_file", true, [], {}, [1, 2], [[read]], { goal: "x" }],
    { name: "acode", version: "1" },
    { name: "Bob" },
    { name: 5, arguments: {} },
    { tool_calls: [] },
  ]
  test.each(others.map(value => [JSON.stringify(value)]))("%s", json => {
    expect(callsOf(JSON.parse(json), offered)).toEqual({ kind: "none" })
  })
})

describe("a call that is doubtful is reported and not made", () => {
  const doubts: readonly (readonly [value: Json, problem: string])[] = [
    [{ name: "Skill", arguments: {} }, '"Skill" is not offered; offered are read_file, write_file'],
    [{ name: "toString", arguments: {} }, '"toString" is not offered; offered are read_file, write_file'],
    [{ tool: "read_file" }, 'the call of "read_file" has no arguments'],
    [
      { tool: "read_file", name: "write_file", arguments: {} },
      'a call names both "read_file" and "write_file"',
    ],
    [
      { tool: "read_file", arguments: { path: "a" }, input: { path: "b" } },
      'the call of "read_file" has arguments under two names, and they differ',
    ],
    [{ tool: "read_file", arguments: ["a"] }, 'the arguments of "read_file" are not a JSON object'],
    [{ tool: "read_file", arguments: null }, 'the arguments of "read_file" are not a JSON object'],
    [
      { tool: "read_file", arguments: "{path}" },
      'the arguments of "read_file" cannot be read: line 1, column 2: expected a name in double quotes and found "path}"',
    ],
    [
      { tool: "read_file", arguments: "{} {}" },
      'the arguments of "read_file" cannot be read: the JSON is followed by other text',
    ],
    [
      { name: "read_file", description: "Reads.", parameters: { type: "object", properties: {} } },
      'the arguments of "read_file" are a description of arguments',
    ],
    [
      { tool: "read_file", arguments: { path: nested(70) } },
      'the arguments of "read_file" cannot be used: one is nested more than 64 levels deep',
    ],
    [[read, { a: 1 }], "the list of calls contains something else"],
    [[read, { name: "Skill", input: {} }], '"Skill" is not offered; offered are read_file, write_file'],
  ]
  test.each(doubts.map(([value, problem]) => [JSON.stringify(value).slice(0, 60), value, problem] as const))(
    "%s",
    (_, value, problem) => {
      expect(callsOf(value, offered)).toEqual({ kind: "problem", problem })
    },
  )

  test("and a name of another prototype is one", () => {
    const value = JSON.parse('{"tool":"read_file","arguments":{"__proto__":{"path":"a"}}}')
    expect(callsOf(value, offered)).toMatchObject({ kind: "problem" })
  })
})
