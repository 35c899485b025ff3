import { describe, expect, test } from "bun:test"
import type { Json } from "../../src/base/canonical.ts"
import { editedYaml } from "../../src/config/yaml-edit.ts"

/** The way that touches least, which is the first one offered. */
function first(text: string, path: string, value: Json): string {
  const [candidate = ""] = editedYaml(text, path.split("."), value)
  return candidate
}

describe("a value is replaced in its place", () => {
  test.each<[string, string, string, Json, string]>([
    ["behind its key", "a: 1\nb: 2\n", "a", 3, "a: 3\nb: 2\n"],
    ["before its comment", "a: 1   # one\n", "a", 3, "a: 3   # one\n"],
    ["when it is text in quotes", "a: 'x'\n", "a", "y", "a: y\n"],
    ["by text that would be read as something else", "a: x\n", "a", "true", 'a: "true"\n'],
    ["by text with a colon", "a: x\n", "a", "b: c", 'a: "b: c"\n'],
    ["by null", "a: 1\n", "a", null, "a: null\n"],
    ["when there is none", "a:\nb: 1\n", "a", 2, "a: 2\nb: 1\n"],
    ["when there is only a comment", "a: # none\n", "a", 2, "a: 2 # none\n"],
    ["in a map on one line", "a: {b: 1, c: 2}\n", "a.c", 3, "a: {b: 1, c: 3}\n"],
    ["when it is an alias", "a: &x 1\nb: *x\n", "b", 2, "a: &x 1\nb: 2\n"],
    ["when it is a block of text", "a: |\n  x\n  y\nb: 1\n", "a", "z", "a: z\nb: 1\n"],
    ["at the end of a file without newline", "a: 1", "a", 2, "a: 2"],
    ["in a deep section", "a:\n    b:\n        c: 1\n", "a.b.c", 2, "a:\n    b:\n        c: 2\n"],
  ])("%s", (_what, before, path, value, after) => {
    expect(first(before, path, value)).toBe(after)
  })
})

describe("a list is replaced in its form", () => {
  test.each<[string, string, Json, string]>([
    ["lines stay lines", "a:\n  - x\n  - y\nb: 1\n", ["z"], "a:\n  - z\nb: 1\n"],
    ["lines without indentation too", "a:\n- x\nb: 1\n", ["y", "z"], "a:\n- y\n- z\nb: 1\n"],
    ["one line stays one line", "a: [x,  y] # two\n", ["z"], 'a: ["z"] # two\n'],
    ["several lines in brackets become one", "a: [x,\n  y]\nb: 1\n", ["z"], 'a: ["z"]\nb: 1\n'],
    [
      "no entries need no lines",
      "a: # none\n  # left\n  - x\n  - y\nb: 1\n",
      [],
      "a: [] # none\n  # left\nb: 1\n",
    ],
    ["no entries at the end of a file", "a:\n- x", [], "a: []\n"],
    [
      "entries are quoted where they have to be",
      "a:\n- x\n",
      ["#y", "b: c", "*d"],
      'a:\n- "#y"\n- "b: c"\n- "*d"\n',
    ],
    ["an empty one is filled in one line", "a: []\n", ["x"], 'a: ["x"]\n'],
  ])("%s", (_what, before, value, after) => {
    expect(first(before, "a", value)).toBe(after)
  })
})

describe("a key that is missing is added", () => {
  test.each<[string, string, string, string]>([
    ["behind the last one", "a: 1\n", "b", "a: 1\nb: 9\n"],
    ["behind the last one of its section", "a:\n  b: 1\nc: 2\n", "a.d", "a:\n  b: 1\n  d: 9\nc: 2\n"],
    ["with the indentation of its section", "a:\n     b: 1\n", "a.d", "a:\n     b: 1\n     d: 9\n"],
    ["behind the comment of the last line", "a:\n  b: 1 # one\n", "a.d", "a:\n  b: 1 # one\n  d: 9\n"],
    [
      "before blank lines and comments that follow",
      "a:\n  b: 1\n\n# end\n",
      "a.d",
      "a:\n  b: 1\n  d: 9\n\n# end\n",
    ],
    ["behind a list", "a:\n  b:\n    - x\n", "a.d", "a:\n  b:\n    - x\n  d: 9\n"],
    ["with its sections", "a: 1\n", "b.c.d", "a: 1\nb:\n  c:\n    d: 9\n"],
    ["to a section without content", "a:\n  # none\nb: 1\n", "a.d", "a:\n  d: 9\n  # none\nb: 1\n"],
    ["at the end of a file without newline", "a: 1", "b", "a: 1\nb: 9"],
    ["with the line ends of the file", "a: 1\r\n", "b.c", "a: 1\r\nb:\r\n  c: 9\r\n"],
  ])("%s", (_what, before, path, after) => {
    expect(first(before, path, 9)).toBe(after)
  })

  test("to a map on one line by the parser's own way", () => {
    expect(first("a: {b: 1} # one\n", "a.c", 9)).toBe("a: { b: 1, c: 9 } # one\n")
  })

  test("nowhere when text stands where its section belongs", () => {
    expect([...editedYaml("a: text\n", ["a", "b"], 9)]).toEqual([])
  })
})

test("there is a second way for what the first one cannot do", () => {
  const [, second] = editedYaml("a: 1 # one\nb: 2\n", ["a"], 3)
  expect(second).toBe("a: 3 # one\nb: 2\n")
})

test("a byte order mark stays where it was", () => {
  expect([...editedYaml("\ufeffa: 1\r\n", ["a"], 2)]).toEqual(["\ufeffa: 2\r\n", "\ufeffa: 2\r\n"])
})
