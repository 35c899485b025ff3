import { afterEach, describe, expect, test } from "bun:test"
import { mkdirSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { openCalls } from "../../src/gate/recovery.ts"
import { event } from "../store/support/session-events.ts"
import { type GateRoom, gateRoom } from "../support/plan/gate-room.ts"
import { beginAndDie, beginCommand, dyingRoom, recover } from "./interrupted-calls.ts"

let room: GateRoom
afterEach(() => room[Symbol.dispose]())

describe("calls without an outcome", () => {
  test("are found with their intent and with the command that has no end", async () => {
    room = gateRoom()
    room.log.append([
      event.callRequested("cal_0"),
      event.callStarted("cal_0"),
      event.callSettled("cal_0"),
      event.callRequested("cal_9"),
    ])
    await beginCommand(room, { effectClass: "run", hasCheckpoint: false })
    expect(openCalls(room.events())).toMatchObject([
      { requested: { callId: "cal_9" }, started: null, executionId: null },
      { requested: { callId: "cal_1" }, started: { effectClass: "run" }, executionId: "exe_1" },
    ])
  })

  test("are none where every call has one", async () => {
    room = gateRoom({ files: { "a.txt": "a" } })
    await room.call("read_file", { path: "a.txt" })
    await room.call("run_command", { argv: ["true"] }, { isGrantedAsWritten: true })
    expect(openCalls(room.events())).toEqual([])
  })
})

describe("a call that had only been asked for", () => {
  test("was not done", async () => {
    room = gateRoom()
    room.log.append([event.callRequested("cal_1", { tool: "file_write" })])
    expect((await recover(room)).settled).toMatchObject({
      outcome: "interrupted",
      certainty: "notDone",
      cause: "failed",
      error: { code: "ACODE-EXE-013", message: expect.stringContaining("file_write had not begun") },
    })
  })
})

describe("a read that was interrupted", () => {
  test("changed nothing", async () => {
    room = dyingRoom({ files: { "a.txt": "a\n" } })
    await beginAndDie(room, "read_file", { path: "a.txt" })
    const { settled, events } = await recover(room)
    expect(settled).toMatchObject({ outcome: "interrupted", certainty: "notDone", changes: [] })
    expect(settled.error?.message).toContain("which changes nothing")
    expect(events.map(({ type }) => type)).toEqual(["tool_call.settled"])
  })
})

describe("a replacement that was interrupted", () => {
  const begin = async () => {
    room = dyingRoom({ files: { "a.txt": "old a\n", "b.txt": "old b\n" } })
    const patch = ["a", "b"]
      .map(name => `--- a/${name}.txt\n+++ b/${name}.txt\n@@ -1 +1 @@\n-old ${name}\n+new ${name}\n`)
      .join("")
    await beginAndDie(room, "modify_file", { path: ".", patch })
  }
  const states: readonly (readonly [string, Record<string, string>, string, readonly string[], string])[] = [
    ["before the first file was written", {}, "notDone", [], "was not done: a.txt, b.txt as before"],
    ["after the first", { "a.txt": "new a\n" }, "partly", ["a.txt"], "was done in part: a.txt"],
    ["after the second alone", { "b.txt": "new b\n" }, "partly", ["b.txt"], "was done in part: b.txt"],
    [
      "after both",
      { "a.txt": "new a\n", "b.txt": "new b\n" },
      "done",
      ["a.txt", "b.txt"],
      "was done: a.txt, b.txt",
    ],
    [
      "and somebody else wrote since",
      { "a.txt": "hers\n" },
      "unknown",
      [],
      "another process has changed a.txt, b.txt since",
    ],
    [
      "and somebody else wrote one since",
      { "a.txt": "new a\n", "b.txt": "hers\n" },
      "unknown",
      ["a.txt"],
      "it is unknown whether",
    ],
  ]
  for (const [name, files, certainty, changed, told] of states)
    test(`${name} is told exactly`, async () => {
      await begin()
      for (const [path, content] of Object.entries(files)) room.put(path, content)
      const { settled } = await recover(room)
      expect(settled.certainty).toBe(certainty as "done")
      expect(settled.changes.map(({ path }) => path)).toEqual([...changed])
      expect(settled.paths).toEqual([...changed])
      expect(settled.error?.message).toContain(told)
      expect(settled.cause).toBe(certainty === "unknown" ? "unknown" : "failed")
    })

  test("changes nothing by being looked at, and reads the same the second time", async () => {
    await begin()
    room.put("a.txt", "new a\n")
    const [first, second] = [await recover(room), await recover(room)]
    expect(first.settled).toEqual(second.settled)
    expect([room.read("a.txt"), room.read("b.txt")]).toEqual(["new a\n", "old b\n"])
  })

  test("is told without its pre-image just as well", async () => {
    await begin()
    rmSync(join(room.root, ".agent/checkpoints"), { recursive: true })
    room.put("a.txt", "new a\n")
    expect((await recover(room)).settled).toMatchObject({ certainty: "partly", changes: [{ path: "a.txt" }] })
  })

  test("of a new file and of a removed one is told by what is there", async () => {
    room = dyingRoom({ files: { "old.txt": "x" } })
    await beginAndDie(room, "delete_file", { paths: ["old.txt"] })
    expect((await recover(room)).settled.certainty).toBe("notDone")
    rmSync(join(room.root, "old.txt"))
    expect((await recover(room)).settled).toMatchObject({
      certainty: "done",
      changes: [{ path: "old.txt", after: null }],
    })
  })

  test("of a file whose name the log does not hold is never told, done or not", async () => {
    const name = "ghp_abcdefghijklmnopqrstuvwxyz0123456789.json"
    room = dyingRoom({ files: { "a.txt": "a" } })
    await beginAndDie(room, "write_file", { path: name, content: "new" })
    const unnamed = { path: "[REDACTED:github-token].json", before: null }
    expect((await recover(room)).settled).toMatchObject({ certainty: "unknown", changes: [unnamed] })
    room.put(name, "new")
    const { settled } = await recover(room)
    expect(settled).toMatchObject({ certainty: "unknown", cause: "unknown", changes: [unnamed] })
    expect(settled.error?.message).toContain("it is unknown whether write_file was done")
  })

  test("of several, of which the log holds the name of one, names that one as far as it is known", async () => {
    const name = "ghp_abcdefghijklmnopqrstuvwxyz0123456789.json"
    room = dyingRoom({ files: { [name]: "x", "a.txt": "a" } })
    await beginAndDie(room, "delete_file", { paths: ["a.txt", name] })
    // A redacted path is never there, which is just what a deletion would have left.
    expect((await recover(room)).settled).toMatchObject({
      certainty: "unknown",
      changes: [{ path: "[REDACTED:github-token].json" }],
    })
    rmSync(join(room.root, "a.txt"))
    expect((await recover(room)).settled.changes.map(({ path }) => path)).toEqual([
      "a.txt",
      "[REDACTED:github-token].json",
    ])
  })

  test("of a symlink is told by where it points", async () => {
    room = dyingRoom({ files: { "a.txt": "x" } })
    symlinkSync("a.txt", join(room.root, "link"))
    await beginAndDie(room, "delete_file", { paths: ["link"] })
    expect((await recover(room)).settled.certainty).toBe("notDone")
    rmSync(join(room.root, "link"))
    expect((await recover(room)).settled.certainty).toBe("done")
    symlinkSync("elsewhere.txt", join(room.root, "link"))
    expect((await recover(room)).settled.certainty).toBe("unknown")
  })

  test("takes its half-written file away, and no other", async () => {
    await begin()
    room.put(`.acode-${"0".repeat(32)}.tmp~`, "half")
    room.put(".acode-notes.tmp~", "hers")
    await recover(room)
    const left = readdirSync(room.root).filter(name => name !== ".agent")
    expect(left.toSorted()).toEqual([".acode-notes.tmp~", "a.txt", "b.txt"])
  })

  test("in a directory that is gone, or leads outside by now, can be closed all the same", async () => {
    room = dyingRoom({ files: { "d/a.txt": "old\n" } })
    await beginAndDie(room, "write_file", { path: "d/a.txt", content: "new\n" })
    renameSync(join(room.root, "d"), join(room.root, "moved"))
    expect((await recover(room)).settled.certainty).toBe("unknown")
    mkdirSync(join(room.temp.outside, "elsewhere"))
    writeFileSync(join(room.temp.outside, "elsewhere/a.txt"), "new\n")
    symlinkSync(join(room.temp.outside, "elsewhere"), join(room.root, "d"))
    expect((await recover(room)).settled).toMatchObject({ certainty: "unknown", changes: [] })
  })
})

describe("a command that was interrupted", () => {
  test("and could reach only the workspace is known by what changed there", async () => {
    room = gateRoom({ files: { "a.txt": "a", "b.txt": "b" } })
    await beginCommand(room, { effectClass: "run", hasCheckpoint: true })
    room.put("a.txt", "changed")
    room.put("c.txt", "c")
    rmSync(join(room.root, "b.txt"))
    const { settled, unattributed } = await recover(room)
    expect(settled).toMatchObject({ certainty: "partly", cause: "failed", executionId: "exe_1" })
    expect(settled.changes.map(({ path }) => path).toSorted()).toEqual(["a.txt", "b.txt", "c.txt"])
    expect(unattributed.toSorted()).toEqual(["a.txt", "b.txt", "c.txt"])
    expect(settled.error?.message).toContain("changed since it began, by it or by another process: ")
  })

  test("and changed nothing there was not done", async () => {
    room = gateRoom({ files: { "a.txt": "a" } })
    await beginCommand(room, { effectClass: "run", hasCheckpoint: true })
    expect((await recover(room)).settled).toMatchObject({ certainty: "notDone", changes: [] })
  })

  test("and lost its pre-image is not known", async () => {
    room = gateRoom({ files: { "a.txt": "a" } })
    await beginCommand(room, { effectClass: "run", hasCheckpoint: true })
    rmSync(join(room.root, ".agent/checkpoints"), { recursive: true })
    expect((await recover(room)).settled).toMatchObject({ certainty: "unknown", cause: "unknown" })
  })

  test("and whose pre-image is damaged is not known, and can be closed", async () => {
    room = gateRoom({ files: { "a.txt": "a" } })
    await beginCommand(room, { effectClass: "run", hasCheckpoint: true })
    const manifests = join(room.root, ".agent/checkpoints/manifests")
    for (const name of readdirSync(manifests)) writeFileSync(join(manifests, name), "{}")
    expect((await recover(room)).settled).toMatchObject({ certainty: "unknown", changes: [] })
  })

  test("and could reach further is never known, whatever is seen", async () => {
    room = gateRoom({ files: { "a.txt": "a" } })
    await beginCommand(room, { effectClass: "once", hasCheckpoint: true })
    room.put("a.txt", "changed")
    const { settled } = await recover(room)
    expect(settled).toMatchObject({ certainty: "unknown", cause: "unknown", changes: [{ path: "a.txt" }] })
    expect(settled.error?.message).toContain("it is unknown whether it took effect")
  })

  test("and could reach further, without a pre-image, is not known either", async () => {
    room = gateRoom()
    await beginCommand(room, { effectClass: "once", hasCheckpoint: false })
    expect((await recover(room)).settled).toMatchObject({ certainty: "unknown", changes: [] })
  })

  test("names at most twenty of the paths it changed", async () => {
    room = gateRoom()
    await beginCommand(room, { effectClass: "run", hasCheckpoint: true })
    for (let index = 0; index < 25; index++) room.put(`f${index}.txt`, "x")
    const { settled } = await recover(room)
    expect(settled.changes).toHaveLength(25)
    expect(settled.error?.message).toMatch(/f\d+\.txt and 5 more$/)
  })

  test("gets an end of its own, before that of its call, and both can be committed", async () => {
    room = gateRoom()
    await beginCommand(room, { effectClass: "once", hasCheckpoint: false })
    const { events } = await recover(room)
    expect(events.map(({ type }) => type)).toEqual(["command.finished", "tool_call.settled"])
    room.log.append(events)
    expect(openCalls(room.events())).toEqual([])
    expect(room.store.executions.show("exe_1")?.result.ending).toBe("interrupted")
    expect(room.store.verify().problems).toEqual([])
  })
})
