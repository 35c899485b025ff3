import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { type AgentWorkspace, agentWorkspace } from "../support/agent-workspace.ts"
import { planText } from "../support/plan-workspace.ts"
import { contains, greeting, reply } from "../support/script-replies.ts"

let room: AgentWorkspace
beforeEach(() => {
  room = agentWorkspace({ files: { "a.txt": "precious\n" } })
})
afterEach(() => room[Symbol.dispose]())

const directory = () => join(room.workspace.root, ".agent/checkpoints/manifests")
const kept = () => readdirSync(directory()).map(name => name.replace(".json", ""))
const dayMs = 24 * 3600 * 1000

/** As if all that is kept had been taken so many days ago. */
function age(days: number): void {
  const at = new Date(Date.now() - days * dayMs).toISOString()
  for (const name of readdirSync(directory())) {
    const path = join(directory(), name)
    writeFileSync(path, JSON.stringify({ ...JSON.parse(readFileSync(path, "utf8")), at }))
  }
}

async function runPlan(): Promise<void> {
  const file = join(room.workspace.outside, "plan.json")
  writeFileSync(file, planText([["write_file", { path: "other.txt", content: "x" }]], "p"))
  expect((await room.acode("plan", "approve", file)).exitCode).toBe(0)
  expect((await room.acode("plan", "run", file)).exitCode).toBe(0)
}

/** A session that has changed a file and rests. */
async function resting(): Promise<string> {
  room.script(
    reply.plan({ write: ["a.txt"], acceptance: [contains("a.txt", "new")] }),
    reply.write("a.txt", "changed\n"),
    reply.giveUp("cannot"),
  )
  const { exitCode, events } = await room.run("--yes=plan")
  expect(exitCode).toBe(30)
  return events[0]?.session ?? ""
}

async function finished(): Promise<readonly string[]> {
  room.script(...greeting())
  expect((await room.run("--yes=plan")).exitCode).toBe(0)
  return kept()
}

describe("a plan run", () => {
  test("removes what is older than what can be undone, and nothing younger", async () => {
    const taken = await finished()
    age(6)
    await runPlan()
    expect(kept()).toEqual(expect.arrayContaining([...taken]))
    age(8)
    await runPlan()
    expect(kept()).toHaveLength(1)
  })

  test("is not kept from it by one that is damaged", async () => {
    await finished()
    age(8)
    writeFileSync(join(directory(), "cal_damaged.json"), "{")
    await runPlan()
    expect(kept().filter(name => name !== "cal_damaged")).toHaveLength(1)
  })

  test("leaves what a session needs that somebody may still resume", async () => {
    const session = await resting()
    const needed = kept()
    age(8)
    await runPlan()
    expect(kept()).toEqual(expect.arrayContaining([...needed]))
    expect((await room.acode("cancel", session)).exitCode).toBe(0)
    age(8)
    await runPlan()
    expect(kept()).toHaveLength(1)
  })
})

describe("a session of the agent lane", () => {
  test("removes what is too old when it starts and when it goes on", async () => {
    await finished()
    rmSync(join(room.workspace.root, "greeting.txt"))
    age(8)
    const { exitCode, events } = await room.run("--yes=plan", "--plan-only")
    expect([exitCode, kept()]).toEqual([0, []])
    await runPlan()
    const [old] = kept()
    age(8)
    const resumed = await room.acode("resume", events[0]?.session ?? "", "--script", room.scriptFile)
    expect(resumed.exitCode).toBe(0)
    expect(kept()).toEqual([expect.not.stringContaining(old ?? "")])
  })
})
