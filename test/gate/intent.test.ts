import { afterEach, describe, expect, test } from "bun:test"
import { chmodSync, rmSync, symlinkSync } from "node:fs"
import { join } from "node:path"
import { sha256Hex } from "../../src/base/canonical.ts"
import { ToolCallSettled, ToolCallStarted } from "../../src/domain/call-events.ts"
import { contentsChanged } from "../../src/gate/intent.ts"
import { type GateRoom, gateRoom } from "../support/gate-room.ts"

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

  test("of a file too large to be kept knows that, and the outcome names it", async () => {
    room = gateRoom({ files: { "a.txt": "x".repeat(3_000) }, checkpointLimits: { fileBytesMax: 1_000 } })
    const settled = await room.call("write_file", { path: "a.txt", content: "small" }, granted)
    const reason = "it is larger than 1000 bytes (checkpoints.max_file_mb), so no copy was kept"
    expect(room.checkpoints.load(settled.callId)?.uncovered).toEqual(new Map([["a.txt", reason]]))
    const uncovered = { paths: [{ path: "a.txt", reason }], count: 1, unwatched: [] }
    expect(settled).toMatchObject({ outcome: "succeeded", uncovered })
    expect(room.data(ToolCallSettled)).toMatchObject([{ uncovered }])
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
