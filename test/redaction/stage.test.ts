import { describe, expect, test } from "bun:test"
import { concat, editsOf } from "../../src/redaction/stage.ts"

const bytes = (text: string) => new TextEncoder().encode(text)
const text = (of: Uint8Array) => new TextDecoder().decode(of)

describe("edits", () => {
  test("put kept pieces and markers together in order", () => {
    const edits = editsOf(bytes("hello secret world"))
    edits.keep(0, 6)
    edits.add(bytes("[x]"))
    edits.keep(12, 18)
    expect(text(edits.result())).toBe("hello [x] world")
  })

  test("that keep everything give the source itself", () => {
    const source = bytes("all of it")
    const edits = editsOf(source)
    edits.keep(0, source.length)
    expect(edits.result()).toBe(source)
  })

  test("that keep one part give a view of it", () => {
    const source = bytes("all of it")
    const edits = editsOf(source)
    edits.keep(4, 6)
    expect(text(edits.result())).toBe("of")
  })

  test("may consist of a marker alone, or of nothing", () => {
    const edits = editsOf(bytes("secret"))
    edits.keep(3, 3)
    expect(edits.result().length).toBe(0)
    edits.add(bytes("[x]"))
    expect(text(edits.result())).toBe("[x]")
  })

  test("read a source that is part of a larger buffer", () => {
    const edits = editsOf(bytes("0123456789").subarray(3, 8))
    edits.keep(0, 2)
    edits.add(bytes("-"))
    edits.keep(3, 5)
    expect(text(edits.result())).toBe("34-67")
  })
})

describe("concat", () => {
  test("copies only when there is something to join", () => {
    const [one, none] = [bytes("one"), bytes("")]
    expect(concat([one])).toBe(one)
    expect(concat([none, one])).toBe(one)
    expect(concat([]).length).toBe(0)
    expect(text(concat([one, bytes(" "), bytes("two")]))).toBe("one two")
  })
})
