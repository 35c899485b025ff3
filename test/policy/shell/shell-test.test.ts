import { describe, expect, test } from "bun:test"
import { refusalOf, wordsOf } from "../policy-kit.ts"

describe("a test in brackets", () => {
  const rows: readonly (readonly [string, string[]])[] = [
    ["[ -f a ]", ["[", "-f", "a", "]"]],
    ["[ a = b ]", ["[", "a", "=", "b", "]"]],
    ["[ ! -d a ]", ["[", "!", "-d", "a", "]"]],
    ['[ "$a" != b ]', ["[", "{?}", "!=", "b", "]"]],
    ["[ -n a -a -z b ]", ["[", "-n", "a", "-a", "-z", "b", "]"]],
  ]
  test.each(rows)("%s is a command of its words", (text, words) => {
    expect(wordsOf(text)[0]).toEqual(words)
  })

  test("is read for the commands in it", () => {
    expect(wordsOf('[ "$(a)" = b ]')).toEqual([["[", "{?}", "=", "b", "]"], ["a"]])
  })

  test.each(["[ a || b ]", "[ a && b ]", "[ a | b ]", "[ a ; b ]", "[ a > b ]", "[ ( a ) ]", "[ a"])(
    "%s is several commands to a shell",
    text => {
      expect(refusalOf(text)).not.toBeNull()
    },
  )
})
