import { describe, expect, test } from "bun:test"
import { type Key, KeyReader } from "../../../src/cli/terminal/keyboard.ts"

function keysOf(...chunks: readonly (string | Uint8Array)[]): readonly Key[] {
  const reader = new KeyReader()
  return chunks.flatMap(chunk => reader.push(typeof chunk === "string" ? Buffer.from(chunk) : chunk))
}

const character = (text: string): Key => ({ kind: "character", text })
const other: Key = { kind: "other" }

describe("keys", () => {
  test("are characters, one at a time", () => {
    expect(keysOf("a", "?", "D")).toEqual([character("a"), character("?"), character("D")])
  })

  test("of other scripts are whole, also when their bytes come apart", () => {
    expect(keysOf("ä", "あ", "😀")).toEqual([character("ä"), character("あ"), character("😀")])
    const bytes = Buffer.from("あ")
    expect(keysOf(bytes.subarray(0, 1), bytes.subarray(1))).toEqual([character("あ")])
  })

  test.each(["\u0003", "\u0004", "aaa\u0003", "\u001b[\u0003"])("%j interrupts", bytes => {
    expect(keysOf(bytes)).toEqual([{ kind: "interrupt" }])
  })

  test.each([
    ["the arrow up", "\u001b[A"],
    ["the arrow down of application mode", "\u001bOB"],
    ["a function key", "\u001b[15~"],
    ["a mouse click", "\u001b[<0;12;5M"],
    ["an answer of the terminal", "\u001b]11;rgb:aaaa/dddd/aaaa\u0007"],
    ["the same, ended another way", "\u001bP1+r616161\u001b\\"],
    ["Alt and a letter", "\u001ba"],
  ])("%s is one thing and no answer", (_name, bytes) => {
    expect(keysOf(bytes)).toEqual([other])
  })

  test("a sequence in pieces is still no answer, and the key after it is one", () => {
    expect(keysOf("\u001b", "[", "A")).toEqual([other])
    expect(keysOf("\u001b[", "A", "d")).toEqual([other, character("d")])
    expect(keysOf("\u001b]11;a", "aa", "\u0007", "d")).toEqual([other, character("d")])
  })

  test("several characters at once are a paste and no answer", () => {
    expect(keysOf("approve everything")).toEqual([other])
    expect(keysOf("a\r")).toEqual([other])
    expect(keysOf("a\u001b[A")).toEqual([other])
  })

  test("bytes that are no text are no answer", () => {
    expect(keysOf(Uint8Array.of(0xff))).toEqual([character("\ufffd")])
  })

  test("nothing is nothing", () => {
    expect(keysOf("")).toEqual([])
  })
})
