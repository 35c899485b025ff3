import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { type AgentWorkspace, agentWorkspace } from "../../support/agent/agent-workspace.ts"
import { check } from "../../support/checker/checker.ts"
import { eventually } from "../../support/eventually.ts"
import { type PlanWorkspace, planWorkspace } from "../../support/plan/plan-workspace.ts"
import { contains, reply } from "../../support/script-replies.ts"

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
      remove: ["new/", "new/d.txt"],
      write: ["b.txt"],
      foreign: ["a.txt", "e.txt"],
      lost: [],
    })
    expect(read("a.txt")).toBe("changed\nmore\n")
  })

  test("says that its process works where a command of the session still runs", async () => {
    const waiting = "touch ready; until [ -e go ]; do sleep 0.02; done"
    room.plan([["run_command", { argv: ["sh", "-c", waiting] }]], "waiting")
    const running = room.approveAndRun()
    await eventually("the command runs", () => existsSync(path("ready")))
    const refused = await room.acode("session", "undo")
    writeFileSync(path("go"), "")
    await running
    expect([refused.exitCode, refused.stdout]).toEqual([1, ""])
    expect(refused.stderr).toMatch(/ACODE-ORCH-008: process \d+ is working on the session\n/)
    expect(refused.stderr).toContain("wait until it ends")
    expect((await room.acode("session", "undo", "--commands")).exitCode).toBe(0)
    expect(existsSync(path("ready"))).toBe(false)
  })

  test("puts everything back, once", async () => {
    expect((await room.acode("session", "undo", "--commands")).exitCode).toBe(0)
    expect([read("a.txt"), read("b.txt"), read("c.txt")]).toEqual(["a\n", "b\n", "c\n"])
    expect([existsSync(path("new/d.txt")), existsSync(path("e.txt"))]).toEqual([false, false])
    expect(await check(room.workspace)).toEqual([])
    const again = await room.acode("session", "undo")
    expect([again.exitCode, again.stderr]).toEqual([1, expect.stringContaining("ACODE-UNDO-002")])
  })

  test("never touches what somebody else has changed since, names it, and exits 60", async () => {
    writeFileSync(path("a.txt"), "mine\n")
    writeFileSync(path("c.txt"), "mine too\n")
    const run = await room.acode("session", "undo")
    expect(run.exitCode).toBe(60)
    expect(run.stdout).toContain("left alone: a.txt (it changed after the session)")
    expect([read("a.txt"), read("b.txt"), read("c.txt")]).toEqual(["mine\n", "b\n", "mine too\n"])
  })

  test("puts back what a person names with --also, and what was there comes back from the kept checkpoint", async () => {
    writeFileSync(path("a.txt"), "mine\n")
    const run = await room.acode("session", "undo", "--commands", "--also", "a.txt", "--json")
    expect([run.exitCode, read("a.txt")]).toEqual([0, "a\n"])
    const { keptId } = JSON.parse(run.stdout)
    const list = JSON.parse((await room.acode("checkpoint", "list", "--json")).stdout)
    expect(list[0]).toMatchObject({ id: keptId, kind: "undo", fileCount: 3, sizeBytes: 9 })
    expect((await room.acode("checkpoint", "show", keptId)).stdout).toMatch(/nothing +b\.txt/)
    expect((await room.acode("session", "show")).stdout).toContain(
      `\n  kept     what was there before the undo: \`acode checkpoint restore ${keptId}\`\n`,
    )
    const back = await room.acode("checkpoint", "restore", keptId)
    expect([back.exitCode, back.stderr]).toEqual([
      0,
      expect.stringContaining("acode checkpoint restore chk_"),
    ])
    expect([read("a.txt"), read("e.txt"), read("new/d.txt"), existsSync(path("b.txt"))]).toEqual([
      "mine\n",
      "e\n",
      "d\n",
      false,
    ])
    expect(await check(room.workspace)).toEqual([])
  })

  test("of a path that the session did not change is refused", async () => {
    const run = await room.acode("session", "undo", "--also", "c.txt")
    expect([run.exitCode, run.stderr]).toEqual([2, expect.stringContaining("has no change to")])
    expect(read("a.txt")).toBe("changed\nmore\n")
  })

  test("goes on with what it had to leave alone, when that is as the session left it", async () => {
    writeFileSync(path("a.txt"), "mine\n")
    expect((await room.acode("session", "undo", "--commands")).exitCode).toBe(60)
    writeFileSync(path("a.txt"), "changed\nmore\n")
    const run = await room.acode("session", "undo", "--also", "a.txt", "--json")
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
    expect([run.exitCode, run.stdout]).toEqual([1, expect.stringContaining("not restored: [REDACTED:")])
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

describe("checkpoint restore", () => {
  async function undone(): Promise<string> {
    const run = await room.acode("session", "undo", "--commands", "--json")
    expect(run.exitCode).toBe(0)
    return JSON.parse(run.stdout).keptId
  }

  test("leaves a path alone that holds something else by now, unless it is named", async () => {
    const id = await undone()
    writeFileSync(path("a.txt"), "newer\n")
    const all = await room.acode("checkpoint", "restore", id, "--json")
    expect([all.exitCode, JSON.parse(all.stdout)]).toMatchObject([
      60,
      { foreign: ["a.txt"], restored: ["new/", "e.txt", "new/d.txt"], removed: ["b.txt"] },
    ])
    expect([read("a.txt"), read("e.txt")]).toEqual(["newer\n", "e\n"])
    const named = await room.acode("checkpoint", "restore", id, "a.txt", "--json")
    expect([named.exitCode, read("a.txt")]).toEqual([0, "changed\nmore\n"])
    const { keptId } = JSON.parse(named.stdout)
    expect((await room.acode("checkpoint", "restore", keptId)).exitCode).toBe(0)
    expect(read("a.txt")).toBe("newer\n")
    expect(await check(room.workspace)).toEqual([])
  })

  test("of what is there already changes nothing and keeps nothing", async () => {
    const id = await undone()
    await room.acode("checkpoint", "restore", id)
    const again = await room.acode("checkpoint", "restore", id, "--json")
    expect([again.exitCode, JSON.parse(again.stdout)]).toMatchObject([
      0,
      { restored: [], removed: [], keptId: null },
    ])
  })

  test("brings back a file of a pre-image that is named, and refuses a path that it does not have", async () => {
    const list = JSON.parse((await room.acode("checkpoint", "list", "--json")).stdout)
    const deleted = list.find(({ why }: { why: string }) => why === "before delete_file")
    expect(deleted).toMatchObject({ kind: "preImage", fileCount: 1, callId: deleted.id })
    expect((await room.acode("checkpoint", "restore", deleted.id)).exitCode).toBe(60)
    expect(existsSync(path("b.txt"))).toBe(false)
    expect((await room.acode("checkpoint", "restore", deleted.id, "b.txt")).exitCode).toBe(0)
    expect(read("b.txt")).toBe("b\n")
    const wrong = await room.acode("checkpoint", "restore", deleted.id, "a.txt")
    expect([wrong.exitCode, wrong.stderr]).toEqual([2, expect.stringContaining('has no path "a.txt"')])
  })

  test("brings back each directory that it shows, by its name and with what is below it", async () => {
    const script =
      "mkdir empty; mkdir -p deep/er; chmod 700 empty; echo f > deep/er/f; mkdir in; echo g > in/g"
    room.plan([["run_command", { argv: ["sh", "-c", script] }]])
    expect((await room.approveAndRun()).run.exitCode).toBe(0)
    const id = await undone()
    const { paths } = JSON.parse((await room.acode("checkpoint", "show", id, "--json")).stdout)
    const shown = paths.map((each: { path: string; kind: string }) => `${each.kind} ${each.path}`)
    expect(shown.toSorted()).toEqual([
      "directory deep",
      "directory deep/er",
      "directory empty",
      "directory in",
      "file deep/er/f",
      "file in/g",
    ])
    const restored = async (name: string) => {
      const run = await room.acode("checkpoint", "restore", id, name, "--json")
      return [run.exitCode, JSON.parse(run.stdout).restored]
    }
    expect(await restored("empty/")).toEqual([0, ["empty/"]])
    expect(statSync(path("empty")).mode & 0o777).toBe(0o700)
    expect(await restored("deep")).toEqual([0, ["deep/", "deep/er/", "deep/er/f"]])
    expect([read("deep/er/f"), existsSync(path("in"))]).toEqual(["f\n", false])
    chmodSync(path("deep"), 0o711)
    mkdirSync(path("in"), { mode: 0o750 })
    const rest = await room.acode("checkpoint", "restore", id)
    expect([rest.exitCode, rest.stdout]).toEqual([
      60,
      "restored: in/g\n" +
        "left alone: deep/ (it is not what was left there)\n" +
        "left alone: in/ (it is not what was left there)\n",
    ])
    // What is advised takes the directory that was left alone.
    expect(rest.stderr).toContain(`acode checkpoint restore ${id} deep/`)
    expect(await restored("deep/")).toEqual([0, ["deep/"]])
    expect(await restored(".")).toEqual([0, ["in/"]])
    expect(read("in/g")).toBe("g\n")
  })

  test("brings back directories of a pre-image of the whole tree", async () => {
    mkdirSync(path("empty"), { mode: 0o700 })
    room.plan([["run_command", { argv: ["sh", "-c", "rmdir empty; chmod 750 ."] }]])
    expect((await room.approveAndRun()).run.exitCode).toBe(0)
    const list = JSON.parse((await room.acode("checkpoint", "list", "--json")).stdout)
    const all = await room.acode("checkpoint", "restore", list[0].id)
    expect([all.exitCode, all.stdout]).toEqual([
      60,
      "left alone: ./ (it was changed since)\nleft alone: empty/ (it was changed since)\n",
    ])
    const named = await room.acode("checkpoint", "restore", list[0].id, "empty")
    expect([named.exitCode, named.stdout]).toEqual([0, "restored: empty/\n"])
    expect(statSync(path("empty")).mode & 0o777).toBe(0o700)
  })
})
