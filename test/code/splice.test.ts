import { describe, expect, test } from "bun:test"
import type { Splice, SpliceRequest } from "../../src/code/contract.ts"
import { createCodeParser, usualLimits } from "../../src/code/parser.ts"
import { createSplicer } from "../../src/code/splice.ts"

const splice = createSplicer(createCodeParser(usualLimits), usualLimits)

interface Wanted {
  readonly symbol: string
  readonly with: string
  readonly kind?: SpliceRequest["kind"]
}

function spliced(path: string, content: string | Uint8Array, wanted: Wanted): Promise<Splice> {
  const { symbol, with: replacement, kind = null } = wanted
  return splice({ path, bytes: Buffer.from(content), symbol, kind, replacement })
}

async function textOf(path: string, content: string, wanted: Wanted): Promise<string> {
  const result = await spliced(path, content, wanted)
  if (result.kind !== "spliced") throw new Error(JSON.stringify(result))
  return Buffer.from(result.bytes).toString()
}

describe("a splice", () => {
  const languages: readonly (readonly [path: string, symbol: string, old: string, fresh: string])[] = [
    [
      "a.ts",
      "f",
      "export function f(): number {\n  return 1\n}",
      "export function f(): number {\n  return 2\n}",
    ],
    ["a.tsx", "F", "const F = () => <b>1</b>", "const F = () => <i>2</i>"],
    ["a.js", "f", "async function f() { return 1 }", "async function f() {\n  return 2\n}"],
    ["a.py", "f", "@cache\ndef f():\n    return 1", "def f():\n    return 2"],
    ["a.rs", "f", "pub fn f() -> u8 { 1 }", "pub fn f() -> u8 { 2 }"],
    ["a.go", "F", "func F() int { return 1 }", "func F() int {\n\treturn 2\n}"],
    [
      "A.java",
      "A",
      "class A { int f() { return 1; } }",
      "class A { int f() { return 2; } int g() { return 3; } }",
    ],
    [
      "a.cpp",
      "f",
      "template <class T> T f(T x) { return x; }",
      "template <class T> T f(T x) { return x + 1; }",
    ],
    ["a.h", "f", "static int f(void) { return 1; }", "static int f(void) { return 2; }"],
    ["A.cs", "A", "class A { int F() => 1; }", "class A { int F() => 2; }"],
    ["a.rb", "f", "def f\n  1\nend", "def f\n  2\nend"],
    ["a.sh", "f", "f() { echo 1; }", "f() { echo 2; }"],
    ["a.json", "f", '"f": 1', '"f": [2]'],
    ["a.yaml", "f", "f: 1", "f:\n  - 2"],
  ]

  test.each(languages)("of %s replaces exactly the text of %s", async (path, symbol, old, fresh) => {
    const [before, after] = /json/.test(path)
      ? ["{ ", ',\n "z": 0 }\n']
      : /go$/.test(path)
        ? ["package a\n\n", "\n"]
        : ["\n", "\n\n"]
    expect(await textOf(path, before + old + after, { symbol, with: `\n${fresh}\n\n` })).toBe(
      before + fresh + after,
    )
  })

  test("keeps the comments above, unless the new text has its own", async () => {
    const file = "// licence\n\n/** Old. */\nfunction f() {}\n/** G. */\nfunction g() {}\n"
    expect(await textOf("a.ts", file, { symbol: "f", with: "function f() { g() }" })).toBe(
      file.replace("function f() {}", "function f() { g() }"),
    )
    expect(await textOf("a.ts", file, { symbol: "f", with: "/** New. */\nfunction f() { g() }" })).toBe(
      file.replace("/** Old. */\nfunction f() {}", "/** New. */\nfunction f() { g() }"),
    )
    expect(await textOf("a.ts", file, { symbol: "f", with: "// why\nfunction f() {}" })).toBe(
      file.replace("function f() {}", "// why\nfunction f() {}"),
    )
    const plain = "// licence\nfunction f() {}\n"
    expect(await textOf("a.ts", plain, { symbol: "f", with: "/** New. */\nfunction f() {}" })).toBe(
      "// licence\n/** New. */\nfunction f() {}\n",
    )
    const script = "#!/bin/sh\nf() { :; }\n"
    expect(await textOf("a", script, { symbol: "f", with: "# New.\nf() { true; }" })).toBe(
      "#!/bin/sh\n# New.\nf() { true; }\n",
    )
  })

  test("keeps the attributes of Rust, unless the new text has its own", async () => {
    const file = "/// Old.\n#[inline]\n#[must_use]\nfn f() -> u8 { 1 }\n"
    const fresh = "fn f() -> u8 { 2 }"
    expect(await textOf("a.rs", file, { symbol: "f", with: fresh })).toBe(
      `/// Old.\n#[inline]\n#[must_use]\n${fresh}\n`,
    )
    expect(await textOf("a.rs", file, { symbol: "f", with: `#[cold]\n${fresh}` })).toBe(
      `/// Old.\n#[cold]\n${fresh}\n`,
    )
    expect(
      await textOf("a.rs", file, { symbol: "f", with: `/// New.\n#[cfg(any(a, b[1]))]\n${fresh}` }),
    ).toBe(`/// New.\n#[cfg(any(a, b[1]))]\n${fresh}\n`)
  })

  test("keeps the byte order mark, the line ends and the indentation of the file", async () => {
    const file = "\ufeff// ü 🎉\r\nclass A {\r\n\tm() {\r\n\t\treturn 1\r\n\t}\r\n}\r\n"
    const expected = file.replace("return 1", "const text = `\r\n  kept`\r\n\r\n\t\treturn text")
    const fresh = "\ufeffm() {\n\tconst text = `\n  kept`\n\n\treturn text\n}\n"
    expect(await textOf("a.ts", file, { symbol: "A.m", with: fresh })).toBe(expected)
    expect(await textOf("a.ts", file, { symbol: "m", with: fresh.replaceAll("\n", "\r\n") })).toBe(expected)
    const cut = "m() {\n\t\treturn 2\n\t}"
    expect(await textOf("a.ts", file, { symbol: "m", with: cut })).toBe(file.replace("return 1", "return 2"))
    const python = "class A:\n    def f(self):\n        return 1\n"
    for (const text of [
      "def f(self):\n    return 2",
      "  def f(self):\n      return 2",
      "def f(self):\n        return 2",
    ])
      expect(await textOf("a.py", python, { symbol: "f", with: text })).toBe(python.replace("1", "2"))
  })

  test("finds a symbol by its container or kind, and refuses to choose", async () => {
    const file =
      "class A { m() {} }\nclass B { m() {} }\nfunction over(a: string): void\nfunction over(a: any) {}\n"
    expect(await textOf("a.ts", file, { symbol: "B.m", with: "m() { }" })).toBe(
      file.replace("class B { m() {} }", "class B { m() { } }"),
    )
    for (const symbol of ["m", "over"])
      expect(await spliced("a.ts", file, { symbol, with: "m() {}" })).toMatchObject({
        kind: "ambiguous",
        symbols: [{}, {}],
      })
    const rust = "struct A;\nimpl A { fn f() {} }\nmod a { fn f() {} }\n"
    expect(await textOf("a.rs", rust, { symbol: "A", kind: "struct", with: "struct A(u8);" })).toBe(
      rust.replace("struct A;", "struct A(u8);"),
    )
    expect(await spliced("a.rs", rust, { symbol: "A", with: "struct A;" })).toMatchObject({
      kind: "ambiguous",
    })
    expect(await spliced("a.rs", rust, { symbol: "A", kind: "enum", with: "enum A {}" })).toMatchObject({
      kind: "missing",
      others: [{ kind: "struct" }, { kind: "impl" }],
    })
    const commented = "// function f() {}\nconst text = 'function f() {}'\n"
    expect(await spliced("a.ts", commented, { symbol: "f", with: "" })).toEqual({
      kind: "missing",
      others: [],
    })
  })
})

