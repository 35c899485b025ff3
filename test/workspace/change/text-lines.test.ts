import { expect, test } from "bun:test"
import fc from "fast-check"
import { joinLines, splitLines, usualEnd } from "../../../src/workspace/change/text-lines.ts"

test("lines keep what ends them", () => {
  expect(splitLines("a\r\nb\n\nc")).toEqual([
    { content: "a", end: "\r\n" },
    { content: "b", end: "\n" },
    { content: "", end: "\n" },
    { content: "c", end: "" },
  ])
  expect(splitLines("")).toEqual([])
})

test("split lines join to the text they were", () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom("a", "\r", "\n", "\r\n"), maxLength: 30 }), text => {
      expect(joinLines(splitLines(text))).toBe(text)
    }),
    { numRuns: 2000 },
  )
})

test("a line in the middle that nothing ends gets the usual end", () => {
  expect(
    joinLines([
      { content: "a", end: "" },
      { content: "b", end: "\r\n" },
    ]),
  ).toBe("a\r\nb\r\n")
})

test("the usual end is the one of most lines", () => {
  expect(usualEnd(splitLines("a\nb\r\nc\r\n"))).toBe("\r\n")
  expect(usualEnd(splitLines("a\nb\r\n"))).toBe("\n")
  expect(usualEnd([])).toBe("\n")
})
