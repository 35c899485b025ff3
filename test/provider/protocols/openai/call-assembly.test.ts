import { describe, expect, test } from "bun:test"
import type { Json } from "../../../../src/base/canonical.ts"
import { type PartialCall, takePieces, takeWhole } from "../../../../src/provider/protocols/openai/calls.ts"
import { piece } from "./openai-kit.ts"

/** Each list is what one chunk brings. */
function assembled(...chunks: readonly (readonly Json[])[]): readonly (readonly string[])[] {
  const calls: PartialCall[] = []
  for (const chunk of chunks) takePieces(calls, chunk)
  return calls.map(({ id, name, arguments: text }) => [id, name, text])
}

describe("calls in pieces", () => {
  test("arguments are put together by index, also when two calls alternate", () => {
    expect(
      assembled(
        [piece({ index: 0, id: "a", name: "read", args: "" })],
        [piece({ index: 1, id: "b", name: "list", args: '{"at"' })],
        [piece({ index: 0, args: '{"path":' })],
        [piece({ index: 1, args: ':"."}' })],
        [piece({ index: 0, args: '"x"}' })],
      ),
    ).toEqual([
      ["a", "read", '{"path":"x"}'],
      ["b", "list", '{"at":"."}'],
    ])
  })

  test("a name and an id that come again with each piece are one call", () => {
    expect(
      assembled(
        [piece({ index: 0, id: "a", name: "read", args: '{"p' })],
        [piece({ index: 0, id: "a", name: "read", args: '":1' })],
        [piece({ index: 0, id: "a", name: "read", args: "}" })],
        [piece({ index: 0, id: "a", name: "read", args: "" })],
      ),
    ).toEqual([["a", "read", '{"p":1}']])
  })

  test("an id that is new with each piece does not make new calls", () => {
    expect(
      assembled(
        [piece({ index: 0, id: "a", name: "read", args: "" })],
        [piece({ index: 0, id: "b", args: '{"p":' })],
        [piece({ index: 0, id: "c", name: "read", args: "1}" })],
      ),
    ).toEqual([["a", "read", '{"p":1}']])
  })

  test("whole calls that all have the index 0 are distinguished by their ids", () => {
    expect(
      assembled(
        [piece({ index: 0, id: "a", name: "read", args: '{"p":1}' })],
        [piece({ index: 0, id: "b", name: "read", args: '{"p":2}' })],
        [piece({ index: 0, id: "c", name: "list", args: "" })],
        [piece({ index: 0, id: "d", name: "list", args: "{}" })],
      ),
    ).toEqual([
      ["a", "read", '{"p":1}'],
      ["b", "read", '{"p":2}'],
      ["c", "list", ""],
      ["d", "list", "{}"],
    ])
  })

  test("whole calls without index and id are distinguished by being whole", () => {
    expect(
      assembled([piece({ name: "read", args: '{"p":1}' })], [piece({ name: "read", args: '{"p":2}' })]),
    ).toEqual([
      ["", "read", '{"p":1}'],
      ["", "read", '{"p":2}'],
    ])
  })

  test("calls without an index in one chunk are different calls", () => {
    expect(assembled([piece({ name: "a", args: "" }), piece({ name: "a", args: "" })])).toEqual([
      ["", "a", ""],
      ["", "a", ""],
    ])
  })

  test("pieces without an index go to the call with their id, or else to the last one", () => {
    expect(
      assembled(
        [piece({ id: "a", name: "read", args: '{"p"' })],
        [piece({ id: "b", name: "list", args: "{" })],
        [piece({ id: "a", args: ":1}" })],
        [piece({ args: "}" })],
      ),
    ).toEqual([
      ["a", "read", '{"p":1}'],
      ["b", "list", "{}"],
    ])
  })

  test("a null index is none", () => {
    expect(
      assembled(
        [piece({ index: null, id: "a", name: "read", args: "{" })],
        [piece({ index: null, args: "}" })],
      ),
    ).toEqual([["a", "read", "{}"]])
  })

  test("the name may come after the first arguments, and the id after the name", () => {
    expect(
      assembled(
        [piece({ index: 0, args: '{"p"' })],
        [piece({ index: 0, name: "read", args: ":1" })],
        [piece({ index: 0, id: "a", name: "", args: "}" })],
      ),
    ).toEqual([["a", "read", '{"p":1}']])
  })

  test("a name in pieces is put together, and one that grows is taken as it is last", () => {
    expect(
      assembled(
        [piece({ index: 0, id: "a", name: "read_" })],
        [piece({ index: 0, name: "file", args: "{}" })],
      ),
    ).toEqual([["a", "read_file", "{}"]])
    expect(assembled([piece({ index: 0, name: "read_" })], [piece({ index: 0, name: "read_file" })])).toEqual(
      [["", "read_file", ""]],
    )
  })

  test("a whole call that is repeated at the end is one call", () => {
    expect(
      assembled(
        [piece({ index: 0, id: "a", name: "read", args: '{"p":1}' })],
        [piece({ index: 0, id: "a", name: "read", args: '{"p":1}' })],
      ),
    ).toEqual([["a", "read", '{"p":1}']])
  })
})

describe("bounds and nonsense", () => {
  test("of more than 200 calls one more is kept, which takes what belongs to no other", () => {
    const calls: PartialCall[] = []
    const many = Array.from({ length: 200 }, (_, index) => piece({ index, id: `${index}`, name: "a" }))
    takePieces(calls, many)
    for (const index of [200, 201, 202]) takePieces(calls, [piece({ index, name: "b", args: "{}" })])
    takePieces(calls, [piece({ index: 199, args: '{"p":1}' })])
    takePieces(calls, [piece({ args: "{}" })])
    expect(calls).toHaveLength(201)
    expect(calls.at(199)).toMatchObject({ name: "a", arguments: '{"p":1}' })
    expect(calls.at(200)).toMatchObject({ name: "b", arguments: "{}" })
  })

  test("of arguments that never end one character too many is kept, whether in one piece or many", () => {
    const calls: PartialCall[] = []
    for (let count = 0; count < 10; count++)
      takePieces(calls, [piece({ index: 0, name: "a", args: "x".repeat(600_000) })])
    takePieces(calls, [piece({ index: 1, name: "b", args: "x".repeat(3_000_000) })])
    takePieces(calls, [piece({ index: 2, name: "c", args: "{}" })])
    expect(calls.map(({ name, arguments: text }) => [name, text.length])).toEqual([
      ["a", 1_000_001],
      ["b", 1_000_001],
      ["c", 2],
    ])
  })

  test("a call that is not a function call cannot be used", () => {
    for (const nonsense of [null, 1, "read", [], {}, { function: "read" }, { function: null }])
      expect(() => takePieces([], [nonsense])).toThrow("not a function call")
  })

  test("calls of a whole reply are never put together", () => {
    const calls: PartialCall[] = []
    takeWhole(calls, [
      piece({ index: 0, id: "a", name: "read", args: "{" }),
      piece({ index: 0, id: "a", name: "read", args: "}" }),
    ])
    expect(calls.map(({ arguments: text }) => text)).toEqual(["{", "}"])
  })
})
