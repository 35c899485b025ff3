import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { compileGlob, isLiteral } from "../../src/base/glob.ts"

const matches = (pattern: string, path: string) => compileGlob(pattern)?.matches(path)

describe("a glob", () => {
  const hits: readonly (readonly [string, string])[] = [
    ["a", "a"],
    ["*.ts", "a.ts"],
    ["*", "a"],
    ["*", ".a"],
    ["**", "a"],
    ["**", "a/b/c"],
    ["**/a", "a"],
    ["**/a", "x/y/a"],
    ["src/**", "src/a/b"],
    ["src/**", "src/a"],
    ["src/**", "src"],
    ["src/**/b.ts", "src/b.ts"],
    ["src/**/b.ts", "src/x/y/b.ts"],
    ["a?c", "abc"],
    ["[abc].ts", "b.ts"],
    ["[a-c]x", "bx"],
    ["[!a]x", "bx"],
    ["[^a]x", "bx"],
    ["{a,b}.ts", "b.ts"],
    ["{a,b}/{c,d}", "b/d"],
    ["a**b", "axyb"],
    ["**/x/**", "a/x/b"],
    ["a.b", "a.b"],
    ["(a+b)", "(a+b)"],
    ["*a*a*", "xaya"],
    ["{a,{b,c}d}.ts", "cd.ts"],
    ["{a}", "a"],
    ["[*]", "*"],
    ["a\\*", "a\\b"],
    ["😀?[😀].ts", "😀😀😀.ts"],
  ]
  test.each(hits)("%s matches %s", (pattern, path) => {
    expect(matches(pattern, path)).toBe(true)
  })

  const misses: readonly (readonly [string, string])[] = [
    ["a", "b"],
    ["a", "a/b"],
    ["*.ts", "a/b.ts"],
    ["*", "a/b"],
    ["src/**", "src2/a"],
    ["src/**", "a/src/b"],
    ["a?c", "a/c"],
    ["[abc]", "d"],
    ["[!a]", "a"],
    ["{a,b}", "c"],
    ["a.b", "axb"],
    ["**/a", "b"],
    ["a*", "ba"],
    ["A", "a"],
    ["", "a"],
    ["a/***", "a/b/c"],
    ["a\\*", "a*"],
    ["[!😀]", "😀"],
  ]
  test.each(misses)("%s does not match %s", (pattern, path) => {
    expect(matches(pattern, path)).not.toBe(true)
  })

  test("that is not well formed is none", () => {
    for (const pattern of [
      "",
      "[a",
      "{a",
      "a}",
      "{a,{b}",
      "}{a",
      `{${"a,".repeat(70)}b}`,
      `${"{a,b}".repeat(7)}`,
      "{a}".repeat(65),
      `${"{".repeat(50_000)}a${"}".repeat(50_000)}`,
    ])
      expect(compileGlob(pattern)).toBeNull()
  })

  test("takes no longer for a hostile pattern", () => {
    const pattern = `${"*a".repeat(50)}b`
    expect(matches(pattern, "a".repeat(2000))).toBe(false)
    expect(matches(`${"**/a/".repeat(30)}b`, "a/".repeat(500))).toBe(false)
  })

  test("of literal text matches that text and nothing else", () => {
    const name = fc.stringMatching(/^[a-z.]{1,8}$/)
    fc.assert(
      fc.property(
        fc.array(name, { minLength: 1, maxLength: 4 }),
        fc.array(name, { minLength: 1, maxLength: 4 }),
        (a, b) => {
          expect(matches(a.join("/"), b.join("/"))).toBe(a.join("/") === b.join("/"))
        },
      ),
    )
  })

  test("with ** before it matches the same in any directory", () => {
    const name = fc.stringMatching(/^[a-z]{1,5}$/)
    fc.assert(
      fc.property(fc.array(name, { maxLength: 5 }), name, (directories, file) => {
        expect(matches(`**/${file}`, [...directories, file].join("/"))).toBe(true)
      }),
    )
  })
})

test("text without wildcards is literal", () => {
  for (const text of ["a/b.ts", ".github/x.yml", "a b"]) expect(isLiteral(text)).toBe(true)
  for (const text of ["*", "a?", "[a]", "{a}", "!a"]) expect(isLiteral(text)).toBe(false)
})
