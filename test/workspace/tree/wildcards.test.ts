import { describe, expect, test } from "bun:test"
import { compileName, compilePath, matchesName, matchesPath } from "../../../src/workspace/tree/wildcards.ts"

const name = (pattern: string, text: string) => {
  const compiled = compileName(pattern)
  return compiled !== null && matchesName(compiled, text)
}
const path = (pattern: string, text: string) => {
  const compiled = compilePath(pattern)
  return compiled !== null && matchesPath(compiled, text.split("/"))
}

describe("a name matches", () => {
  const yes: [string, string][] = [
    ["a", "a"],
    ["*", ""],
    ["*", "anything"],
    ["*.ts", "a.ts"],
    ["*.ts", ".ts"],
    ["a*", "a"],
    ["a*b*c", "aXXbYYc"],
    ["a*b*c", "abbc"],
    ["?", "x"],
    ["??", "xy"],
    ["[abc]", "b"],
    ["[a-c]x", "bx"],
    ["[!a-c]", "d"],
    ["[^a-c]", "d"],
    ["[]]", "]"],
    ["[!]]", "x"],
    ["[a-]", "-"],
    ["[\\]]", "]"],
    ["[[:digit:]]x", "7x"],
    ["[[:alpha:][:digit:]]", "7"],
    ["[a\\-c]", "-"],
    ["\\*", "*"],
    ["\\a", "a"],
    ["a[*]b", "a*b"],
  ]
  for (const [pattern, text] of yes)
    test(`${pattern} on ${text}`, () => expect(name(pattern, text)).toBe(true))
})

describe("a name does not match", () => {
  const no: [string, string][] = [
    ["a", "b"],
    ["a", "aa"],
    ["*.ts", "a.tsx"],
    ["?", ""],
    ["?", "xy"],
    ["[abc]", "d"],
    ["[!abc]", "a"],
    ["[a-c]", "B"],
    ["\\*", "x"],
    ["[", "["],
    ["[a", "a"],
    ["a\\", "a"],
    ["[[:nonsense:]]", "n"],
    ["a*b*c", "aXXbYY"],
  ]
  for (const [pattern, text] of no)
    test(`${pattern} on ${text}`, () => expect(name(pattern, text)).toBe(false))
})

describe("stars over directories", () => {
  const cases: [string, string, boolean][] = [
    ["a/**", "a/b", true],
    ["a/**", "a/b/c", true],
    ["a/**", "a", false],
    ["**/a", "a", true],
    ["**/a", "x/y/a", true],
    ["**/a", "x/ab", false],
    ["a/**/b", "a/b", true],
    ["a/**/b", "a/x/y/b", true],
    ["a/**/b", "a/x/y/c", false],
    ["**/a/**/b/**", "x/a/y/b/z", true],
    ["**/a/**/b/**", "x/a/y/b", false],
    ["a/*/b", "a/x/b", true],
    ["a/*/b", "a/x/y/b", false],
    ["**", "a/b", true],
    ["a/***/b", "a/x/b", true],
    ["*/b", "a/b", true],
    ["*/b", "b", false],
  ]
  for (const [pattern, text, expected] of cases)
    test(`${pattern} on ${text}: ${expected}`, () => expect(path(pattern, text)).toBe(expected))
})

test("no pattern takes long, however many stars it has", () => {
  expect(name(`${"*a".repeat(200)}b`, "a".repeat(2000))).toBe(false)
  expect(path(`${"**/a/".repeat(100)}b`, "a/".repeat(500).slice(0, -1))).toBe(false)
})
