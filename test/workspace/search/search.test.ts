import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { symlinkSync } from "node:fs"
import { type Clock, systemClock } from "../../../src/base/clock.ts"
import type { RunProgram, SearchRequest } from "../../../src/workspace/contract.ts"
import { searchFiles } from "../../../src/workspace/search/search.ts"
import { initRepository } from "../../support/workspace/temp-workspace.ts"
import { type TestWorkspace, testWorkspace } from "../support.ts"

let ws: TestWorkspace
beforeAll(() => {
  ws = testWorkspace()
  initRepository(ws.root.path)
  ws.put(".gitignore", "dist/\n")
  ws.put("a.ts", "first needle\nsecond\r\nthird needle\r\n")
  ws.put("src/b.ts", "no\nneedle here")
  ws.put("src/c.md", "needle in prose\n")
  ws.put("dist/d.ts", "needle\n")
  ws.put(".git/hooks/x", "needle\n")
  ws.put(".agent/x", "needle\n")
  ws.put("secrets/key.ts", "needle\n")
  ws.put("with:1:colon\nline.ts", "needle\n")
  ws.put("-e", "needle\n")
  ws.put("binary", "needle\0")
  ws.put("wide.txt", Buffer.from("\ufeffneedle\n", "utf16le"))
  ws.put("latin1.txt", Buffer.from("needle \xfc\n", "latin1"))
  ws.put("long.txt", `needle ${"x".repeat(100_000)} behind\n`)
  symlinkSync("../outside", ws.path("outside"))
})
afterAll(() => ws[Symbol.dispose]())

const isHidden = (path: string) => path === "secrets"
const search = (pattern: string, more: Partial<SearchRequest> = {}, clock: Clock = systemClock) =>
  searchFiles(
    ws.root,
    { pattern, path: ".", matchesMax: 100, timeoutMs: 10_000, ...more },
    { clock, isHidden },
  )
const places = async (pattern: string, more: Partial<SearchRequest> = {}) =>
  (await search(pattern, more)).rows.map(row => `${row.file_path}:${row.line_number}`)
const failure = (pattern: string, more: Partial<SearchRequest> = {}) =>
  search(pattern, more).then(
    () => "none",
    (error: { report?: { code?: string } }) => error.report?.code ?? String(error),
  )

describe("searching by reading", () => {
  test("finds lines in the user's files, in a fixed order", async () => {
    expect(await places("needle")).toEqual([
      "-e:1",
      "a.ts:1",
      "a.ts:3",
      "latin1.txt:1",
      "long.txt:1",
      "src/b.ts:2",
      "src/c.md:1",
      "wide.txt:1",
      "with:1:colon\nline.ts:1",
    ])
  })

  test("returns the line without its end, and cuts a very long one", async () => {
    const { rows } = await search("third|^needle x", { path: "." })
    expect(rows.map(row => [row.file_path, row.line.length])).toEqual([
      ["a.ts", 12],
      ["long.txt", 32 * 1024],
    ])
  })

  test("searches all of a long line", async () => {
    expect(await places("behind$")).toEqual(["long.txt:1"])
  })

  test("in a single file names it", async () => {
    expect(await places("needle", { path: "src/b.ts" })).toEqual(["src/b.ts:2"])
    expect(await places("needle", { path: "-e" })).toEqual(["-e:1"])
  })

  test("can be limited to names", async () => {
    expect(await places("needle", { glob: "*.md" })).toEqual(["src/c.md:1"])
    expect(await places("needle", { path: "src", glob: "*.ts" })).toEqual(["src/b.ts:2"])
    expect(await places("needle", { glob: "src/**" })).toEqual(["src/b.ts:2", "src/c.md:1"])
  })

  test("stops at the number asked for, and says so", async () => {
    const { rows, truncated } = await search("needle", { matchesMax: 2 })
    expect(rows).toHaveLength(2)
    expect(truncated).toBe(true)
    expect((await search("needle", { matchesMax: 9 })).truncated).toBe(false)
  })

  test("stops when its time is up, and says so", async () => {
    let time = 0
    const hurried: Clock = { now: () => 0, monotonicMs: () => (time += 100) }
    const { truncated } = await search("needle", { timeoutMs: 250 }, hurried)
    expect(truncated).toBe(true)
  })

  test("says that a file too large to be searched was left out", async () => {
    ws.put("huge/file.txt", Buffer.alloc(17 * 1024 * 1024, "x\n"))
    expect(await search("needle", { path: "huge" })).toEqual({ rows: [], truncated: true, engine: "own" })
    expect(await failure("needle", { path: "huge/file.txt" })).toBe("ACODE-FS-006")
  })

  test("refuses invalid patterns and paths", async () => {
    expect(await failure("")).toBe("ACODE-FS-001")
    expect(await failure("a\nb")).toBe("ACODE-FS-001")
    expect(await failure("(")).toBe("ACODE-FS-001")
    expect(await failure("x", { path: "missing" })).toBe("ACODE-FS-002")
    expect(await failure("x", { path: "outside" })).toBe("ACODE-SEC-005")
    expect(await failure("x", { glob: "../*" })).toBe("ACODE-SEC-005")
  })
})

