// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the syntax of shells is what it is about
import { describe, expect, test } from "bun:test"
import { bareWord, isBlank, parameter, quotedText, UnreadableScript } from "../../../src/policy/shell/word.ts"
import { unmarked } from "../policy-kit.ts"

describe("a word without quotes", () => {
  const rows: readonly (readonly [string, string])[] = [
    ["abc", "abc"],
    ["a\\bc", "abc"],
    ["a\\ b", "a b"],
    ["\\$x", "$x"],
    ["\\*", "*"],
    ["*.ts", "{*}.ts"],
    ["a?b", "a{*}b"],
    ["[ab]", "{*}ab]"],
    ["~", "{~}"],
    ["~/x", "{~}/x"],
    ["a~", "a~"],
    ["a=~", "a={?}"],
    ["a:~/b", "a:{?}/b"],
    ["\\~/x", "~/x"],
    ["a#b", "a#b"],
    ["{a,b}", "{??}{a,b}"],
    ["{1..3}", "{??}{1..3}"],
    ["{a}", "{a}"],
    ["é", "é"],
    ["--x=y", "--x=y"],
  ]
  test.each(rows)("%s is %s", (text, expected) => {
    expect(unmarked(bareWord(text, true))).toBe(expected)
  })

  test("has no tilde in the middle of a longer word", () => {
    expect(bareWord("~", false)).toBe("~")
  })

  test.each([
    "a b",
    "a;b",
    "a|b",
    "a&b",
    "a<b",
    "a>b",
    "a(b",
    "a)b",
    "a'b",
    'a"b',
    "a`b",
    "a$b",
    "#a",
    "a\\",
    "a\\\nb",
    "~root",
  ])("%j is not read", text => {
    expect(() => bareWord(text, true)).toThrow(UnreadableScript)
  })
})

describe("the text of a double-quoted string", () => {
  const rows: readonly (readonly [string, string])[] = [
    ["a b", "a b"],
    ['\\"', '"'],
    ["\\$x", "$x"],
    ["\\\\", "\\"],
    ["\\`", "`"],
    ["\\n", "\\n"],
    ["a\\\nb", "ab"],
    ["cost: 5$", "cost: 5$"],
    ["$ 5", "$ 5"],
    ["*~#", "*~#"],
  ]
  test.each(rows)("%j is %j", (text, expected) => {
    expect(quotedText(text)).toBe(expected)
  })

  test.each(["$x", "${x}", "$(x)", "`x`", 'a"b', "$1", "$@", "$'"])("%s must have been read before", text => {
    expect(() => quotedText(text)).toThrow(UnreadableScript)
  })
})

describe("a parameter", () => {
  const rows: readonly (readonly [string, boolean, string])[] = [
    ["$x", false, "{??}"],
    ["$x", true, "{?}"],
    ["${x}", true, "{?}"],
    ["$1", true, "{?}"],
    ["$*", true, "{?}"],
    ["$@", true, "{??}"],
    ["${@}", true, "{??}"],
    ["${#x}", true, "{?}"],
    ["${x:-y}", true, "{?}"],
    ["${x-y}", true, "{?}"],
    ["${x:+y}", false, "{??}"],
    ["${x:?y}", true, "{?}"],
    ["${x%.ts}", true, "{?}"],
    ["${x##*/}", true, "{?}"],
    ["$HOME", false, "{~}"],
    ["${HOME}", true, "{~}"],
    ["${HOMER}", true, "{?}"],
  ]
  test.each(rows)("%s, quoted %p, is %s", (text, quoted, expected) => {
    expect(unmarked(parameter(text, quoted))).toBe(expected)
  })

  test.each([
    "${x:=y}",
    "${x=y}",
    "${!x}",
    "${x@P}",
    "${x/a/b}",
    "${x^^}",
    "${x[0]}",
    "${x:1:2}",
    "${",
    "${}",
  ])("%s assigns, evaluates or is not the same in every shell", text => {
    expect(() => parameter(text, true)).toThrow(UnreadableScript)
  })
})

test("only blanks, and lines joined after one, separate words", () => {
  for (const gap of ["", " ", "\t ", " \\\n", " \\\n  "]) expect(isBlank(gap)).toBe(true)
  for (const gap of ["\\\n", "a", "\n", "\r", "\u00a0", " \\ "]) expect(isBlank(gap)).toBe(false)
})
