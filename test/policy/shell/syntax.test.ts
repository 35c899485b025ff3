import { describe, expect, test } from "bun:test"
import { copyTree, namedChildren } from "../../../src/policy/shell/syntax.ts"
import { UnreadableScript } from "../../../src/policy/shell/word.ts"

type Foreign = Parameters<typeof copyTree>[0]

function node(
  type: string,
  startIndex: number,
  endIndex: number,
  children: Foreign[] = [],
  isNamed = true,
): Foreign {
  return { type, isNamed, startIndex, endIndex, childCount: children.length, children }
}

const token = (type: string, start: number, end: number) => node(type, start, end, [], false)

describe("a copied tree", () => {
  test("has the text of each node", () => {
    const copy = copyTree(
      node("program", 0, 3, [node("word", 0, 1), token(";", 1, 2), node("word", 2, 3)]),
      "a;b",
    )
    expect(copy.children.map(child => child.text)).toEqual(["a", ";", "b"])
    expect(namedChildren(copy).map(child => child.text)).toEqual(["a", "b"])
  })

  test("accounts for every character", () => {
    const text = "a x b"
    const skipping = node("command", 0, 5, [node("word", 0, 1), node("word", 4, 5)])
    expect(() => copyTree(skipping, text)).toThrow(UnreadableScript)
    expect(() => copyTree(node("command", 0, 5, [node("word", 0, 1)]), text)).toThrow(UnreadableScript)
    expect(() => copyTree(node("command", 0, 5, [node("word", 2, 5)]), text)).toThrow(UnreadableScript)
  })

  test("may have blanks, newlines and joined lines between", () => {
    const pair = (gap: string) =>
      node("command", 0, 2 + gap.length, [node("word", 0, 1), node("word", 1 + gap.length, 2 + gap.length)])
    for (const gap of [" ", "\t", "\n", " \\\n", ""])
      expect(() => copyTree(pair(gap), `a${gap}b`)).not.toThrow()
    for (const gap of ["\\\n", "\\ ", "#", "\u00a0"]) expect(() => copyTree(pair(gap), `a${gap}b`)).toThrow()
  })

  test("has no token that swallowed something", () => {
    expect(() => copyTree(token("$", 0, 3), "-x$")).toThrow(UnreadableScript)
    expect(() => copyTree(token('"', 0, 3), '  "')).not.toThrow()
  })

  test("leaves strings and here-documents to those who read them", () => {
    expect(() => copyTree(node("string", 0, 5, [token('"', 0, 1), token('"', 4, 5)]), '"a b"')).not.toThrow()
  })
})