describe("a splice is refused", () => {
  const file = "class A {\n  m() { return 1 }\n  n() { return 2 }\n}\nfunction f() {}\n"
  const refused: readonly (readonly [why: string, symbol: string, fresh: string, reason: RegExp])[] = [
    ["with a syntax error", "f", "function f( {}", /syntax error/],
    ["with an open string", "f", "function f() { return ` }", /syntax error/],
    ["with another name", "f", "function g() {}", /does not define the function f/],
    ["with another kind", "f", "const f = 1", /does not define the function f/],
    ["with nothing", "f", " \n", /does not define the function f/],
    ["with the symbol twice", "f", "function f() {}\nfunction f() {}", /defines the function f 2 times/],
    ["that ends its class", "A.m", "m() {} }\nclass B {", /would change the class A/],
    ["that begins a comment around others", "A.m", "m() { return 1 } /*", /syntax error|would change/],
    [
      "that takes the next one along",
      "A.m",
      "m() { return 1 }\n  n() { return 3 }\n /*",
      /syntax error|change/,
    ],
    ["with half a character", "f", "function f() { return '\ud800' }", /Unicode/],
  ]
  test.each(refused)("%s", async (_, symbol, fresh, reason) => {
    expect(await spliced("a.js", file, { symbol, with: fresh })).toEqual({
      kind: "broken",
      reason: expect.stringMatching(reason),
    })
  })

  test("in a file that is not parsed, with the reason", async () => {
    const wanted = { symbol: "f", with: "function f() {}" }
    const files: readonly (readonly [string, string | Uint8Array, RegExp])[] = [
      ["a.txt", "function f() {}", /language/],
      ["a.js", Buffer.from("function f() {}", "utf16le"), /NUL/],
      ["a.js", Buffer.from("// \xe4\nfunction f() {}", "latin1"), /UTF-8/],
      ["a.js", "function f() {}\0", /NUL/],
      ["a.js", `function f() {}\n// ${"x".repeat(6_000)}`, /line is longer/],
      ["a.js", `function f() {}\n${"// more\n".repeat(300_000)}`, /larger/],
    ]
    for (const [path, content, reason] of files)
      expect(await spliced(path, content, wanted)).toMatchObject({
        kind: "unparsed",
        reason: expect.stringMatching(reason),
      })
    const long = `function f() { return "${"x".repeat(6_000)}" }`
    expect(await spliced("a.js", "function f() {}\n", { ...wanted, with: long })).toMatchObject({
      kind: "broken",
    })
  })

  test("not because of errors that were there before", async () => {
    const broken = "function f() { return 1 }\nfunction ((( {\n"
    const fresh = "function f() { return 2 }"
    expect(await textOf("a.js", broken, { symbol: "f", with: fresh })).toBe(broken.replace("1", "2"))
    const everywhere = "}{\n".repeat(50)
    expect(await spliced("a.js", everywhere, { symbol: "f", with: fresh })).toMatchObject({ kind: "missing" })
  })
})
