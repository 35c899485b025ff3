import { describe, expect, test } from "bun:test"
import { commandsOf, refusalOf, unmarked } from "../policy-kit.ts"

const redirectsOf = (text: string) =>
  (commandsOf(text)[0]?.redirects ?? []).map(redirect =>
    redirect.kind === "file"
      ? `${redirect.operator} ${unmarked(redirect.target)}`
      : `text ${unmarked(redirect.body)}`,
  )

describe("a redirection", () => {
  const rows: readonly (readonly [string, string[]])[] = [
    ["a > b", ["> b"]],
    ["a >> b", [">> b"]],
    ["a >| b", [">| b"]],
    ["a < b", ["< b"]],
    ["a 2> b", ["> b"]],
    ["a 2>&1", []],
    ["a >&2", []],
    ["a <&-", []],
    ["a >&-", []],
    ["a > $b", ["> {??}"]],
    ['a > "$b/c"', ["> {?}/c"]],
    ["a > b 2> c < d", ["> b", "> c", "< d"]],
    ["a > 'b c'", ["> b c"]],
    ["a &> b", ["> b"]],
  ]
  test.each(rows)("%s", (text, expected) => {
    expect(redirectsOf(text)).toEqual(expected)
  })

  test.each(["a > b c", "a <&- b", "a -x2>&1", "a 12> b", "a <> b", "a >& b", "a >& -b", "a >&12", "a >"])(
    "%s is not read",
    text => {
      expect(refusalOf(text)).not.toBeNull()
    },
  )
})

describe("a here-document", () => {
  test("is text", () => {
    expect(redirectsOf("a <<E\nb\nE")).toEqual(["text b\n"])
    expect(redirectsOf("a <<'E'\n$(b) $c\nE")).toEqual(["text $(b) $c\n"])
    expect(redirectsOf('a <<"E"\n`b`\nE')).toEqual(["text `b`\n"])
  })

  test("with something to expand is known only when it runs", () => {
    expect(redirectsOf("a <<E\n$b\nE")).toEqual(["text {?}"])
    expect(redirectsOf("a <<E\nx \\y\nE")).toEqual(["text {?}"])
  })

  test("is read for the commands in it, unless it is quoted", () => {
    expect(commandsOf("a <<E\n$(b)\nE").map(command => command.words)).toEqual([["a"], ["b"]])
    expect(commandsOf("a <<'E'\n$(b)\nE").map(command => command.words)).toEqual([["a"]])
  })

  test("leaves the rest of its line and what follows to be read", () => {
    expect(commandsOf("a <<E | b\nx\nE\nc").map(command => command.words)).toEqual([["a"], ["b"], ["c"]])
    expect(commandsOf("a <<E && b > y\nx\nE").map(command => command.words)).toEqual([["a"], ["b"]])
  })

  test("ends where a shell ends it, or is not read", () => {
    expect(commandsOf("a <<-E\n\tx\n\tE\nb").map(command => command.words)).toEqual([["a"], ["b"]])
    for (const text of [
      "a <<E\nb",
      "a <<E <<F\nb\nE\nc\nF",
      "a <<E\\F\nb\nEF",
      "a <<$E\nb\n$E",
      "a <<'E F'\nb\nE F",
    ])
      expect(refusalOf(text)).not.toBeNull()
  })

  test("with a line that only looks like its end is not read", () => {
    for (const text of ["a <<E\n E\nb\nE", "a <<E\nE \nb\nE"]) expect(refusalOf(text)).not.toBeNull()
  })
})

test("a here-string is text as well", () => {
  expect(redirectsOf("a <<< b")).toEqual(["text b"])
  expect(redirectsOf("a <<< $b")).toEqual(["text {??}"])
})
