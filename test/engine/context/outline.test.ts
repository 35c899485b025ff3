import { describe, expect, test } from "bun:test"
import { codeOutlineOf, codeOutlineTokensMax, outlineOf } from "../../../src/engine/context/outline.ts"
import { textTokens } from "../../../src/engine/context/token-estimate.ts"
import { gateRoom } from "../../support/plan/gate-room.ts"

const entries = (...paths: readonly string[]) => paths.map(path => ({ path }))

describe("the outline of a repository", () => {
  test("names directories with what is in them, then files, the telling ones first", () => {
    expect(
      outlineOf(
        entries(
          "a.txt",
          "package.json",
          "src/a.ts",
          "src/b.ts",
          "src/c.json",
          "src/deep/er/still/x.ts",
          "web/README.md",
        ),
      ).text,
    ).toMatchInlineSnapshot(`
      "7 files
      directories:
        src/ 4 (3 .ts, 1 .json)
        web/ 1 (1 .md)
        src/deep/ 1 (1 .ts)
        src/deep/er/ 1 (1 .ts)
      files:
        package.json
        web/README.md
        a.txt
        src/a.ts
        src/b.ts
        src/c.json
        src/deep/er/still/x.ts"
    `)
  })

  test("of nothing says so", () => {
    expect(outlineOf([]).text).toBe("the workspace is empty")
    expect(outlineOf(entries("a")).text).toBe("1 file\nfiles:\n  a")
  })

  test("stays within 4 KB, says what is missing and still names files, whatever the size", () => {
    const many = Array.from({ length: 20_000 }, (_, index) => `packages/p${index % 500}/src/file-${index}.ts`)
    const { text: outline, leftOutTokens } = outlineOf(entries(...many, "Cargo.toml"))
    expect(Buffer.byteLength(outline)).toBeLessThanOrEqual(4096)
    expect(outline).toMatch(/^20001 files\ndirectories:\n {2}packages\/ 20000 \(20000 \.ts\)\n/)
    expect(outline).toContain("\nfiles:\n  Cargo.toml\n")
    expect(outline.match(/… and \d+ more/g)).toHaveLength(2)
    expect(leftOutTokens).toBeGreaterThan(100_000)
    expect(outlineOf(entries("a")).leftOutTokens).toBe(0)
  })

  test("gives each file one line, whatever it is called", () => {
    const { text: outline } = outlineOf(entries("a\nfiles:\n  fake", `${"x".repeat(500)}`))
    expect(outline.split("\n")).toHaveLength(4)
    expect(outline).toContain(`  "a\\nfiles:\\n  fake"`)
  })

  test("is of the tree: what git ignores and what is protected is not in it", async () => {
    using room = gateRoom({ files: { "src/a.ts": "", ".env": "KEY=1", "keys/id_rsa": "x" } })
    expect(outlineOf((await room.workspace.tree()).entries).text).toBe(
      "1 file\ndirectories:\n  src/ 1 (1 .ts)\nfiles:\n  src/a.ts",
    )
  })

  test("shows symbols in place of file names within 1,500 tokens, and file names where there are none", async () => {
    const many = Array.from({ length: 3_000 }, (_, index) => `directory-${index % 400}/file-${index}.ts`)
    let budget = 0
    const shown = await codeOutlineOf(entries(...many, "package.json"), async tokensMax => {
      budget = tokensMax
      return "a.ts:\n  1  function f()"
    })
    expect(shown.text).toContain(
      "  package.json\nsymbols, by file and line, those used most:\na.ts:\n  1  function f()",
    )
    expect(shown.text).not.toContain("file-1.ts")
    const own = textTokens(shown.text.slice(0, shown.text.indexOf("a.ts:\n")))
    expect(own + budget).toBeLessThanOrEqual(codeOutlineTokensMax + 2)
    expect(budget).toBeGreaterThan(700)
    for (const none of [null, ""])
      expect(await codeOutlineOf(entries("a"), async () => none)).toEqual(outlineOf(entries("a")))
  })
})
