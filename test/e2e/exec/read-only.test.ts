import { afterAll, beforeAll, describe, expect } from "bun:test"
import { copyFileSync, mkdirSync, readdirSync, rmSync, statSync } from "node:fs"
import { join } from "node:path"
import { runAcode } from "../../support/acode.ts"
import { type AgentWorkspace, agentWorkspace } from "../../support/agent/agent-workspace.ts"
import { testWhere } from "../../support/requirement.ts"
import { greeting, reply } from "../../support/script-replies.ts"
import { mountSkip, readOnlyMount } from "../../support/workspace/mount-namespace.ts"

const mountTest = testWhere(mountSkip())
let room: AgentWorkspace
let ids: { readonly session: string; readonly execution: string; readonly approval: string }

beforeAll(async () => {
  room = agentWorkspace({ git: true, files: { "a.txt": "one\n" } })
  await room.acode("exec", "--", "sh", "-c", "seq 1 20000")
  room.script(...greeting())
  const { events } = await room.run("--yes=plan")
  room.script(reply.plan({ write: ["b.txt"] }))
  await room.run("--approve-plan")
  const first = async (...args: string[]): Promise<string> =>
    (JSON.parse((await room.acode(...args, "--json")).stdout) as [{ id: string }])[0].id
  ids = {
    session: events[0]?.session ?? "",
    execution: await first("runs", "list"),
    approval: await first("approvals", "list"),
  }
})
afterAll(() => room[Symbol.dispose]())

const verbs = (): readonly (readonly string[])[] => [
  ["session", "list"],
  ["session", "show", ids.session],
  ["session", "logs", ids.session],
  ["session", "validate", ids.session],
  ["status"],
  ["status", ids.session],
  ["runs", "list"],
  ["runs", "show", ids.execution],
  ["runs", "stats"],
  ["approvals", "list"],
  ["approvals", "show", ids.approval],
  ["evidence", "by-tool", "write_file"],
  ["evidence", "failures"],
  ["evidence", "by-file", "greeting.txt"],
  ["evidence", "latest", "greeting.txt"],
  ["evidence", "recurring"],
  ["audit", "verify"],
  ["audit", "verify", ids.session],
  ["storage", "show"],
  ["storage", "free", "--dry-run"],
  ["session", "prune", "--dry-run"],
  ["session", "undo", ids.session, "--preview"],
  ["checkpoint", "list"],
  ["config", "show"],
  ["config", "get", "execution.sandbox"],
  ["policy", "check", "--", "ls"],
]

const agent = () => room.workspace.state()

/** What each verb says, here or where nothing can be written. */
async function answers(through: readonly string[], among = verbs()): Promise<readonly string[]> {
  const told: string[] = []
  for (const verb of among) {
    const options = { cwd: room.workspace.root, env: room.environment, through }
    const { exitCode, stdout, stderr } = await runAcode(verb, options)
    // How large the file is at the moment depends on who has it open.
    const sizes = /"?databaseBytes"?.*|^.*MB.*$|^.*KB.*$/gm
    told.push(`${verb.join(" ")}: ${exitCode}\n${stderr}${stdout.replaceAll(sizes, "")}`)
  }
  return told
}

describe("every verb that reads says the same where nothing can be written", () => {
  mountTest(
    "with a history that was closed, or left open by a process that died, with or without its index",
    async () => {
      const usual = await answers([])
      const nothing = readOnlyMount(room.workspace.outside)
      expect(await answers(nothing)).toEqual([...usual])
      leaveOpen()
      const few = verbs().slice(0, 4)
      expect(await answers(nothing, few)).toEqual(usual.slice(0, 4))
      rmSync(join(agent(), "workspace.db-shm"))
      expect(await answers(nothing, few)).toEqual(usual.slice(0, 4))
      expect(readdirSync(room.workspace.outside).filter(name => name.startsWith("acode-history"))).toEqual([])
    },
    180_000,
  )

  mountTest("and what has to write says so, with its code and without a stack trace", async () => {
    const options = {
      cwd: room.workspace.root,
      env: room.environment,
      through: readOnlyMount(room.workspace.outside),
    }
    const refused = [
      ["approve", ids.approval],
      ["runs", "prune", "--older-than", "0s"],
      ["session", "undo", ids.session],
      ["cancel", "--reason", "x"],
    ]
    for (const verb of refused) {
      const { exitCode, stderr } = await runAcode(verb, options)
      expect([verb, exitCode, stderr]).toEqual([verb, 1, expect.stringMatching(/ACODE-DB-003[\s\S]*→/)])
      expect(stderr).not.toMatch(/^\s+at .*\.ts/m)
    }
    expect((await runAcode(["exec", "--", "true"], options)).exitCode).toBe(125)
  })
})

/** Everything of the log is in the file beside the database, as after `kill -9`: only closing would fold it in. */
function leaveOpen(): void {
  const copy = join(room.workspace.outside, "copy")
  mkdirSync(copy)
  const script = `
    const { Database } = require("bun:sqlite")
    const { copyFileSync } = require("node:fs")
    const db = new Database(process.argv[1])
    db.run("PRAGMA wal_autocheckpoint = 0")
    db.run("CREATE TABLE IF NOT EXISTS left_open (x); DROP TABLE left_open")
    for (const end of ["", "-wal", "-shm"]) copyFileSync(process.argv[1] + end, process.argv[2] + end)
  `
  const target = join(copy, "workspace.db")
  Bun.spawnSync([process.execPath, "-e", script, join(agent(), "workspace.db"), target])
  for (const name of readdirSync(copy)) copyFileSync(join(copy, name), join(agent(), name))
  rmSync(copy, { recursive: true })
  expect(statSync(join(agent(), "workspace.db-wal")).size).toBeGreaterThan(0)
}
