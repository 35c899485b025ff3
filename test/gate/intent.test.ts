import { afterEach, describe, expect, test } from "bun:test"
import { chmodSync, rmSync, symlinkSync } from "node:fs"
import { join } from "node:path"
import { sha256Hex } from "../../src/base/canonical.ts"
import { ToolCallStarted } from "../../src/domain/events/call-events.ts"
import { contentsChanged } from "../../src/gate/intent.ts"
import { type GateRoom, gateRoom } from "../support/plan/gate-room.ts"

let room: GateRoom
afterEach(() => room[Symbol.dispose]())

const granted = { isGrantedAsWritten: true }

describe("the intent of a call", () => {
  test("names every target with its content before and after, and keeps the one before", async () => {
    room = gateRoom({ files: { "a.txt": "a", "b.txt": "b" } })
    symlinkSync("a.txt", join(room.root, "link"))
    const { callId } = await room.call("delete_file", { paths: ["a.txt", "b.txt", "link"] }, granted)
    expect(room.data(ToolCallStarted)).toMatchObject([
      {
        targets: [
          { path: "a.txt", before: sha256Hex("a"), after: null },
          { path: "b.txt", before: sha256Hex("b"), after: null },
          { path: "link", before: "link:a.txt", after: null },
        ],
        checkpointId: callId,
      },
    ])
    expect([...(room.checkpoints.load(callId)?.entries.keys() ?? [])]).toEqual(["a.txt", "b.txt", "link"])
  })

  test("of a new file keeps that there was none", async () => {
    room = gateRoom()
    const { callId } = await room.call("create_file", { path: "d/new.txt", content: "x" }, granted)
    expect(room.checkpoints.load(callId)).toMatchObject({ scope: "files", absent: ["d/new.txt"] })
  })

  test("of a file too large to be kept cannot be had, and then no tool changes the file", async () => {
    const large = "x".repeat(3_000)
    room = gateRoom({ files: { "a.txt": large, "b.txt": "b" }, checkpointLimits: { fileBytesMax: 1_000 } })
    const calls = [
      ["write_file", { path: "a.txt", content: "small" }],
      ["delete_file", { paths: ["b.txt", "a.txt"] }],
      ["modify_file", { path: "a.txt", edits: [{ search: large, replace: "small" }] }],
    ] as const
    for (const [tool, args] of calls) {
      const { error, outcome, certainty } = await room.call(tool, args, granted)
      expect([outcome, certainty, error?.code]).toEqual(["failed", "notDone", "ACODE-FS-006"])
      expect(error?.message).toContain("it is larger than 1000 bytes (checkpoints.max_file_mb)")
    }
    expect([room.read("a.txt"), room.read("b.txt")]).toEqual([large, "b"])
  })

  test("says who decided, and how", async () => {
    room = gateRoom({ files: { "a.txt": "a" } })
    await room.call("read_file", { path: "a.txt" })
    const [started] = room.data(ToolCallStarted)
    expect(started?.decision).toMatchObject({ decision: "allow", level: 1 })
    expect(started?.decision.rule).not.toBe("")
  })
})

describe("what changed since a pre-image", () => {
  test("is every path that came, went or became another, in the spelling of a change", async () => {
    room = gateRoom({ files: { "a.txt": "a", "gone.txt": "g", "same.txt": "s", "mode.sh": "m" } })
    symlinkSync("a.txt", join(room.root, "link"))
    const taken = await room.checkpoints.takeTree("cal_1", await room.workspace.tree())
    room.put("a.txt", "b")
    room.put("new.txt", "n")
    chmodSync(join(room.root, "mode.sh"), 0o755)
    for (const name of ["gone.txt", "link"]) rmSync(join(room.root, name))
    symlinkSync("new.txt", join(room.root, "link"))
    const { changes } = await contentsChanged(room.checkpoints, room.workspace, taken.checkpoint)
    expect(changes.toSorted((a, b) => (a.path < b.path ? -1 : 1))).toEqual([
      { path: "a.txt", before: sha256Hex("a"), after: sha256Hex("b") },
      { path: "gone.txt", before: sha256Hex("g"), after: null },
      { path: "link", before: "link:a.txt", after: "link:new.txt" },
      { path: "mode.sh", before: sha256Hex("m"), after: sha256Hex("m") },
      { path: "new.txt", before: null, after: sha256Hex("n") },
    ])
  })
})
