import { expect, test } from "bun:test"
import { beginningOf, missing, textTokens } from "../../../src/engine/context/token-estimate.ts"

const lines = Array.from({ length: 400 }, (_, at) => `line ${at}\n`).join("")

test("a text that fits is left as it is", () => {
  expect(beginningOf(lines, 1_000, () => "never")).toBe(lines)
  expect(beginningOf("", 0, () => "never")).toBe("")
})

test("a longer one is cut behind a line, says how much is missing, and keeps to its size", () => {
  const head = beginningOf(lines, 200, missing(lines, "; read on"))
  const kept = head.slice(0, head.lastIndexOf("["))
  expect(kept).toMatch(/line \d+\n$/)
  expect(lines.startsWith(kept)).toBe(true)
  expect(head).toEndWith(
    `[${lines.length - kept.length} more characters are left out to fit the context; read on]`,
  )
  expect(textTokens(head)).toBeLessThanOrEqual(200)
})

test("one long line is cut in itself, and never in half of a character", () => {
  expect(beginningOf("x".repeat(4_000), 100, () => "rest")).toBe(`${"x".repeat(280)}\n[rest]`)
  for (const tokens of [60, 61, 62, 63])
    expect(beginningOf("😀".repeat(500), tokens, () => "rest").isWellFormed()).toBe(true)
})

test("without room for anything only what is missing is said", () => {
  expect(beginningOf(lines, 10, missing(lines, ""))).toBe(
    `[${lines.length} characters are left out to fit the context]`,
  )
})
