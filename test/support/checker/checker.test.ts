import { describe, expect, test } from "bun:test"
import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { processIdentity } from "../../../src/store/process-identity.ts"
import { eventually } from "../eventually.ts"
import { executionRecord, startOf } from "../execution-record.ts"
import { countingIds } from "../fixed-clock.ts"
import { taggedProcesses } from "../processes.ts"
import { changeDatabase } from "../workspace/at-the-file.ts"
import { openTempStore } from "../workspace/temp-store.ts"
import { type TempWorkspace, tempWorkspace } from "../workspace/temp-workspace.ts"
import { check } from "./checker.ts"

const secret = "hunter2-Tr0ub4dor&3 ü"

/** Five finished executions, one of them with artifacts, and one that was removed. */
function recordedWorkspace(): TempWorkspace {
  const workspace = tempWorkspace()
  using store = openTempStore(workspace)
  const ids = countingIds()
  for (let count = 0; count < 6; count++) {
    const id = ids.next("exe")
    const plain = executionRecord(id, count === 3 ? { stdout: "long output\n".repeat(2_000) } : {})
    const runId = count === 0 ? "run_pruned" : "run_kept"
    const record = { ...plain, correlationIds: { ...plain.correlationIds, runId } }
    store.executions.started(startOf(record, processIdentity()))
    store.executions.settled(record, { stdout: null, stderr: null })
  }
  expect(store.executions.prune({ runId: "run_pruned" }, "test")).toHaveLength(1)
  store.anchor()
  return workspace
}

/** Changes the file behind the product's back, as an attacker or a bug would. */
function tamper(workspace: TempWorkspace, sql: string): void {
  changeDatabase(workspace.state("workspace.db"), sql)
}

test("a clean workspace has no violations, with a history and without one", async () => {
  using empty = tempWorkspace()
  expect(await check(empty)).toEqual([])
  using workspace = recordedWorkspace()
  expect(await check(workspace, { secrets: [secret] })).toEqual([])
})

describe("the checker notices", () => {
  const changes: readonly (readonly [string, RegExp, string])[] = [
    [
      "a changed event",
      /^I6 .*signature/,
      "UPDATE events SET data = replace(data, 'hello', 'hallo') WHERE seq = 2",
    ],
    ["a removed event", /^I6 position/, "DELETE FROM events WHERE position = 5"],
    ["a shortened log", /^I6 position/, "DELETE FROM events WHERE position > 6"],
    ["a broken link", /^I6 .*link/, "UPDATE events SET prev_hash = hash WHERE position = 6"],
    ["a forged head", /^I6 the head/, "UPDATE log_head SET head = replace(head, substr(head, 1, 1), 'x')"],
    ["an execution without an end", /^I1 .*finished 0/, "DELETE FROM events WHERE position = 8"],
    ["an execution without a start", /^I1 .*started 0/, "DELETE FROM events WHERE position = 7"],
    [
      "a row that says otherwise",
      /^I7 the row/,
      "UPDATE executions SET exit_code = 1 WHERE started_position = 7",
    ],
    ["a row that is gone", /^I7 .*not in the table/, "DELETE FROM executions WHERE started_position = 7"],
  ]

  test.each(changes)("%s", async (_name, expected, sql) => {
    using workspace = recordedWorkspace()
    tamper(workspace, sql)
    expect((await check(workspace)).join("\n")).toMatch(new RegExp(expected.source, "m"))
  })

  test("an artifact that is gone or was changed", async () => {
    using workspace = recordedWorkspace()
    const directory = workspace.state("artifacts")
    const [name] = readdirSync(directory, { recursive: true, encoding: "utf8" }).filter(
      path => path.length > 10,
    )
    const path = join(directory, name ?? "none")
    writeFileSync(path, "other")
    expect((await check(workspace)).join("\n")).toContain("has another content")
    rmSync(path)
    expect((await check(workspace)).join("\n")).toContain("is missing")
  })

  test("a secret in any spelling", async () => {
    const bytes = Buffer.from(secret)
    const spellings = [
      secret,
      encodeURIComponent(secret),
      JSON.stringify({ output: secret }),
      JSON.stringify(JSON.stringify({ output: `"${secret}"` })),
      bytes.toString("base64"),
      Buffer.concat([Buffer.from("x"), bytes, Buffer.from("yz")]).toString("base64"),
      Buffer.concat([Buffer.from("xx"), bytes, Buffer.from("yz")]).toString("base64"),
      bytes.toString("hex"),
    ]
    for (const spelling of spellings) {
      using workspace = tempWorkspace()
      mkdirSync(workspace.state("quarantine/deep"), { recursive: true })
      writeFileSync(workspace.state("quarantine/deep/file"), `left ${spelling} right`)
      expect((await check(workspace, { secrets: [secret] })).length).toBeGreaterThan(0)
    }
  })

  test("what a mask left in the workspace", async () => {
    using workspace = tempWorkspace({ files: { ".npmrc": "" } })
    mkdirSync(join(workspace.root, ".git"))
    expect(await check(workspace)).toHaveLength(2)
  })

  test("a process of an execution that is still alive", async () => {
    using workspace = recordedWorkspace()
    const id = countingIds().next("exe").replace(/1$/, "2")
    const child = Bun.spawn(["sleep", "60"], { env: { ACODE_EXECUTION_ID: id } })
    try {
      await eventually("the child carries its tag", () => taggedProcesses(id).length === 1)
      expect((await check(workspace)).join("\n")).toMatch(/^I9 process \d+ is left: sleep 60/)
    } finally {
      child.kill("SIGKILL")
      await child.exited
    }
    expect(await check(workspace)).toEqual([])
  })
})
