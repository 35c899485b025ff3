// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the syntax of shells is what it is about
import { describe, expect, test } from "bun:test"
import { loadShellParser } from "../../../src/policy/shell/parser.ts"
import { parser, refusalOf, wordsOf } from "../policy-kit.ts"

describe("the parser", () => {
  test("is loaded once", async () => {
    expect(await loadShellParser()).toBe(parser)
  })

  test("finds every program, wherever it hides", () => {
    expect(wordsOf("a | b && c || d; e & f")).toEqual([["a"], ["b"], ["c"], ["d"], ["e"], ["f"]])
    expect(wordsOf("if a; then b; elif c; then d; else e; fi")).toEqual([["a"], ["b"], ["c"], ["d"], ["e"]])
    expect(wordsOf("while a; do b; done; until c; do d; done")).toEqual([["a"], ["b"], ["c"], ["d"]])
    expect(wordsOf("for i in $(a); do b; done")).toEqual([[], ["a"], ["b"]])
    expect(wordsOf("case $(a) in b) c;; *) d;; esac")).toEqual([["a"], ["c"], ["d"]])
    expect(wordsOf("(a; { b; })")).toEqual([["a"], ["b"]])
    expect(wordsOf("f() { a; }; f")).toEqual([["a"], ["f"]])
    expect(wordsOf('a $(b `c` "$(d)") ${x:-$(e)} $((1 + $(f)))')).toEqual([
      ["a", "{??}", "{??}", "{??}"],
      ["b", "{??}", "{?}"],
      ["c"],
      ["d"],
      ["e"],
      ["f"],
    ])
    expect(wordsOf("x=$(a) b")).toEqual([["b"], ["a"]])
    expect(wordsOf("a > $(b)")).toEqual([["a"], ["b"]])
    expect(wordsOf("cat <<E\n$(a)\nE")).toEqual([["cat"], ["a"]])
    expect(wordsOf("! a\nb # c\nd")).toEqual([["a"], ["b"], ["d"]])
  })

  test.each(["", "   ", "\n"])("%j is empty", text => {
    expect(refusalOf(text)).toBe("it is empty")
  })

  test("does not read without end", () => {
    expect(refusalOf(`echo ${"a".repeat(20_000)}`)).toContain("longer than")
    expect(refusalOf("$(".repeat(3000))).not.toBeNull()
    expect(wordsOf(`echo ${"a ".repeat(5000)}`)[0]).toHaveLength(5001)
  })

  test.each(["a\rb", "a\u200bb", "a\u202eb", "a\u00a0b", "a\0b", "a\u001bb", "a\ue000b"])(
    "%j deceives",
    text => {
      expect(refusalOf(text)).toContain("hides its content")
    },
  )

  test.each([
    "a |",
    "a &&",
    "(a",
    "a)",
    "'a",
    '"a',
    "`a",
    "$(a",
    "if a; then b",
    "a ;; b",
    "for",
    "{ a",
    "a <<E\nb",
    "&& a",
    "| a",
  ])("%j is not complete", text => {
    expect(refusalOf(text)).not.toBeNull()
  })

  test("keeps its place between texts of other widths", () => {
    expect(wordsOf("echo 'é' ü \"日本$(ls)語\" 🎉")).toEqual([["echo", "é", "ü", "日本{?}語", "🎉"], ["ls"]])
  })

  test("gives the same answer for the same text, in any order", () => {
    const texts = ["a | b", "a 'x", "echo $(c)", "a <<E\nb\nE", "x=1"]
    const once = texts.map(text => parser.parse(text))
    expect(texts.toReversed().map(text => parser.parse(text))).toEqual(once.toReversed())
  })
})
