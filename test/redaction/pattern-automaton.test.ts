import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { createAutomaton } from "../../src/redaction/pattern-automaton.ts"
import { parseRedactionPattern } from "../../src/redaction/pattern-syntax.ts"

function automataOf(source: string) {
  const pattern = parseRedactionPattern(source)
  return {
    search: createAutomaton(pattern, { isReversed: false, isUnanchored: true }),
    back: createAutomaton(pattern, { isReversed: true, isUnanchored: false }),
    forth: createAutomaton(pattern, { isReversed: false, isUnanchored: false }),
  }
}

/** The first match by its end, from its earliest beginning, as long as it can be. */
function match(source: string, text: string): string | null {
  const { search, back, forth } = automataOf(source)
  const bytes = Buffer.from(text, "latin1")
  const found = search.run(bytes, 0, bytes.length, "first")
  if (found < 0) return null
  const start = back.run(bytes, found, 0, "longest")
  return text.slice(start, forth.run(bytes, start, bytes.length, "longest"))
}

describe("matching", () => {
  test.each([
    ["abc", "xxabcxx", "abc"],
    ["a+", "xaaax", "aaa"],
    ["a{2,3}", "xaaaax", "aaa"],
    ["a{2}", "xaaaax", "aa"],
    ["ab?c", "xacx", "ac"],
    ["(cat|dog)s?", "two dogs", "dogs"],
    ["[0-9]{3}-[0-9]{2,}", "call 123-4567 now", "123-4567"],
    ["^abc", "abcabc", "abc"],
    ["abc$", "abcabc", "abc"],
    [String.raw`\bcat\b`, "concat cat", "cat"],
    [String.raw`\Bcat`, "cat concat", "cat"],
    [".*x", "abxcx", "abxcx"],
    ["(?i)secret", "a SeCrEt", "SeCrEt"],
    ["a|ab|abc", "xabcd", "abc"],
    ["(ab){2,}", "ababab", "ababab"],
  ])("%s in %p", (source, text, expected) => {
    expect(match(source, text)).toBe(expected)
  })

  test.each([
    ["^abc", "xabc"],
    ["abc$", "abcx"],
    [String.raw`\bcat\b`, "concatenate"],
    ["a{3}", "aa"],
    ["a.c", "a\nc"],
    ["[^a]b", "a\nb"],
  ])("%s is not in %p", (source, text) => {
    expect(match(source, text)).toBeNull()
  })

  test("lines begin and end at line ends, not only at the ends of the text", () => {
    expect(match("^b$", "a\nb\nc")).toBe("b")
  })
})

test("it agrees with the engine of the language about whether there is a match, and where it begins", () => {
  const sources = [
    "a+b",
    "(a|b)c*",
    "[ab]{2,4}c",
    "ab?a",
    String.raw`\ba+\b`,
    "^a.b",
    "(ab|a)(c|bc)",
    "a.{0,3}c$",
  ]
  const text = fc.string({ unit: fc.constantFrom("a", "b", "c", " "), maxLength: 14 })
  const property = fc.property(fc.constantFrom(...sources), text, (source, input) => {
    expect(match(source, input) !== null).toBe(new RegExp(source, "m").test(input))
  })
  fc.assert(property, { numRuns: 500 })
})

test("a pattern with more states than are remembered still matches", () => {
  const source = "(a|b)*a(a|b){11}"
  const text = "ab".repeat(700)
  const bytes = Buffer.from(`${text}c`)
  const { forth } = automataOf(source)
  expect(forth.run(bytes, 0, bytes.length, "longest")).toBe(bytes.length - 1)
  const random = Buffer.from(Array.from({ length: 4000 }, (_, index) => ((index * index) % 7 < 3 ? 97 : 98)))
  expect(forth.run(random, 0, random.length, "longest")).toBeGreaterThan(0)
})

test("a pattern that would need too much memory is refused", () => {
  const pattern = parseRedactionPattern("((a{100}){100}){100}")
  expect(() => createAutomaton(pattern, { isReversed: false, isUnanchored: false })).toThrow("too large")
})
