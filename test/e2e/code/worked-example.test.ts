import { afterEach, describe, expect } from "bun:test"
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { acodeProgram, repositoryRoot } from "../../support/acode.ts"
import { check } from "../../support/checker/checker.ts"
import { type PlanWorkspace, planWorkspace } from "../../support/plan/plan-workspace.ts"
import { missingProgram, testWhere } from "../../support/requirement.ts"
import { openTerminal } from "../../support/terminal/terminal.ts"

/** A project, and the pieces of the worked example of the plan format in its language. */
interface Example {
  readonly name: string
  readonly missing: string | null
  readonly source: string
  readonly patch: string
  readonly files: Readonly<Record<string, string>>
  /** The code of the compiler for the body that `broken` brings, and the line of its message. */
  readonly broken: { readonly text: string; readonly code: string; readonly line: number }
  readonly prepare: (root: string) => void
}

const rust: Example = {
  name: "a Rust crate",
  missing: missingProgram("cargo") ?? cargoProblem(),
  source: "src/lib.rs",
  patch: "patches/fix.rs",
  files: {
    ".gitignore": "/target\n",
    "Cargo.toml": '[package]\nname = "sample"\nversion = "0.1.0"\nedition = "2021"\n\n[dependencies]\n',
    "src/lib.rs":
      "//! A sample.\n\n/// Adds.\npub fn old_function(a: u32) -> u32 {\n    a + 1\n}\n\npub fn other() -> u32 {\n    old_function(1)\n}\n",
    "patches/fix.rs": "pub fn old_function(a: u32) -> u32 {\n    a + 2\n}\n",
  },
  broken: { text: 'pub fn old_function(a: u32) -> u32 {\n    "two"\n}\n', code: "E0308", line: 5 },
  prepare: () => undefined,
}

const typescript: Example = {
  name: "a TypeScript package",
  missing: missingProgram("node"),
  source: "src/lib.ts",
  patch: "patches/fix.ts",
  files: {
    ".gitignore": "node_modules\n",
    "package.json": '{ "name": "sample", "version": "1.0.0", "type": "module" }\n',
    "tsconfig.json":
      '{ "compilerOptions": { "strict": true, "target": "es5", "ignoreDeprecations": "6.0", "lib": ["es5"], "types": [] }, "include": ["src"] }\n',
    "src/lib.ts":
      "/** Adds. */\nexport function old_function(a: number): number {\n  return a + 1\n}\n\nexport function other(): number {\n  return old_function(1)\n}\n",
    "patches/fix.ts": "export function old_function(a: number): number {\n  return a + 2\n}\n",
  },
  broken: {
    text: 'export function old_function(a: number): number {\n  return "two"\n}\n',
    code: "TS2322",
    line: 3,
  },
  prepare: installTypeScript,
}

/** Installs the compiler as npm does: only what the check of one small package needs. */
function installTypeScript(root: string): void {
  const from = join(repositoryRoot, "node_modules/typescript")
  const to = join(root, "node_modules/typescript")
  const libraries = ["lib.es5.d.ts", "lib.decorators.d.ts", "lib.decorators.legacy.d.ts"]
  for (const name of [
    "package.json",
    "bin/tsc",
    ...["tsc.js", "_tsc.js", ...libraries].map(each => `lib/${each}`),
  ])
    cpSync(join(from, name), join(to, name))
  mkdirSync(join(root, "node_modules/.bin"))
  symlinkSync("../typescript/bin/tsc", join(root, "node_modules/.bin/tsc"))
}

/** Returns why the cargo on PATH cannot be used; one that manages versions may have none. */
function cargoProblem(): string | null {
  const { exitCode } = Bun.spawnSync(["cargo", "--version"], { stdout: "ignore", stderr: "ignore" })
  return exitCode === 0 ? null : "cargo does not run"
}

let room: PlanWorkspace
afterEach(async () => {
  expect(await check(room.workspace)).toEqual([])
  room[Symbol.dispose]()
})

