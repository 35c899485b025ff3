import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { check } from "../../support/checker/checker.ts"
import { type PlanStepText, type PlanWorkspace, planWorkspace } from "../../support/plan/plan-workspace.ts"
import { readFileTree } from "../../support/workspace/file-tree.ts"

const files = {
  "src/a.ts": "import { b } from './b.ts'\n\nexport function a() {\n  return b()\n}\n",
  "src/b.ts": "export function b() {\n  return 1\n}\n\nexport class C {\n  m() {\n    return b()\n  }\n}\n",
  "new/b.ts": "export function b() {\n  return 2\n}\n",
  "new/m.ts": "m() {\n  return 3\n}\n",
  "new/plan.json": JSON.stringify({
    steps: [
      { file: "src/b.ts", symbol: "b", with: "new/b.ts" },
      { file: "src/b.ts", symbol: "C.m", with: "new/m.ts", kind: "method" },
      { file: "src/a.ts", symbol: "a", with: "new/a.ts" },
    ],
  }),
  "new/a.ts": "export function a() {\n  return b() + 1\n}\n",
}

let room: PlanWorkspace
beforeEach(() => {
  room = planWorkspace({ files, git: true })
})
afterEach(async () => {
  expect(await check(room.workspace)).toEqual([])
  room[Symbol.dispose]()
})

const read = (path: string) => readFileSync(join(room.workspace.root, path), "utf8")

async function run(...steps: readonly PlanStepText[]) {
  room.plan(steps)
  return room.approveAndRun()
}

describe("code tools in a plan", () => {
  test("ask the index, which is made by the first question", async () => {
    const { result } = await run(
      ["symbols_in_file", { path: "src/b.ts" }, { precondition: "codegraph.db exists" }],
      ["references_to_symbol_name", { name: "b" }, { precondition: "symbol exists" }],
      ["references_from_file_to_symbol_name", { path: "src/a.ts", name: "b" }],
      [
        "references_from_file_to_symbol_name",
        { path: "src/a.ts", name: "b" },
        { precondition: "symbol exists" },
      ],
    )
    const [symbols, everywhere, inFile, last] = result.step_results
    expect(symbols?.result).toMatchObject({
      stale: false,
      symbols: [
        { name: "b", kind: "function", line_start: 1, line_end: 3, byte_start: 0, byte_end: 34 },
        { name: "C", kind: "class" },
        { name: "m", kind: "method", container: "C" },
      ],
    })
    expect(everywhere?.result).toMatchObject({ references: [{}, {}, {}, {}, {}, {}], truncated: false })
    expect(inFile?.result).toMatchObject({
      references: [
        { line: 1, symbol_name: "b", match: "name" },
        { line: 4, from_file_path: "src/a.ts" },
      ],
    })
    expect([last?.error_code, result.exit_code]).toEqual(["E104", 30])
  })

  test("replace symbols in several files at once, and undo restores all of them", async () => {
    const before = readFileTree(room.workspace.root)
    const { result } = await run(["splice_plan", { plan_file: "new/plan.json" }])
    expect(result.step_results).toMatchObject([
      {
        success: true,
        result: { changed_files: ["src/b.ts", "src/a.ts"] },
        stdout: expect.stringContaining("method C.m"),
      },
    ])
    expect(read("src/a.ts")).toBe(files["src/a.ts"].replace("b()\n", "b() + 1\n"))
    expect(read("src/b.ts")).toBe(
      files["src/b.ts"].replace("return 1", "return 2").replace("    return b()", "    return 3"),
    )
    expect((await room.acode("session", "undo")).exitCode).toBe(0)
    expect(readFileTree(room.workspace.root)).toEqual(before)
  })

  test("check with the programs that configuration names, once the user trusts it", async () => {
    const script = "echo 'src/b.ts(2,3): error TS9999: because'; exit 1"
    const configure = (code: object) =>
      room.workspace.write(".agent/config.yml", JSON.stringify({ schema_version: "1", code }))
    configure({ checkers: [{ checker: "tsc", command: ["sh", "-c", script] }] })
    const untrusted = await run(["lsp_check", { path: "src/b.ts" }])
    expect(JSON.stringify(untrusted.result)).not.toContain("TS9999")
    await room.acode("config", "trust")
    const { result } = await run(["lsp_check", { path: "src/b.ts" }])
    const [checked] = result.step_results
    expect(checked).toMatchObject({
      error_code: "E304",
      diagnostic_artifacts: [{ file_name: "src/b.ts", line_start: 2, column: 3, code: "TS9999" }, {}],
    })
    expect(JSON.parse((await room.acode("evidence", "by-code", "TS9999", "--json")).stdout)).toMatchObject([
      { id: checked?.execution_id },
    ])
    configure({ check_timeout_seconds: 0.2, checkers: [{ checker: "tsc", command: ["sleep", "60"] }] })
    await room.acode("config", "trust")
    const late = await run(["lsp_check", { path: "src/b.ts" }])
    expect([late.run.exitCode, late.result.error_code]).toEqual([34, "ACODE-EXE-002"])
    configure({ checkers: ["tsc", "biome"].map(checker => ({ checker, command: null })) })
    await room.acode("config", "trust")
    const off = await run(["lsp_check", { path: "src/b.ts" }])
    expect(off.result).toMatchObject({
      exit_code: 30,
      error_code: "E303",
      error_message: expect.stringContaining("src/b.ts was not checked"),
    })
  })

  test("show what a splice plan may write before it is approved", async () => {
    room.plan([
      ["splice_plan", { plan_file: "new/plan.json" }],
      ["splice_patch", { file: "src/a.ts", symbol: "a", with: "new/a.ts" }],
    ])
    const { stdout, stderr } = await room.acode("plan", "approve", room.planFile)
    expect(stdout + stderr).toContain("writes: the files that new/plan.json names, src/a.ts")
  })
})
