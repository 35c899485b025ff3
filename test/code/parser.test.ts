import { describe, expect, test } from "bun:test"
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { codeLanguages } from "../../src/code/language-table.ts"
import { createCodeParser, usualLimits } from "../../src/code/parser.ts"
import type { FileFacts } from "../../src/domain/code/symbol.ts"
import { missingProgram, testWhere } from "../support/requirement.ts"
import { tempWorkspace } from "../support/workspace/temp-workspace.ts"

const parser = createCodeParser()
const directory = join(import.meta.dir, "fixtures")
const fixtures = readdirSync(directory)
  .filter(name => name !== "symbols.txt")
  .map(name => ({ path: name.replace(/\.txt$/, ""), bytes: readFileSync(join(directory, name)) }))

async function factsOf(path: string, content: string | Uint8Array): Promise<FileFacts> {
  const facts = await parser.parse(path, typeof content === "string" ? Buffer.from(content) : content)
  if (facts?.kind !== "parsed") throw new Error(`${path} was not parsed: ${facts?.reason}`)
  return facts
}

async function reasonOf(path: string, content: string | Uint8Array, limits = usualLimits) {
  const bytes = typeof content === "string" ? Buffer.from(content) : content
  const facts = await createCodeParser(limits).parse(path, bytes)
  return facts?.kind === "unparsed" ? facts.reason : facts
}

describe("the symbols of a file", () => {
  test("are those a person sees in it, in every language", async () => {
    const lines: string[] = []
    for (const { path, bytes } of fixtures.sort((a, b) => (a.path < b.path ? -1 : 1))) {
      const { language, symbols } = await factsOf(path, bytes)
      lines.push(`${path} ${language}`)
      for (const { kind, container, name, lineStart, lineEnd, signature } of symbols)
        lines.push(
          `   ${kind} ${container === null ? "" : `${container}.`}${name} ${lineStart} ${lineEnd} | ${signature}`,
        )
    }
    expect(lines).toEqual(readFileSync(join(directory, "symbols.txt"), "utf8").trimEnd().split("\n"))
    const seen = new Set(lines.filter(line => !line.startsWith(" ")).map(line => line.split(" ")[1]))
    expect(codeLanguages.map(({ name }) => name).filter(name => !seen.has(name))).toEqual([])
  })

  test("span exactly their text, and every reference is its name, in bytes of the file", async () => {
    let symbolCount = 0
    let placeCount = 0
    for (const { path, bytes } of fixtures) {
      const { symbols, references } = await factsOf(path, bytes)
      const lines = bytes.toString().split("\n")
      for (const { name, byteStart, byteEnd, lineStart, lineEnd } of symbols) {
        const span = bytes.subarray(byteStart, byteEnd).toString()
        expect(span).toBe(span.trim())
        // The name of a container may be written in parts, and a key may be quoted.
        expect(span).toContain(name)
        expect(lines.slice(lineStart - 1, lineEnd).join("\n")).toContain(span)
        symbolCount++
      }
      for (const { name, places } of references)
        for (const { byteStart, line } of places) {
          const length = Buffer.byteLength(name)
          expect(bytes.subarray(byteStart, byteStart + length).toString()).toBe(name)
          expect(bytes.subarray(0, byteStart).toString().split("\n")).toHaveLength(line)
          placeCount++
        }
    }
    expect(symbolCount).toBeGreaterThan(120)
    expect(placeCount).toBeGreaterThan(500)
  })

  test("include what wraps a definition, and only that", async () => {
    const text = [
      "export const one = () => 1, two = 2",
      "@sealed export default class A {}",
      "export declare const three: number",
      'const four = class { m() { return "}" } }',
      "if (true) { const hidden = 1 }",
    ].join("\n")
    const { symbols } = await factsOf("a.ts", text)
    expect(
      symbols.map(({ name, kind, byteStart, byteEnd }) => [name, kind, text.slice(byteStart, byteEnd)]),
    ).toEqual([
      ["one", "function", "one = () => 1"],
      ["two", "constant", "two = 2"],
      ["A", "class", "@sealed export default class A {}"],
      ["three", "constant", "export declare const three: number"],
      ["four", "class", 'const four = class { m() { return "}" } }'],
      ["m", "method", 'm() { return "}" }'],
    ])
  })
})

