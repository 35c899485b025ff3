// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the syntax of shells is what it is about
import { describe, expect, test } from "bun:test"
import { assertSeparated } from "../../../src/policy/shell/expansion.ts"
import { refusalOf, wordsOf } from "../policy-kit.ts"

const firstWord = (text: string) => wordsOf(`p ${text}`)[0]?.[1]

describe("a word made of parts", () => {
  const rows: readonly (readonly [string, string])[] = [
    ["a'b'\"c\"", "abc"],
    ["''", ""],
    ['""', ""],
    ["'a b'c", "a bc"],
    ['"  a  "', "  a  "],
    ['" $x "', " {?} "],
    ['"$x$y"', "{?}{?}"],
    ["a$x", "a{??}"],
    ['a"$x"b', "a{?}b"],
    ['"a\\"b"', 'a"b'],
    ["'$x'", "$x"],
    ["'`x`'", "`x`"],
    ["\\$x", "$x"],
    ["a{b,c}", "{??}a{b,c}"],
    ["a{1..2}", "a{??}"],
    ['" ${x} $(a) "', " {?} {?} "],
    ["x\\*y*", "x*y{*}"],
    ["1", "1"],
    ["-1", "-1"],
    ["a=b", "a=b"],
    ["--x=$y", "--x={??}"],
    ['"a\nb"', "a\nb"],
    ['"$(a)b"', "{?}b"],
    ["$((1+1))", "{??}"],
  ]
  test.each(rows)("%j is %j", (text, expected) => {
    expect(firstWord(text)).toBe(expected)
  })
})

describe("commands inside words", () => {
  const rows: readonly (readonly [string, string[][]])[] = [
    ["$(a)", [["a"]]],
    ["`a`", [["a"]]],
    ['"$(a)"', [["a"]]],
    ["${x:-$(a)}", [["a"]]],
    ["$(( $(a) + 1 ))", [["a"]]],
    ["$((`a`))", [["a"]]],
    ["$(a $(b))", [["a", "{??}"], ["b"]]],
    ["x$(a)y", [["a"]]],
    ["<(a)", [["a"]]],
  ]
  test.each(rows)("%s", (text, commands) => {
    expect(wordsOf(`p ${text}`).slice(1)).toEqual(commands)
  })
})

test.each(["$'a'", '$"a"', "`a \\`b\\``", "$[1]", "${x:-$'a'}", "10#$x", "${x:-`a`}", "${x:-<(a)}"])(
  "%s is not read",
  text => {
    expect(refusalOf(`p ${text}`)).not.toBeNull()
  },
)

describe("words", () => {
  test("must be apart where they are two", () => {
    expect(() => assertSeparated("ab", 1, 1, true)).toThrow()
    expect(() => assertSeparated("a b", 1, 2, true)).not.toThrow()
    expect(() => assertSeparated("a>b", 1, 1, false)).not.toThrow()
  })

  test("have nothing between them", () => {
    expect(() => assertSeparated("a x b", 1, 4, false)).toThrow()
    expect(() => assertSeparated("ab", 2, 1, false)).toThrow()
  })
})
