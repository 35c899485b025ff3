import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import { cpSync, existsSync, readdirSync, rmSync } from "node:fs"
import { join } from "node:path"
import { runAcode } from "../support/acode.ts"
import { check } from "../support/checker/checker.ts"
import { type PlanWorkspace, planWorkspace } from "../support/plan/plan-workspace.ts"
import { changeDatabase } from "../support/workspace/at-the-file.ts"

let room: PlanWorkspace

beforeEach(async () => {
  room = planWorkspace({ files: { "a.txt": "one\n" } })
  room.plan([["write_file", { path: "a.txt", content: "two\n" }]])
  await expectExit(0, "plan", "approve", room.planFile)
})
afterEach(() => room[Symbol.dispose]())

async function expectExit(code: number, ...args: readonly string[]) {
  const run = await room.acode(...args)
  expect([args.join(" "), run.exitCode, run.exitCode === code ? "" : run.stderr]).toEqual([
    args.join(" "),
    code,
    "",
  ])
  return run
}

const anchors = () => join(room.workspace.dataHome, "acode", "anchors")
const accept = ["audit", "accept", "--reason", "restored the backup of Monday"]

/** An older copy of the state is put back, from before a plan was run. */
async function restoreBackup(): Promise<void> {
  const copy = `${room.workspace.outside}/backup`
  cpSync(room.workspace.state(), copy, { recursive: true })
  await expectExit(0, "plan", "run", room.planFile)
  rmSync(room.workspace.state(), { recursive: true })
  cpSync(copy, room.workspace.state(), { recursive: true })
}

describe("audit accept", () => {
  test("goes on with a restored backup, is named from then on, and brings no approval back", async () => {
    await restoreBackup()
    await expectExit(65, "audit", "verify")
    await expectExit(65, "plan", "run", room.planFile)
    await expectExit(2, "audit", "accept")
    await expectExit(65, "plan", "run", room.planFile)
    const accepted = await expectExit(0, ...accept)
    expect(accepted.stdout).toContain("it was truncated, or an older copy was restored")
    const verified = await expectExit(0, "audit", "verify")
    expect(verified.stdout).toMatch(/^accepted by \S+ at \S+Z: restored the backup of Monday \(the log ends/)
    // Whether it was used already nobody knows: it has to be given again.
    const refused = await expectExit(33, "plan", "run", room.planFile)
    expect(refused.stderr).toContain("E002")
    room.workspace.write("a.txt", "one\n")
    await expectExit(0, "plan", "approve", room.planFile)
    await expectExit(0, "plan", "run", room.planFile)
    await expectExit(0, "session", "undo")
    expect(readdirSync(anchors()).filter(name => name.endsWith(".accepted-1"))).toHaveLength(1)
    expect(await check(room.workspace)).toEqual([])
  })

  test.each([
    ["the directory of anchors", () => rmSync(anchors(), { recursive: true })],
    [
      "one anchor file",
      () => {
        for (const name of readdirSync(anchors())) rmSync(join(anchors(), name))
      },
    ],
  ])("goes on where %s is gone, which is a finding until then and again afterwards", async (_, remove) => {
    for (const round of [1, 2]) {
      remove()
      const found = await expectExit(65, "audit", "verify")
      expect(found.stderr).toContain("the anchors of this history are missing")
      await expectExit(0, "exec", "--sandbox", "none", "--", "true")
      await expectExit(65, "plan", "run", room.planFile)
      await expectExit(65, "runs", "list")
      await expectExit(0, ...accept)
      const { stdout } = await expectExit(0, "audit", "verify", "--json")
      expect(JSON.parse(stdout).accepted).toHaveLength(round)
      await expectExit(0, "runs", "list")
    }
  })

  test("sets a history aside whose key is gone with the data directory, and begins a new one", async () => {
    rmSync(join(room.workspace.dataHome, "acode"), { recursive: true })
    const lost = await expectExit(65, "runs", "list")
    expect(lost.stderr).toContain("ACODE-SEC-001")
    const { stdout } = await expectExit(0, ...accept, "--json")
    const { setAside } = JSON.parse(stdout)
    expect(existsSync(join(room.workspace.state(), "..", setAside, "workspace.db"))).toBe(true)
    const verified = await expectExit(0, "audit", "verify")
    expect(verified.stdout).toContain(`the history before it is kept as ${setAside}`)
    await expectExit(33, "plan", "run", room.planFile)
    expect(await check(room.workspace)).toEqual([])
  })

  test("accepts no event that was changed: what does not verify stays unusable", async () => {
    await expectExit(0, "plan", "run", room.planFile)
    changeDatabase(
      room.workspace.state("workspace.db"),
      "UPDATE events SET at = '2020-01-01T00:00:00.000Z' WHERE type = 'tool_call.settled'",
    )
    await expectExit(2, ...accept)
    rmSync(anchors(), { recursive: true })
    const run = await expectExit(65, ...accept)
    expect(run.stderr).toContain("this was not accepted, and stays unusable")
    for (const verb of [
      ["audit", "verify"],
      ["session", "undo"],
      ["session", "show"],
    ])
      await expectExit(65, ...verb)
    expect(await Bun.file(join(room.workspace.root, "a.txt")).text()).toBe("two\n")
  })

  test("has nothing to accept where everything matches, or where nothing was recorded, and records nothing", async () => {
    const before = await expectExit(0, "audit", "verify", "--json")
    await expectExit(2, ...accept)
    expect((await expectExit(0, "audit", "verify", "--json")).stdout).toBe(before.stdout)
    const elsewhere = join(room.workspace.outside, "empty")
    const run = await runAcode(["-C", room.workspace.outside, ...accept], {
      cwd: room.workspace.outside,
      env: { ...room.workspace.environment, ACODE_STATE_DIR: elsewhere },
    })
    expect([run.exitCode, existsSync(join(elsewhere, "workspaces"))]).toEqual([1, false])
  })
})