describe("bad input", () => {
  test("beyond a limit or in another encoding is unparsed, with the reason", async () => {
    const limits = { fileBytesMax: 4096, lineCharactersMax: 100, parseMs: 500 }
    expect(await reasonOf("a.ts", "let a = 1\n".repeat(1000), limits)).toBe("it is larger than 4 KiB")
    expect(await reasonOf("a.ts", `let a = "${"x".repeat(100)}"`, limits)).toBe(
      "a line is longer than 100 characters",
    )
    expect(await reasonOf("a.py", Buffer.from([0x61, 0x20, 0x3d, 0x20, 0xe4]))).toBe("it is not UTF-8")
    expect(await reasonOf("a.py", Buffer.from("a = 1", "utf16le"))).toContain("NUL")
    expect(await reasonOf("a.yaml", `a:\n${"- b\n".repeat(200_000)}`)).toContain("KiB of data")
    expect(await parser.parse("a.unknown", Buffer.from("a"))).toBeNull()
  })

  test("that takes too long is given up, and the next file is parsed as if nothing had been", async () => {
    const nested = `${"function f() {\n".repeat(10_000)}${"}\n".repeat(10_000)}`
    expect(await reasonOf("a.ts", nested, { ...usualLimits, parseMs: 1 })).toContain("took longer than 1 ms")
    const { symbols, errorCount } = await factsOf("b.ts", "function g() {}")
    expect([symbols.map(({ name }) => name), errorCount]).toEqual([["g"], 0])
  })

  test("with errors still has the symbols around them, and deep data does not end the process", async () => {
    const broken = await factsOf("a.go", "package a\nfunc ok() {}\nfunc (((\nfunc also() {}\n")
    expect(broken.errorCount).toBeGreaterThan(0)
    expect(broken.symbols.map(({ name }) => name)).toContain("ok")
    for (const path of ["a.json", "a.yaml"]) await factsOf(path, "[\n".repeat(20_000))
  })

  test("with a byte order mark, CRLF, quotes or emoji keeps exact offsets", async () => {
    const text = '\ufeff// 🎉\r\nmodule "a\\"b" { }\r\nclass Größe {\r\n  m() {}\r\n}\r\n'
    const bytes = Buffer.from(text)
    const { symbols } = await factsOf("a.ts", bytes)
    const spans = symbols.map(({ name, byteStart, byteEnd }) => [
      name,
      bytes.subarray(byteStart, byteEnd).toString(),
    ])
    expect(spans.slice(1)).toEqual([
      ["Größe", "class Größe {\r\n  m() {}\r\n}"],
      ["m", "m() {}"],
    ])
  })

  test("cut anywhere gives facts or a reason, and spans inside the file", async () => {
    for (const { path, bytes } of fixtures)
      for (let cut = 1; cut < 8; cut++) {
        const part = bytes.subarray(0, Math.floor((bytes.length * cut) / 8))
        const facts = await parser.parse(path, part)
        if (facts?.kind !== "parsed") expect(facts?.reason).toBe("it is not UTF-8")
        else
          for (const { byteStart, byteEnd } of facts.symbols) {
            expect(byteStart).toBeLessThan(byteEnd)
            expect(byteEnd).toBeLessThanOrEqual(part.length)
          }
      }
  })

  test("has its language from the first line where the name says nothing", () => {
    const languageOf = (first: string) => parser.languageOf("bin/tool", Buffer.from(`${first}\n`))
    expect(languageOf("#!/usr/bin/env -S python3 -u")).toBe("python")
    expect(languageOf("#!/bin/sh -e")).toBe("bash")
    expect(languageOf("# a text")).toBeNull()
    expect(parser.languageOf("a/B.TSX")).toBe("tsx")
    expect(parser.languageOf(".gitignore")).toBeNull()
  })
})

interface CtagsRow {
  readonly name: string
  readonly kind: string
  readonly line: number
  readonly language: string
}

/** Kinds that ctags tells apart from its own guesses; it names what it finds no name for `Anonymous…`. */
const comparedKinds: Readonly<Record<string, readonly string[]>> = {
  TypeScript: ["interface", "class", "function", "enum"],
  JavaScript: ["function", "generator"],
  Python: ["class", "function", "member"],
  Rust: ["struct", "enum", "interface", "function", "method", "implementation"],
  Go: ["func", "struct", "interface", "const"],
  Java: ["class", "enum", "interface", "method"],
  "C++": ["class", "struct", "enum", "function", "namespace"],
  C: ["struct", "enum", "function"],
  "C#": ["class", "struct", "enum", "interface", "namespace", "method"],
  Ruby: ["class", "module", "method", "singletonMethod"],
  PHP: ["class", "interface", "trait", "function"],
  Sh: ["function"],
}

testWhere(missingProgram("ctags"))(
  "agrees with universal-ctags on the fixtures and on a sample of published packages",
  async () => {
    const packages = join(import.meta.dir, "../../node_modules")
    const published = [
      ...new Bun.Glob("*/**/*.{d.ts,js,mjs}").scanSync({ cwd: packages, followSymlinks: true }),
    ]
      .filter(path => Bun.file(join(packages, path)).size < 200_000)
      .sort()
    const every = Math.ceil(published.length / 100)
    const sample = published.filter((_, index) => index % every === 7)
    using workspace = tempWorkspace()
    const copy = workspace.root
    const files = [
      ...fixtures,
      ...sample.map(path => ({ path, bytes: readFileSync(join(packages, path)) })),
    ].map(({ path, bytes }, index) => {
      const place = `${index}/${path.slice(path.lastIndexOf("/") + 1)}`
      mkdirSync(join(copy, String(index)))
      writeFileSync(join(copy, place), bytes)
      return { path: place, bytes }
    })
    const listed = Bun.spawnSync(["ctags", "-R", "-o", "-", "--output-format=json", "--fields=+neKl", "."], {
      cwd: copy,
    })
    const rows = listed.stdout
      .toString()
      .split("\n")
      .filter(line => line !== "")
    const tags = rows.map((line): CtagsRow & { readonly path: string } => JSON.parse(line))
    let found = 0
    const missed: string[] = []
    for (const { path, bytes } of files) {
      const facts = await parser.parse(path, bytes)
      if (facts?.kind !== "parsed") continue
      for (const tag of tags.filter(row => row.path === path)) {
        if (!comparedKinds[tag.language]?.includes(tag.kind) || tag.name.startsWith("Anonymous")) continue
        const name = tag.name.replace("operator ", "operator")
        const agrees = facts.symbols.some(
          symbol => symbol.name === name && symbol.lineStart <= tag.line && tag.line <= symbol.lineEnd,
        )
        if (agrees) found++
        else missed.push(`${path}:${tag.line} ${tag.language} ${tag.kind} ${tag.name}`)
      }
    }
    expect(found).toBeGreaterThan(200)
    // What is left are function expressions that have a name of their own.
    expect({ missed, isFew: missed.length < 0.02 * found }).toMatchObject({ isFew: true })
  },
)
