import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import { mkdirSync, symlinkSync } from "node:fs"
import { join } from "node:path"
import { codeOf, type TestRoom, testRoom } from "./support.ts"

let t: TestRoom
beforeEach(() => {
  t = testRoom()
})
afterEach(() => t[Symbol.dispose]())

describe("list_directory", () => {
  test("lists one level or several, with kinds, sizes and targets", async () => {
    t.put("src/a.ts", "abc")
    t.put("src/deep/b.ts", "")
    symlinkSync("a.ts", join(t.root, "src/link"))
    symlinkSync("/etc", join(t.root, "src/out"))
    const declared = t.declare("list_directory", { path: "src" })
    expect(declared.effects).toEqual([{ kind: "list", path: "src" }])
    expect(declared).toMatchObject({ effectClass: "read", operation: "list src" })
    const { value, text, paths } = await t.call("list_directory", { path: "src" })
    expect(value).toEqual({
      path: "src",
      entries: [
        { path: "src/a.ts", kind: "file", size_bytes: 3, target: null },
        { path: "src/deep", kind: "directory", size_bytes: expect.any(Number), target: null },
        { path: "src/link", kind: "symlink", size_bytes: expect.any(Number), target: "a.ts" },
        { path: "src/out", kind: "symlink", size_bytes: expect.any(Number), target: "/etc" },
      ],
      truncated: false,
    })
    expect(text).toBe("src/a.ts (3 bytes)\nsrc/deep/\nsrc/link -> a.ts\nsrc/out -> /etc (outside workspace)")
    expect(paths).toEqual(["src"])
    expect((await t.call("list_directory", { path: "src", depth: 2 })).text).toContain("src/deep/b.ts")
  })

  test("hides what is protected, bounds what is long and tells what is empty", async () => {
    mkdirSync(join(t.root, "empty"))
    for (let index = 0; index < 60; index++) t.put(`many/f${String(index).padStart(2, "0")}`, "")
    t.put("x/.env", "A=1")
    t.put("x/b", "")
    expect((await t.call("list_directory", { path: "empty" })).text).toBe("(the directory is empty)")
    expect((await t.call("list_directory", { path: "x" })).text).toBe("x/b (0 bytes)")
    const { value, text } = await t.call("list_directory", { path: "many" })
    expect(value).toMatchObject({ truncated: true })
    expect(text).toContain("more than 50 entries")
  })

  test("fails for what is no directory, missing or outside", async () => {
    t.put("a.txt", "")
    expect(await codeOf(() => t.call("list_directory", { path: "a.txt" }))).toBe("ACODE-FS-003")
    expect(await codeOf(() => t.call("list_directory", { path: "none" }))).toBe("ACODE-FS-002")
    expect(await codeOf(() => t.call("list_directory", { path: "/" }))).toBe("ACODE-SEC-005")
    expect(await codeOf(() => t.call("list_directory", { path: "secrets" }))).toBe("ACODE-SEC-003")
  })
})

describe("glob", () => {
  test("finds files by name, below a path or the root", async () => {
    t.put("src/a.ts", "")
    t.put("src/x/b.ts", "")
    t.put("c.md", "")
    expect((await t.call("glob", { pattern: "**/*.ts" })).value).toEqual({
      paths: ["src/a.ts", "src/x/b.ts"],
      truncated: false,
    })
    const below = t.declare("file_glob", { pattern: "*.ts", root: "src" })
    expect(below.effects).toEqual([
      { kind: "list", path: "src" },
      { kind: "read", path: "src" },
    ])
    expect((await t.call("file_glob", { pattern: "*.ts", root: "src" })).text).toBe("src/a.ts")
    expect((await t.call("glob", { pattern: "*.rs" })).text).toBe("(no file has such a name)")
  })

  test("is bounded and stays inside", async () => {
    for (let index = 0; index < 60; index++) t.put(`f${index}.ts`, "")
    const { value, text } = await t.call("glob", { pattern: "*.ts" })
    expect(value).toMatchObject({ truncated: true })
    expect(text).toContain("more than 50 files")
    expect(await codeOf(() => t.call("glob", { pattern: "../*" }))).toBe("ACODE-SEC-005")
    expect(await codeOf(() => t.call("glob", { pattern: "*", path: ".." }))).toBe("ACODE-SEC-005")
  })
})

