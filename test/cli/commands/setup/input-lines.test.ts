import { expect, test } from "bun:test"
import { inputLines } from "../../../../src/cli/commands/setup/policy.ts"

async function linesOf(...chunks: readonly (string | Uint8Array)[]): Promise<(string | null)[]> {
  async function* stream() {
    for (const chunk of chunks) yield typeof chunk === "string" ? Buffer.from(chunk) : chunk
  }
  return Array.fromAsync(inputLines(stream()))
}

test("lines come one by one, the last with or without its newline", async () => {
  expect(await linesOf("a\nb\n")).toEqual(["a", "b"])
  expect(await linesOf("a\nb")).toEqual(["a", "b"])
  expect(await linesOf()).toEqual([])
})

test("an empty line is a line", async () => {
  expect(await linesOf("\n\na\n")).toEqual(["", "", "a"])
})

test("a line that is split anywhere, also inside a character, is whole again", async () => {
  const bytes = Buffer.from("grün\nö\n")
  for (let cut = 0; cut <= bytes.length; cut++)
    expect(await linesOf(bytes.subarray(0, cut), bytes.subarray(cut))).toEqual(["grün", "ö"])
})

test("a line is not lost when its reader reuses the chunk", async () => {
  const shared = Buffer.from("ab")
  async function* stream() {
    yield shared
    shared.write("c\n")
    yield shared
  }
  expect(await Array.fromAsync(inputLines(stream()))).toEqual(["abc"])
})

test("what is not UTF-8 is null, and the lines around it are read", async () => {
  expect(await linesOf("a\n", new Uint8Array([0xff, 0x0a]), "b\n")).toEqual(["a", null, "b"])
})

test("a line over a megabyte is null, and the next one is read", async () => {
  const half = "x".repeat(600 * 1024)
  expect(await linesOf(half, half, half, "\nb\n")).toEqual([null, "b"])
  expect(await linesOf(half, half)).toEqual([null])
  expect((await linesOf(half, "\n"))[0]?.length).toBe(half.length)
})
