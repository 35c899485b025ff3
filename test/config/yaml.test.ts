import { describe, expect, test } from "bun:test"
import { readYaml } from "../../src/config/yaml.ts"

describe("YAML that is read", () => {
  test("becomes plain values with the place of each of them", () => {
    const read = readYaml("a: 1\nb:\n  - x\n  -  y # note\n'c d': {e: true, f: }\n")
    if (!("tree" in read)) throw new Error(JSON.stringify(read))
    const { value, placeOf } = read.tree
    expect(JSON.stringify(value)).toBe('{"a":1,"b":["x","y"],"c d":{"e":true,"f":null}}')
    expect(placeOf(["a"], "key")).toEqual({ line: 1, column: 1 })
    expect(placeOf(["a"], "value")).toEqual({ line: 1, column: 4 })
    expect(placeOf(["b", 1], "value")).toEqual({ line: 4, column: 6 })
    expect(placeOf(["c d", "e"], "key")).toEqual({ line: 5, column: 9 })
    expect(placeOf(["b", 7, "missing"], "value")).toEqual({ line: 3, column: 3 })
    expect(placeOf(["missing"], "value")).toEqual({ line: 1, column: 1 })
  })

  test.each([
    ["", null],
    ["# only a comment\n", null],
    ["yes: no", { yes: "no" }],
    ["a: 010", { a: 10 }],
    ["a: 0x10", { a: 16 }],
    ["a: ~", { a: null }],
    ["1: x\ntrue: y\n", { "1": "x", true: "y" }],
    ["base: &b [1, 2]\nuse: *b\n", { base: [1, 2], use: [1, 2] }],
    ["a: |\n  two\n  lines\n", { a: "two\nlines\n" }],
    ['"<<": quoted', { "<<": "quoted" }],
  ])("%p reads as its plain value", (text, expected) => {
    const read = readYaml(text)
    if (!("tree" in read)) throw new Error(JSON.stringify(read))
    expect(JSON.parse(JSON.stringify(read.tree.value))).toEqual(expected)
  })

  test("a key named __proto__ is a key like any other", () => {
    const read = readYaml("__proto__: {polluted: true}\n")
    if (!("tree" in read)) throw new Error(JSON.stringify(read))
    expect(JSON.stringify(read.tree.value)).toBe('{"__proto__":{"polluted":true}}')
    expect(Object.hasOwn(Object.prototype, "polluted")).toBe(false)
  })

  test("what an alias brings in has the place of the alias", () => {
    const read = readYaml("a: &x\n  b: 1\nc: *x\n")
    if (!("tree" in read)) throw new Error(JSON.stringify(read))
    expect(read.tree.placeOf(["c", "b"], "value")).toEqual({ line: 3, column: 4 })
  })
})

