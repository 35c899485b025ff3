import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import { chmodSync } from "node:fs"
import { join } from "node:path"
import type { CheckerSettings } from "../../src/code/contract.ts"
import { lspCheckTool } from "../../src/tools/code/lsp-check.ts"
import type { ToolResult } from "../../src/tools/contract.ts"
import { failureOf, quietly, type TestRoom, testRoom } from "./support.ts"

let room: TestRoom
beforeEach(() => {
  room = testRoom()
  room.put("src/a.ts", "const a: number = 'x'\n")
  room.put("tsconfig.json", "{}")
})
afterEach(() => room[Symbol.dispose]())

/** Puts a compiler into the project which is this script. */
function compiler(script: string): void {
  room.put("node_modules/.bin/tsc", `#!/bin/sh\n${script}\n`)
  chmodSync(join(room.root, "node_modules/.bin/tsc"), 0o755)
}

interface Given {
  readonly path?: string
  readonly checker?: string
  readonly settings?: Partial<CheckerSettings>
  readonly timeoutMs?: number
}

async function checked(given: Given = {}): Promise<ToolResult> {
  const { path = ".", checker, settings = {}, timeoutMs = 10_000 } = given
  const { checks } = room.room
  const deps = {
    ...room.room,
    checks: {
      ...checks,
      timeoutMs,
      settings: { configured: new Map(), hasProgram: () => false, ...settings },
    },
  }
  const args = checker === undefined ? { path } : { path, checker }
  const declared = lspCheckTool.declare(args, deps)
  return (await declared.prepare()).execute(quietly)
}

describe("a check", () => {
  test("holds each message with its place, and is a failure where there are errors", async () => {
    compiler('echo "src/a.ts(1,7): error TS2322: no"; echo "src/a.ts(1,1): warning TS6133: unused"; exit 2')
    const { error, diagnostics, value, text, paths, exitCode } = await checked()
    const place = { file_name: "src/a.ts", line_start: 1 }
    expect(diagnostics).toEqual([
      { level: "error", message: "no", ...place, column: 7, code: "TS2322" },
      { level: "warning", message: "unused", ...place, column: 1, code: "TS6133" },
      { level: "error", message: "tsc found 1 error", file_name: ".", line_start: 0, code: "E304" },
    ])
    expect(error).toMatchObject({ code: "E304", where: ".", message: "tsc found 1 error" })
    expect(value).toMatchObject({ checker: "tsc", errors: 1, warnings: 1, unread_lines: 0, success: false })
    expect([exitCode, paths]).toEqual([2, [".", "src/a.ts"]])
    expect(text).toStartWith("tsc: 1 error, 1 warning\nsrc/a.ts:1:7: error TS2322: no\n")
  })

  test("without errors says so, and shows lines that it could not read", async () => {
    compiler("echo hello; exit 0")
    const { error, value, text } = await checked({ path: "src/a.ts" })
    expect(error).toBeNull()
    expect(value).toMatchObject({ errors: 0, unread_lines: 1, unread: ["hello"], success: true })
    expect(text).toBe("tsc: 0 errors, 0 warnings\n[1 line of the output could not be read:]\nhello")
  })

  test("runs in the directory of the project, in English, and is declared as this command", async () => {
    room.put("packages/b/tsconfig.json", "{}")
    compiler('echo "$(pwd) $LC_ALL"; exit 0')
    const { value } = await checked({ path: "packages/b" })
    expect(value).toMatchObject({
      command: ["../../node_modules/.bin/tsc", "-p", ".", "--noEmit", "--pretty", "false"],
      unread: [`${room.root}/packages/b C.UTF-8`],
    })
    const { effects, effectClass, network } = room.declare("lsp_check", { path: "packages/b" })
    expect(effects[0]).toMatchObject({ kind: "execute", cwd: "packages/b", network: "none" })
    expect([effectClass, network]).toEqual(["run", "none"])
  })

  test("keeps the paths of other people's files out of the evidence", async () => {
    room.put("other/x", "")
    compiler('echo "/home/ann/b.ts(1,2): error TS1: x"; echo "../../out.ts(3,4): error TS2: y"; exit 1')
    const { diagnostics, paths } = await checked()
    expect(diagnostics.slice(0, 2)).toEqual([
      { level: "error", message: "/home/ann/b.ts:1: x", file_name: "", line_start: 0, code: "TS1" },
      { level: "error", message: "../../out.ts:3: y", file_name: "", line_start: 0, code: "TS2" },
    ])
    expect(paths).toEqual(["."])
  })

  test("names the checkers that it did not run, and runs the one that is asked for", async () => {
    room.put("Cargo.toml", "")
    room.put("src/lib.rs", "")
    compiler("exit 0")
    expect((await checked()).text).toContain("[not checked: Rust: cargo is not installed]")
    const settings = { configured: new Map([["cargo" as const, ["sh", "-c", "exit 0"]]]) }
    expect((await checked({ settings })).text).toContain("[not run: cargo; name one as checker]")
    expect((await checked({ settings, checker: "cargo" })).value).toMatchObject({
      checker: "cargo",
      command: ["sh", "-c", "exit 0"],
      cwd: ".",
    })
  })
})

describe("a check that did not happen is never a check without errors", () => {
  const refused = async (given: Given = {}) => failureOf(() => checked(given))

  test("because no checker is installed, or none is known", async () => {
    expect(await refused()).toMatchObject({
      code: "E303",
      where: ".",
      message: ". was not checked: JavaScript and TypeScript: tsc is not installed",
    })
    room.put("a.txt", "")
    expect((await refused({ path: "a.txt" }))?.message).toBe(
      "a.txt was not checked: acode knows no checker for it",
    )
    expect(await refused({ checker: "mypy" })).toMatchObject({ code: "E303" })
    expect((await refused({ path: "none.ts" }))?.code).toBe("ACODE-FS-002")
    expect((await refused({ path: "../outside.ts" }))?.code).toBe("ACODE-SEC-005")
  })

  test("because the program does not start", async () => {
    compiler("exit 0")
    chmodSync(join(room.root, "node_modules/.bin/tsc"), 0o644)
    expect((await checked()).error?.code).toBe("E303")
    const settings = { configured: new Map([["tsc" as const, ["no-such-program-here"]]]) }
    expect((await checked({ settings })).error?.code).toBe("E303")
  })

  test("because the program crashed, was killed, or printed nothing that is an error", async () => {
    for (const script of ["exit 3", "echo Segmentation fault >&2; exit 139", "kill -9 $$"]) {
      compiler(script)
      const { error, text } = await checked()
      expect(error?.code).toBe("ACODE-EXE-003")
      expect(text).not.toContain("0 errors")
    }
  })

  test("because it hangs: it is ended, and what it said is kept", async () => {
    compiler('echo "src/a.ts(1,7): error TS2322: no"; sleep 600')
    const { error, diagnostics } = await checked({ timeoutMs: 300 })
    expect(error?.code).toBe("ACODE-EXE-002")
    expect(diagnostics[0]).toMatchObject({ code: "TS2322" })
  })
})

test("output without end is read in bounded memory, and its errors are counted", async () => {
  const line = "src/a.ts(1,7): error TS2322: no"
  compiler(`yes '${line}' | head -c 50000000; exit 2`)
  const { error, value, text } = await checked()
  expect(error?.code).toBe("E304")
  expect(value).toMatchObject({ truncated: true, errors: 1 })
  expect(text).toContain("[the output was cut: there may be more]")
})
