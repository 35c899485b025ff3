import { describe, expect, test } from "bun:test"
import type { Json } from "../../../../src/base/canonical.ts"
import { tooLongArguments, tooManyCalls } from "../../../../src/provider/limits.ts"
import { callItems, type PartialCall } from "../../../../src/provider/protocols/openai/calls.ts"

function open(id: string, name: string, text: string, ready: Json | null = null): PartialCall {
  return { index: null, id, name, arguments: text, ready }
}

function read(...calls: readonly PartialCall[]) {
  return callItems(calls, 4, false).map(item => (item.kind === "call" ? item.call : item.text))
}

describe("arguments", () => {
  test("an object is an object, whether it comes as text or ready made", () => {
    expect(read(open("a", "read", ' {"path":"x"}\n'), open("b", "read", "", { path: "y" }))).toEqual([
      { id: "a", tool: "read", arguments: { path: "x" } },
      { id: "b", tool: "read", arguments: { path: "y" } },
    ])
  })

  test("no arguments at all are those of a tool that needs none", () => {
    expect(read(open("a", "list", ""))).toEqual([{ id: "a", tool: "list", arguments: {} }])
  })

  test("what is not JSON is reported with the error of the parser, and is not a call", () => {
    const text = '{"path":"x'
    let error = ""
    try {
      JSON.parse(text)
    } catch (thrown) {
      error = (thrown as Error).message
    }
    expect(error).not.toBe("")
    expect(read(open("a", "read", text))).toEqual([
      `the arguments of the call of read are not JSON: ${error}`,
    ])
  })

  test("JSON that is not an object is a problem", () => {
    for (const text of ["[]", "1", '"{}"', "null", "true"])
      expect(read(open("a", "read", text))).toEqual([
        "the arguments of the call of read are not a JSON object",
      ])
    expect(read(open("a", "read", "", ["x"]))).toEqual([
      "the arguments of the call of read are not a JSON object",
    ])
  })

  test("arguments that must not go further are a problem", () => {
    const deep = `{"a":${"[".repeat(80)}${"]".repeat(80)}}`
    expect(read(open("a", "read", deep), open("b", "read", '{"__proto__":{}}'))).toEqual([
      "the arguments of the call of read cannot be used: one is nested more than 64 levels deep",
      "the arguments of the call of read cannot be used: one is not a usable name",
    ])
  })

  test("nesting on which a parser may overflow is a problem and no crash", () => {
    const [item] = callItems([open("a", "read", "[".repeat(900_000))], 0, false)
    expect(item?.kind).toBe("problem")
  })

  test("arguments beyond the limit are a problem, also where what is left of them is JSON", () => {
    const text = `{}${" ".repeat(1_000_000)}`
    expect(read(open("a", "read", text), open("b", "list", "{}"))).toEqual([
      tooLongArguments("read"),
      { id: "b", tool: "list", arguments: {} },
    ])
  })

  test("a call beyond the limit is a problem, and those before it are calls", () => {
    const many = Array.from({ length: 201 }, (_, index) => open(`${index}`, "read", "{}"))
    const items = callItems(many, 4, false)
    expect(items.slice(0, 200).every(({ kind }) => kind === "call")).toBe(true)
    expect(items.at(200)).toEqual({ kind: "problem", text: tooManyCalls })
  })

  test("a call without a name, and one with a novel for a name, are problems", () => {
    expect(read(open("a", "", "{}"), open("b", "x".repeat(201), "{}"))).toEqual([
      "a call names no tool",
      "a call names a tool of more than 200 characters",
    ])
  })

  test("one broken call does not take the others with it", () => {
    const items = callItems([open("a", "read", "{"), open("b", "list", "{}")], 0, false)
    expect(items.map(({ kind }) => kind)).toEqual(["problem", "call"])
  })

  test("the last call of a reply that was cut off is not made, even where its brackets are closed", () => {
    const items = callItems([open("a", "read", "{}"), open("b", "write", '{"text":"half"}')], 0, true)
    expect(items).toEqual([
      { kind: "call", call: { id: "a", tool: "read", arguments: {} } },
      { kind: "problem", text: "the reply was cut off at its limit, in the call of write" },
    ])
  })
})

describe("ids", () => {
  test("calls without one get one by reply and place", () => {
    expect(read(open("", "a", ""), open("x", "b", ""), open("", "c", ""))).toMatchObject([
      { id: "call_4_1" },
      { id: "x" },
      { id: "call_4_3" },
    ])
  })

  test("reading the same reply again gives the same ids", () => {
    const calls = [open("", "a", ""), open("", "a", "")]
    expect(read(...calls)).toEqual(read(...calls))
  })

  test("an id that was there before is replaced, as results are matched by it", () => {
    expect(read(open("x", "a", ""), open("x", "b", ""))).toMatchObject([{ id: "x" }, { id: "call_4_2" }])
  })

  test("a server's id that looks like ours does not make two the same", () => {
    expect(read(open("call_4_2", "a", ""), open("", "b", ""))).toMatchObject([
      { id: "call_4_2" },
      { id: "call_4_2_" },
    ])
  })

  test("an id of any length is not kept", () => {
    expect(read(open("x".repeat(201), "a", ""))).toMatchObject([{ id: "call_4_1" }])
  })
})