describe("YAML that is refused", () => {
  test.each([
    ["an unclosed list", "a: [1, 2", 1, 9, "is not YAML"],
    ["tabs as indentation", "a:\n\tb: 1\n", 2, 1, "is not YAML: Tabs"],
    ["a map inside a line", "a: b: c\n", 1, 4, "is not YAML: Nested mappings"],
    ["an unclosed quote", 'a: "x\n', 2, 1, "is not YAML"],
    ["a second document", "a: 1\n---\nb: 2\n", 2, 1, "a second document starts here"],
    ["a duplicate key", "a: 1\nb:\n  c: 1\n  c: 2\n", 4, 3, 'the key "c" is repeated'],
    ["a custom tag", "a: !env HOME\n", 1, 9, "tags (!) are not supported"],
    ["a standard tag", "a: !!binary aGk=\n", 1, 13, "tags (!) are not supported"],
    ["a tag on a map", "a: !x\n  b: 1\n", 2, 3, "tags (!) are not supported"],
    ["a tag on a key", "!x a: 1\n", 1, 4, "tags (!) are not supported"],
    ["a merge key", "a: &a {x: 1}\nb:\n  <<: *a\n", 3, 3, "merge keys (<<) are not supported"],
    ["another YAML version", "%YAML 1.1\n---\na: yes\n", 1, 1, "directives (%YAML) are not supported"],
    ["an alias to nothing", "a: *nobody\n", 1, 4, "*nobody refers to no anchor before it"],
    ["an alias to what follows", "a: *b\nc: &b 1\n", 1, 4, "*b refers to no anchor before it"],
    ["a value that contains itself", "a: &a [*a]\n", 1, 8, "*a refers to no anchor before it"],
    ["a list as a key", "? [a]\n: 1\n", 1, 3, "a key must be plain text"],
    ["an alias as a key", "a: &k x\n*k : 1\n", 2, 1, "a key must be plain text"],
    ["a NUL byte", "a: \0\n", 1, 1, "contains a NUL byte"],
  ])("%s, at its place", (_what, text, line, column, message) => {
    const read = readYaml(text)
    if (!("problems" in read)) throw new Error("it was read")
    expect(read.problems[0]).toMatchObject({ kind: "malformed", line, column })
    expect(read.problems[0]?.message).toContain(message)
  })

  test("several mistakes are told at once", () => {
    const read = readYaml("a: 1\na: 2\nb: !x 1\nc: *none\na: 3\n")
    if (!("problems" in read)) throw new Error("it was read")
    expect(read.problems.map(({ line }) => line)).toEqual([2, 3, 4, 5])
  })

  test("foreign text in a message cannot act on a terminal", () => {
    const read = readYaml('"\\e[31m": 1\n"\\e[31m": 2\n')
    if (!("problems" in read)) throw new Error("it was read")
    expect(read.problems[0]?.message).not.toContain("\u001b")
  })
})

describe("YAML beyond the limits", () => {
  const nested = (depth: number) => `${"{a: ".repeat(depth)}1${"}".repeat(depth)}`
  const keys = (count: number) => Array.from({ length: count }, (_, index) => `k${index}: 1\n`).join("")
  const aliases = (count: number) => `a: &a 1\nb: [${"*a, ".repeat(count)}]\n`

  test.each([
    ["20 levels", nested(20)],
    ["1000 keys", keys(1000)],
    ["100 aliases", aliases(100)],
  ])("starts only after %s", (_what, text) => {
    expect(readYaml(text)).toHaveProperty("tree")
  })

  test.each([
    ["21 levels", nested(21), "nested more than 20 levels"],
    ["1001 keys", keys(1001), "more than 1000 keys"],
    ["101 aliases", aliases(101), "more than 100 aliases"],
    ["too many list entries", "- a\n".repeat(10_001), "too many values"],
    ["a thousand brackets", "[".repeat(1000), "is not YAML"],
    ["a deep balanced list", `${"[".repeat(20_000)}${"]".repeat(20_000)}`, "nested more than 20 levels"],
    ["deep compact lists", "- ".repeat(20_000), "nested more than 20 levels"],
    ["a million brackets", "[".repeat(1_000_000), "too many elements"],
    ["a million closing brackets", "]".repeat(1_000_000), "too many elements"],
    ["80 000 keys", keys(80_000), "too many elements"],
    ["a million line ends", "\n".repeat(1_000_000), "too many elements"],
    ["directives without end", "%X\n".repeat(300_000), "too many elements"],
  ])("is refused: %s", (_what, text, message) => {
    const read = readYaml(text)
    if (!("problems" in read)) throw new Error("it was read")
    expect(read.problems[0]?.message).toContain(message)
    expect(read.problems.length).toBeLessThanOrEqual(50)
  })

  test("a billion laughs in few lines are cut off", () => {
    const levels = Array.from({ length: 9 }, (_, level) =>
      level === 0 ? "l0: &l0 [lol]" : `l${level}: &l${level} [${`*l${level - 1}, `.repeat(9)}]`,
    )
    const read = readYaml(`${levels.join("\n")}\n`)
    if (!("problems" in read)) throw new Error("it was read")
    expect(read.problems).toHaveLength(1)
    expect(read.problems[0]?.kind).toBe("tooLarge")
  })
})
