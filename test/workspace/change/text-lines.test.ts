import { expect, test } from "bun:test"
import fc from "fast-check"
import { JoinedLines, TextLines, usualEnd } from "../../../src/workspace/change/text-lines.ts"

const texts = fc.string({ unit: fc.constantFrom("a", "\r", "\n", "\r\n"), maxLength: 30 })
const linesOf = (text: string) => {
  const lines = new TextLines(text)
  return Array.from({ length: lines.count }, (_, index) => lines.at(index))
}

test("lines keep what ends them", () => {
  expect(linesOf("a\r\nb\n\nc")).toEqual([
    { content: "a", end: "\r\n" },
    { content: "b", end: "\n" },
    { content: "", end: "\n" },
    { content: "c", end: "" },
  ])
  expect(linesOf("")).toEqual([])
  expect(new TextLines("a").at(1)).toBeNull()
})

test("lines are those that a regular expression finds, and join to the text they were", () => {
  fc.assert(
    fc.property(texts, fc.nat(30), (text, cut) => {
      const expected = text.match(/[^\n]*\n|[^\n]+$/g) ?? []
      expect(linesOf(text).map(line => `${line?.content}${line?.end}`)).toEqual(expected)
      const lines = new TextLines(text)
      const at = Math.min(cut, lines.count)
      const joined = new JoinedLines()
      joined.add(lines.between(0, at))
      joined.add(lines.between(at, lines.count))
      expect(joined.join()).toBe(text)
      for (const [index, line] of expected.entries())
        expect(lines.isAt(index, line.replace(/\r?\n$/, "").replace(/\r$/, ""))).toBe(true)
    }),
    { numRuns: 2000 },
  )
})

test("a line in the middle that nothing ends gets the usual end", () => {
  const joined = new JoinedLines()
  joined.add("a")
  joined.add("b\r\n")
  expect(joined.join()).toBe("a\r\nb\r\n")
})

test("the usual end is the one of most lines", () => {
  expect(usualEnd("a\nb\r\nc\r\n")).toBe("\r\n")
  expect(usualEnd("a\nb\r\n")).toBe("\n")
  expect(usualEnd("")).toBe("\n")
})
