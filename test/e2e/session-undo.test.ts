import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { check } from "../support/checker.ts"
import { type PlanWorkspace, planWorkspace } from "../support/plan-workspace.ts"

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

  test("of a session that changed nothing says so", async () => {
    room.plan([["file_read", { path: "a.txt" }]])
    await room.approveAndRun()
    const run = await room.acode("session", "undo")
    expect([run.exitCode, run.stderr]).toEqual([1, expect.stringContaining("ACODE-UNDO-001")])
  })
})
