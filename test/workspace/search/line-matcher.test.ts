import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { compileLineMatcher } from "../../../src/workspace/search/line-matcher.ts"
import { codeOf, messageOf } from "../support.ts"

const matches = (pattern: string, line: string) => compileLineMatcher(pattern).matches(line)

describe("a pattern finds", () => {
  const found: [string, string][] = [
    ["foo", "a foo b"],
    ["^foo$", "foo"],
    ["f.o", "fxo"],
    ["fo*", "f"],
    ["fo+$", "fooo"],
    ["colou?r", "color"],
    ["a{2,3}", "baab"],
    ["^a{2,}$", "aaaa"],
    ["^(ab|cd)+$", "abcdab"],
    ["(?:x|y)z", "yz"],
    ["(?P<name>x)y", "xy"],
    ["(?<name>x)y", "xy"],
    ["(?i)HELLO", "say hello"],
    ["(?i:a)B", "AB"],
    ["[a-c]+x", "abcx"],
    ["[^a-c]x", "dx"],
    ["[]a]", "]"],
    ["[a\\]]", "]"],
    ["[\\d_]+$", "x1_2"],
    ["[[:upper:]]{3}", "xABCx"],
    ["\\bword\\b", "a word here"],
    ["\\Bord", "word"],
    ["\\d{4}-\\d{2}", "2026-11"],
    ["\\w+@\\w+\\.com", "me@example.com"],
    ["\\s$", "trailing "],
    ["\\x41\\u0042\\u{43}", "ABC"],
    ["\\p{Lu}\\p{Ll}", "Grün"],
    ["\\P{L}", "1"],
    ["^.$", "🎉"],
    ["🎉+", "🎉🎉"],
    ["a\\.b", "a.b"],
    ["x{,3}", "x{,3}"],
    ["a|", ""],
    ["\\t", "a\tb"],
    ["^$", ""],
    ["--pre=sh", "rg --pre=sh"],
    ["\\/", "a/b"],
    ["a??b", "ab"],
    ["(a*)*b", "aab"],
    ["(?i)[x-z]", "Y"],
    ["\\Aab\\z", "ab"],
  ]
  for (const [pattern, line] of found)
    test(`${pattern} in ${line}`, () => expect(matches(pattern, line)).toBe(true))
})

describe("a pattern does not find", () => {
  const missed: [string, string][] = [
    ["foo", "fo"],
    ["^foo", "a foo"],
    ["a{3}", "aa"],
    ["[^a]", "aaa"],
    ["\\bword\\b", "swords"],
    ["(?i:a)B", "Ab"],
    ["(?-i)A", "a"],
    ["^(ab|cd)+$", "abc"],
    ["\\p{Lu}", "grün"],
    ["^.$", "ab"],
    ["x$y", "xy"],
  ]
  for (const [pattern, line] of missed)
    test(`${pattern} in ${line}`, () => expect(matches(pattern, line)).toBe(false))
})

describe("a pattern that is invalid or not supported", () => {
  const wrong = [
    "(",
    ")",
    "a)",
    "[",
    "[a",
    "*a",
    "+",
    "?",
    "\\",
    "(?=a)",
    "(?!a)",
    "(?<=a)",
    "\\1",
    "a{5000}",
    "[z-a]",
  ]
  for (const pattern of [
    ...wrong,
    "(?k)a",
    "\\p{Nonsense}",
    "\\q",
    "\\x{110000}",
    "(".repeat(200),
    "((a{500}){500}){500}",
  ])
    test(pattern.slice(0, 30), () => expect(codeOf(() => compileLineMatcher(pattern))).toBe("ACODE-FS-001"))

  test("with the reason", () => {
    expect(messageOf(() => compileLineMatcher("(?=a)"))).toContain("uses lookaround")
    expect(messageOf(() => compileLineMatcher("["))).toContain("never closed")
  })
})

test("patterns that other engines choke on take no time", () => {
  const line = "a".repeat(5000)
  for (const pattern of [
    "(a+)+$b",
    "(a|a)*b",
    "(a|aa)+c",
    ".*.*.*.*=.*",
    "(.*a){20}x",
    "(a?){50}a{50}b",
    "([a-z]+)*\\d",
  ])
    expect(matches(pattern, line)).toBe(false)
}, 10_000)

test("a text that every match contains is known, where there is one", () => {
  const required = (pattern: string) => compileLineMatcher(pattern).required
  expect(required("foo")).toBe("foo")
  expect(required("^\\s*export (default )?function")).toBe("function")
  expect(required("(foo|bar)baz")).toBe("baz")
  expect(required("(?i)foo")).toBeNull()
  expect(required("a*")).toBeNull()
  expect(required("x(abc)+y")).toBe("abc")
})

test("it says the same as the engine of the language on random patterns", () => {
  const atom = fc.constantFrom(
    "a",
    "b",
    "c",
    ".",
    "[ab]",
    "[^a]",
    "\\b",
    "^",
    "$",
    "\\w",
    "(?:ab)",
    "\\B",
    "[a-c]",
  )
  const quantifier = fc.constantFrom("", "", "", "*", "+", "?", "{2}", "{1,2}", "*?")
  const sequence = fc
    .array(fc.tuple(atom, quantifier), { minLength: 1, maxLength: 5 })
    .map(parts =>
      parts.map(([part, repeat]) => (/^(\^|\$|\\b|\\B)$/.test(part) ? part : part + repeat)).join(""),
    )
  const pattern = fc.oneof(
    sequence,
    fc.tuple(sequence, sequence).map(([a, b]) => `${a}|${b}`),
    fc.tuple(sequence, sequence).map(([a, b]) => `(${a})*${b}`),
    fc.tuple(sequence, sequence).map(([a, b]) => `(?i)${a}(${b})?`),
  )
  const line = fc.string({ unit: fc.constantFrom("a", "b", "c", " ", "A", "é"), maxLength: 10 })
  fc.assert(
    fc.property(pattern, fc.array(line, { minLength: 1, maxLength: 6 }), (text, lines) => {
      const matcher = compileLineMatcher(text)
      const native = text.startsWith("(?i)") ? new RegExp(text.slice(4), "iu") : new RegExp(text, "u")
      for (const candidate of lines) {
        // `\w` knows no é in the language, and does in the dialect of ripgrep.
        if (candidate.includes("é") && /\\[wbB]/.test(text)) continue
        expect(`${text} ${candidate} ${matcher.matches(candidate)}`).toBe(
          `${text} ${candidate} ${native.test(candidate)}`,
        )
        const { required } = matcher
        if (required !== null && native.test(candidate)) expect(candidate).toContain(required)
      }
    }),
    { numRuns: 3000 },
  )
})