function openRoom({ files, prepare }: Example): void {
  room = planWorkspace({ files, git: true })
  prepare(room.workspace.root)
}

/** Writes the plan of the example as it stands there, with its words for preconditions. */
function writePlan({ source, patch }: Example, symbol = "old_function", confirmed = true): void {
  const step = (step_id: string, tool: string, args: object, precondition: string, asks = false) => ({
    step_id,
    tool,
    arguments: args,
    precondition,
    requires_confirmation: asks,
  })
  writeFileSync(
    room.planFile,
    JSON.stringify({
      plan_id: "plan_001",
      intent: "MUTATE",
      steps: [
        step("step_1", "file_read", { path: source }, "file exists"),
        step("step_2", "splice_patch", { file: source, symbol, with: patch }, "symbol exists", confirmed),
        step("step_3", "lsp_check", { path: "." }, "Cargo project exists"),
      ],
      evidence_referenced: ["Q8"],
    }),
  )
}

const read = (path: string) => readFileSync(join(room.workspace.root, path), "utf8")
const evidence = async (...args: readonly string[]) =>
  JSON.parse((await room.acode("evidence", ...args, "--json")).stdout)

for (const example of [rust, typescript])
  describe(`the worked example in ${example.name}`, () => {
    const { source, patch, missing, broken } = example
    const here = testWhere(missing)

    testWhere(missing ?? missingProgram("tmux"))(
      "reads, splices once a person agrees, and checks",
      async () => {
        openRoom(example)
        writePlan(example)
        expect((await room.acode("plan", "approve", room.planFile)).exitCode).toBe(0)
        using terminal = openTerminal({
          argv: [acodeProgram(), "plan", "run", room.planFile],
          cwd: room.workspace.root,
          env: room.workspace.environment,
        })
        const asked = await terminal.see("a approve")
        expect(asked).toContain("a + 2")
        terminal.press("a")
        expect(await terminal.exitStatus()).toBe(0)
        expect(read(source)).toBe(example.files[source]?.replace("a + 1", "a + 2") ?? "")
        const calls = await evidence("by-tool", "lsp_check")
        expect(calls).toMatchObject([{ status: "succeeded", stepId: "step_3", errorCode: null }])
      },
    )

    here("stops at step 2 with two results where the symbol is missing", async () => {
      openRoom(example)
      const before = read(source)
      writePlan(example, "no_such_function", false)
      const { run, result } = await room.approveAndRun()
      expect(run.exitCode).toBe(30)
      expect(result).toMatchObject({ status: "Failed", error_code: "E104" })
      expect(result.step_results).toMatchObject([
        { step_id: "step_1", success: true, result: { content: before } },
        { step_id: "step_2", success: false, error_code: "E104" },
      ])
      expect(read(source)).toBe(before)
    })

    here(
      "fails at step 3 with the codes of the compiler, which the evidence knows and sees fixed",
      async () => {
        openRoom(example)
        const good = read(patch)
        room.workspace.write(patch, broken.text)
        writePlan(example, "old_function", false)
        const first = await room.approveAndRun()
        expect([first.run.exitCode, first.result.error_code]).toEqual([30, "E304"])
        const [, , failed] = first.result.step_results
        expect(failed?.diagnostic_artifacts[0]).toMatchObject({
          level: "error",
          file_name: source,
          line_start: broken.line,
          code: broken.code,
        })
        const id = failed?.execution_id
        for (const code of [broken.code, "E304"])
          expect(await evidence("by-code", code)).toMatchObject([{ id }])
        expect(await evidence("by-file", source)).toContainEqual(expect.objectContaining({ id }))
        room.workspace.write(patch, good)
        const second = await room.approveAndRun()
        expect([second.run.exitCode, second.result.status]).toEqual([0, "Completed"])
        expect(await evidence("fixes", broken.code)).toMatchObject([
          { diagnosticId: id, fixId: second.result.step_results[1]?.execution_id, file: source },
        ])
      },
    )
  })