describe("search_code", () => {
  test("finds lines with their file and number", async () => {
    t.put("src/a.ts", "const one = 1\nconst two = 2\n")
    t.put("src/b.md", "one\n")
    const declared = t.declare("search_code", { pattern: "one", path: "src" })
    expect(declared.effects).toEqual([
      { kind: "list", path: "src" },
      { kind: "read", path: "src" },
    ])
    const { value, text, paths } = await t.call("search_code", { pattern: "one", path: "src", glob: "*.ts" })
    expect(value).toEqual({
      matches: [{ file_path: "src/a.ts", line_number: 1, line: "const one = 1" }],
      truncated: false,
    })
    expect(text).toBe("src/a.ts:1: const one = 1")
    expect(paths).toEqual(["src", "src/a.ts"])
    expect((await t.call("file_search", { pattern: "^one$", root: "src/b.md" })).text).toBe("src/b.md:1: one")
  })

  test("takes a pattern that looks like an option for a pattern", async () => {
    t.put("a.txt", "--pre=touch pwned\n-e\n")
    expect((await t.call("search_code", { pattern: "--pre=touch" })).text).toContain("a.txt:1:")
    expect((await t.call("search_code", { pattern: "-e" })).text).toContain("a.txt:2:")
    expect(t.has("pwned")).toBe(false)
  })

  test("is bounded, and tells when nothing matches", async () => {
    t.put("a.txt", "x\n".repeat(100))
    const { value, text } = await t.call("search_code", { pattern: "x" })
    expect(value).toMatchObject({ truncated: true })
    expect(text).toContain("[there is more")
    expect((await t.call("search_code", { pattern: "nothing" })).text).toBe("(no line matches)")
  })

  test("shows no secret, not even a line out of the middle of a key", async () => {
    const body = Array.from(
      { length: 5 },
      (_, index) => `MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAA${index}`,
    )
    t.put(
      "k.txt",
      `top\n-----BEGIN PRIVATE KEY-----\n${body.join("\n")}\n-----END PRIVATE KEY-----\nMIIend\n`,
    )
    t.put("p.txt", 'password = "hunter2xyz" MII\n')
    const result = await t.call("search_code", { pattern: "MII" })
    expect(result.text.split("\n")).toEqual([
      ...[3, 4, 5, 6, 7].map(line => `k.txt:${line}: [REDACTED:private-key]`),
      "k.txt:9: MIIend",
      'p.txt:1: password = "[REDACTED:password]" MII',
    ])
    for (const line of body) expect(JSON.stringify(result)).not.toContain(line)
  })

  test("shows no part of a secret that lies where a long line is cut", async () => {
    const token = `ghp_${"a1B2".repeat(9)}`
    for (const start of [470, 490, 499]) {
      t.put("long.txt", `needle ${"x".repeat(start - 8)} ${token} end\n`)
      const { value, text } = await t.call("search_code", { pattern: "needle", path: "long.txt" })
      for (const shown of [JSON.stringify(value), text]) expect(shown).not.toContain("ghp_")
    }
  })

  test("shows no line of a file that is too large to be looked through for secrets", async () => {
    t.put("large.txt", `needle\n${"x".repeat(t.room.limits.editBytesMax)}`)
    const { text } = await t.call("search_code", { pattern: "needle" })
    expect(text).toBe(
      "large.txt:1: [not shown: the file is too large, or its name too unusual, to be checked for secrets]",
    )
  })

  test("does not look into what is protected, nor outside", async () => {
    t.put(".env", "needle\n")
    t.put("id_rsa", "needle\n")
    t.put("a.txt", "needle\n")
    expect((await t.call("search_code", { pattern: "needle" })).text).toBe("a.txt:1: needle")
    expect(await codeOf(() => t.call("search_code", { pattern: "x", path: ".env" }))).toBe("ACODE-SEC-003")
    expect(await codeOf(() => t.call("search_code", { pattern: "x", path: "../" }))).toBe("ACODE-SEC-005")
    expect(await codeOf(() => t.call("search_code", { pattern: "(", path: "." }))).not.toBe("none")
  })
})

test("a name with a line break in it is one line of every listing, and exact in the value", async () => {
  const name = "odd/a\nFORGED\u001b[2J.txt"
  t.put(name, "needle\n")
  symlinkSync("to\nFORGED", join(t.root, "odd/link\nFORGED"))
  const shown = '"odd/a\\nFORGED\\033[2J.txt"'
  const listed = await t.call("list_directory", { path: "odd" })
  expect(listed.text).toStartWith(`${shown} (7 bytes)\n"odd/link\\nFORGED" -> "to\\nFORGED"`)
  const globbed = await t.call("glob", { pattern: "odd/a*" })
  expect([globbed.text, globbed.value]).toMatchObject([shown, { paths: [name] }])
  const searched = await t.call("search_code", { pattern: "needle" })
  expect([searched.text, searched.value]).toMatchObject([
    expect.stringMatching(/^"odd\/a\\nFORGED\\033\[2J\.txt":1: \[not shown: .* name too unusual.*\]$/),
    { matches: [{ file_path: name }] },
  ])
})