/** Stands for ripgrep: what it is called with, and what it answers. */
function ripgrep(answer: { exitCode: number | null; stdout: string | Uint8Array; truncated?: boolean }) {
  const calls: (readonly string[])[] = []
  const run: RunProgram = async argv => {
    calls.push(argv)
    const { exitCode, stdout, truncated = false } = answer
    return { exitCode, stdout: Buffer.from(stdout), truncated }
  }
  const ask = (pattern: string, more: Partial<SearchRequest> = {}) =>
    searchFiles(
      ws.root,
      { pattern, path: ".", matchesMax: 100, timeoutMs: 1000, ...more },
      { clock: systemClock, isHidden, ripgrep: { program: "/usr/bin/rg", run } },
    )
  return { calls, ask }
}

const match = (path: object, line: object, number: number) =>
  `${JSON.stringify({ type: "match", data: { path, lines: line, line_number: number } })}\n`

describe("searching with ripgrep", () => {
  test("passes the pattern so that it can never be an option, and paths so that they cannot either", async () => {
    const { calls, ask } = ripgrep({ exitCode: 1, stdout: "" })
    for (const pattern of ["--pre=sh", "-e", "--", "-f/etc/passwd", "--config"])
      await ask(pattern, { path: "-e" })
    for (const [index, pattern] of ["--pre=sh", "-e", "--", "-f/etc/passwd", "--config"].entries()) {
      const argv = calls[index] ?? []
      expect(argv.filter(argument => argument.includes(pattern) && argument !== "--")).toContain(
        `--regexp=${pattern}`,
      )
      expect(argv.slice(argv.indexOf("--"))).toEqual(["--", "./-e"])
      expect(argv[1]).toBe("--no-config")
    }
  })

  test("reads names with colons and newlines, and those that are not UTF-8", async () => {
    const { ask } = ripgrep({
      exitCode: 0,
      stdout:
        match({ text: "./with:1:colon\nline.ts" }, { text: "needle\r\n" }, 7) +
        match(
          { bytes: Buffer.from("./bad\xff", "latin1").toString("base64") },
          { bytes: "bmVlZGxl/A==" },
          1,
        ) +
        `${JSON.stringify({ type: "summary", data: {} })}\n`,
    })
    expect(await ask("needle")).toEqual({
      rows: [
        { file_path: "bad\udcff", line_number: 1, line: "needleü" },
        { file_path: "with:1:colon\nline.ts", line_number: 7, line: "needle" },
      ],
      truncated: false,
      engine: "ripgrep",
    })
  })

  test("leaves out hidden files and other names", async () => {
    const rows = ["secrets/key.ts", "src/b.ts", "src/c.md"].map(path =>
      match({ text: `./${path}` }, { text: "x" }, 1),
    )
    const { ask } = ripgrep({ exitCode: 0, stdout: rows.join("") })
    expect((await ask("x", { glob: "*.ts" })).rows.map(row => row.file_path)).toEqual(["src/b.ts"])
  })

  test("passes on that there is more, and survives an answer that was cut", async () => {
    const { ask } = ripgrep({
      exitCode: null,
      stdout: `${match({ text: "./a" }, { text: "x" }, 1)}{"type":"mat`,
      truncated: true,
    })
    expect(await ask("x")).toMatchObject({ rows: [{ file_path: "a" }], truncated: true })
  })

  test("falls back to reading when ripgrep cannot do it", async () => {
    const { ask } = ripgrep({ exitCode: 2, stdout: "" })
    expect(await ask("third")).toMatchObject({ rows: [{ file_path: "a.ts", line_number: 3 }], engine: "own" })
  })
})
