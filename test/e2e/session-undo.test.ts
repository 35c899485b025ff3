import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { type AgentWorkspace, agentWorkspace } from "../support/agent-workspace.ts"
import { check } from "../support/checker.ts"
import { type PlanWorkspace, planWorkspace } from "../support/plan-workspace.ts"
import { contains, reply } from "../support/script-replies.ts"

let room: PlanWorkspace
beforeEach(async () => {
  room = planWorkspace({ files: { "a.txt": "a\n", "b.txt": "b\n", "c.txt": "c\n" } })
  room.plan([
    ["file_write", { path: "a.txt", contents: "changed\n" }],
    ["delete_file", { paths: ["b.txt"] }],
    ["file_create", { path: "new/d.txt", contents: "d\n" }],
    ["run_command", { argv: ["sh", "-c", "echo more >> a.txt; echo e > e.txt"] }],
  ])
  await room.approveAndRun()
})
afterEach(() => room[Symbol.dispose]())

const path = (name: string) => join(room.workspace.root, name)
const read = (name: string) => readFileSync(path(name), "utf8")

describe("session undo", () => {
  test("shows what it would do without doing it", async () => {
    const run = await room.acode("session", "undo", "--preview", "--json")
    expect(run.exitCode).toBe(0)
    expect(JSON.parse(run.stdout)).toMatchObject({
      remove: ["e.txt", "new/d.txt"],
      write: ["a.txt", "b.txt"],
      foreign: [],
      lost: [],
    })
    expect(read("a.txt")).toBe("changed\nmore\n")
  })

  test("puts everything back, once", async () => {
    expect((await room.acode("session", "undo")).exitCode).toBe(0)
    expect([read("a.txt"), read("b.txt"), read("c.txt")]).toEqual(["a\n", "b\n", "c\n"])
    expect([existsSync(path("new/d.txt")), existsSync(path("e.txt"))]).toEqual([false, false])
    expect(await check(room.workspace)).toEqual([])
    const again = await room.acode("session", "undo")
    expect([again.exitCode, again.stderr]).toEqual([1, expect.stringContaining("ACODE-UNDO-002")])
  })

  test("never touches what somebody else has changed since, names it, and exits 1", async () => {
    writeFileSync(path("a.txt"), "mine\n")
    writeFileSync(path("c.txt"), "mine too\n")
    const run = await room.acode("session", "undo")
    expect(run.exitCode).toBe(1)
    expect(run.stdout).toContain("left alone, changed by others: a.txt")
    expect([read("a.txt"), read("b.txt"), read("c.txt")]).toEqual(["mine\n", "b\n", "mine too\n"])
  })

  test("goes on with what it had to leave alone, when that is as the session left it", async () => {
    writeFileSync(path("a.txt"), "mine\n")
    expect((await room.acode("session", "undo")).exitCode).toBe(1)
    writeFileSync(path("a.txt"), "changed\nmore\n")
    const run = await room.acode("session", "undo", "--json")
    expect([run.exitCode, JSON.parse(run.stdout)]).toMatchObject([0, { restored: ["a.txt"], removed: [] }])
    expect([read("a.txt"), read("b.txt")]).toEqual(["a\n", "b\n"])
    expect(await check(room.workspace)).toEqual([])
    expect((await room.acode("session", "undo")).stderr).toContain("ACODE-UNDO-002")
  })

  test("never exits 0 for a file whose name the log does not hold", async () => {
    const name = "ghp_abcdefghijklmnopqrstuvwxyz0123456789.json"
    room.plan([["file_write", { path: name, contents: "overwritten\n" }]])
    await room.approveAndRun()
    const preview = await room.acode("session", "undo", "--preview", "--json")
    expect(JSON.parse(preview.stdout)).toMatchObject({ lost: ["[REDACTED:github-token].json"] })
    const run = await room.acode("session", "undo")
    expect([run.exitCode, run.stdout]).toEqual([1, expect.stringContaining("not put back: [REDACTED:")])
  })

  test("of a session that changed nothing says so", async () => {
    room.plan([["file_read", { path: "a.txt" }]])
    await room.approveAndRun()
    const run = await room.acode("session", "undo")
    expect([run.exitCode, run.stderr]).toEqual([1, expect.stringContaining("ACODE-UNDO-001")])
  })
})

describe("session undo of a session that rests", () => {
  /** A file is written, then the step is given up; a resume writes it again. */
  async function resting(): Promise<AgentWorkspace> {
    const agent = agentWorkspace()
    agent.script(
      reply.plan({ write: ["greeting.txt"], acceptance: [contains("greeting.txt", "hello")] }),
      reply.write("greeting.txt", "hello\n"),
      reply.giveUp("cannot"),
      reply.write("greeting.txt", "hello again\n"),
      reply.finish(),
      reply.review("approve"),
    )
    expect((await agent.run("--yes=plan")).exitCode).toBe(30)
    expect((await agent.acode("session", "undo")).exitCode).toBe(0)
    expect(agent.file("greeting.txt")).toBeNull()
    return agent
  }

  test("lets it be cancelled, and nothing looks changed", async () => {
    using agent = await resting()
    expect((await agent.acode("cancel")).exitCode).toBe(0)
    expect((await agent.acode("audit", "verify")).exitCode).toBe(0)
    const again = await agent.acode("session", "undo")
    expect([again.exitCode, again.stderr]).toEqual([1, expect.stringContaining("ACODE-UNDO-002")])
  })

  test("lets it go on, and what it writes then can be undone as well", async () => {
    using agent = await resting()
    const [{ id }] = JSON.parse((await agent.acode("session", "list", "--json")).stdout)
    expect((await agent.resume(id)).exitCode).toBe(0)
    expect(agent.file("greeting.txt")).toBe("hello again\n")
    expect((await agent.acode("audit", "verify")).exitCode).toBe(0)
    expect((await agent.acode("session", "list")).stdout).not.toContain("(undone)")
    expect((await agent.acode("session", "undo")).exitCode).toBe(0)
    expect(agent.file("greeting.txt")).toBeNull()
    expect(await check(agent.workspace)).toEqual([])
  })
})
