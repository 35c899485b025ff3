// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the syntax of shells is what it is about
import { describe, expect, test } from "bun:test"
import { commandsOf, parser, refusalOf, unmarked, wordsOf } from "../policy-kit.ts"

const fedBy = (text: string) => commandsOf(text).map(command => command.fedBy)

describe("a command", () => {
  test("has its words, assignments and redirections", () => {
    expect(commandsOf("A=1 b c >d <e 2>&1")).toEqual([
      {
        words: ["b", "c"],
        assignments: [{ name: "A", value: "1" }],
        redirects: [
          { kind: "file", operator: ">", target: "d" },
          { kind: "file", operator: "<", target: "e" },
        ],
        fedBy: [],
        functions: [],
        repeated: false,
      },
    ])
  })

  test("may be assignments alone, or redirections alone", () => {
    expect(commandsOf("A=1 B=2")[0]).toMatchObject({ words: [], assignments: [{ name: "A" }, { name: "B" }] })
    expect(commandsOf("> a")[0]).toMatchObject({ words: [], redirects: [{ target: "a" }] })
  })

  test("that declares variables shows them both ways", () => {
    expect(commandsOf("export A=1 B")[0]).toMatchObject({
      words: ["export", "A=1", "B"],
      assignments: [{ name: "A", value: "1" }],
    })
    expect(wordsOf("unset a b")).toEqual([["unset", "a", "b"]])
  })

  test("knows who writes its input", () => {
    expect(fedBy("a | b | c")).toEqual([[], [0], [0, 1]])
    expect(fedBy("a; b | c")).toEqual([[], [], [1]])
    expect(fedBy("(a; b) | { c; d; }")).toEqual([[], [], [0, 1], [0, 1]])
    expect(fedBy("a | while read x; do b; done")).toEqual([[], [0], [0]])
    expect(fedBy("a | b $(c)")).toEqual([[], [0], []])
    expect(fedBy("cat <<E | b\nx\nE")).toEqual([[], [0]])
  })

  test("knows whether it may run more than once, and in which functions", () => {
    const repeated = (text: string) => commandsOf(text).map(command => command.repeated)
    expect(repeated("a; while b; do c; done; d")).toEqual([false, true, true, false])
    expect(repeated("for i in x; do a; done")).toEqual([true, true])
    expect(commandsOf("f() { a; g() { b; }; }")).toMatchObject([
      { functions: ["f"] },
      { functions: ["f", "g"] },
    ])
  })
})

describe("the redirections of a group", () => {
  test("hold for each command in it", () => {
    const redirects = commandsOf("{ a; b; } > c").map(command => command.redirects)
    expect(redirects).toEqual([
      [{ kind: "file", operator: ">", target: "c" }],
      [{ kind: "file", operator: ">", target: "c" }],
    ])
  })

  test("of a list are given to all of it rather than to none", () => {
    for (const command of commandsOf("a && b > c")) expect(command.redirects).toHaveLength(1)
  })
})

describe("functions", () => {
  const functionsOf = (text: string) => {
    const parsed = parser.parse(text)
    return parsed.readable ? { sure: parsed.functions, all: parsed.functionNames } : null
  }

  test("count from where they are surely defined", () => {
    expect(functionsOf("a; f() { b; }; f")).toEqual({ sure: [{ name: "f", before: 2 }], all: ["f"] })
  })

  test("count for nothing where that depends on something", () => {
    for (const text of [
      "(f() { a; }); f",
      "x && f() { a; }",
      "if a; then f() { b; }; fi",
      "g() { f() { a; }; }",
    ])
      expect(functionsOf(text)?.sure.map(({ name }) => name)).not.toContain("f")
    expect(functionsOf("(f() { a; }); f")?.all).toEqual(["f"])
  })
})

describe("a loop", () => {
  test("assigns its variable", () => {
    expect(commandsOf("for PATH in . x; do a; done")[0]?.assignments.map(({ name }) => name)).toEqual([
      "PATH",
    ])
  })
})

describe("what only bash has", () => {
  const bashOnly = (text: string) => {
    const parsed = parser.parse(text)
    return parsed.readable ? parsed.bashOnly : "unreadable"
  }
  const rows: readonly (readonly [string, string])[] = [
    ["a |& b", "|&"],
    ["a &> b", "&>"],
    ["a <<< b", "<<<"],
    ["[[ a ]]", "[[…]]"],
    ["a <(b)", "process substitution"],
    ["function f { a; }", "the word function"],
    ["select x in a; do b; done", "select"],
    ["a=(1 2)", "arrays and +="],
    ["a+=1", "arrays and +="],
  ]
  test.each(rows)("%s is said to be so", (text, construct) => {
    expect(bashOnly(text)).toBe(construct)
  })

  test("is read for its programs all the same", () => {
    expect(wordsOf("a <(b) >(c)")).toEqual([["a", "{?}", "{?}"], ["b"], ["c"]])
    expect(wordsOf("[[ $(a) ]] && b")).toEqual([["[", "{?}"], ["a"], ["b"]])
  })

  test("is nothing that POSIX has", () => {
    for (const text of [
      "a | b",
      "a 2>&1",
      "[ -f a ]",
      "a $(b)",
      "a `b`",
      "f() { a; }",
      "a <<E\nb\nE",
      "a $((1))",
    ])
      expect(bashOnly(text)).toBeNull()
  })
})

describe("what the grammar gets wrong is not read", () => {
  const rows: readonly (readonly [string, string])[] = [
    ["a test that is two commands", "[ a || rm -rf / ]"],
    ["an argument taken for a second target", "echo > x b"],
    ["an argument taken for a target of nothing", "echo <&- b"],
    ["an argument taken for a descriptor", "p -x2>&1"],
    ["two digits, which dash takes for an argument", "p 12>o"],
    ["text swallowed by a token", "q -x$"],
    ["text swallowed by a here-document", "q -<<E\n\nE\nb"],
    ["an escaped blank before a newline", "q \\ \nb"],
    ["an escaped blank before a pipe", "q \\ | b"],
    ["a word that goes on in the next line", "echo a\\\nb"],
    ["a case ending outside a case", "ls ;; ls"],
  ]
  test.each(rows)("%s", (_, text) => {
    expect(refusalOf(text)).not.toBeNull()
  })

  test("quotes and expansions with a meaning of their own", () => {
    for (const text of [
      "a $'b'",
      'a $"b"',
      "a ${b@P}",
      "a ${!b}",
      "a ~root/b",
      "a `b \\`c\\``",
      "a $[1]",
      "((1))",
      "a $(<b)",
    ])
      expect(refusalOf(text)).not.toBeNull()
  })

  test("but a pattern is, with the commands in it", () => {
    expect(refusalOf("case a in b*) c;; esac")).toBeNull()
    expect(wordsOf("case a in `b`*) c;; esac")).toEqual([["b"], ["c"]])
  })
})

test("marks are where the parts stand", () => {
  expect(commandsOf('a "x $y z" $w ~/b *.c')[0]?.words.map(unmarked)).toEqual([
    "a",
    "x {?} z",
    "{??}",
    "{~}/b",
    "{*}.c",
  ])
})
