import { afterEach, describe, expect, test } from "bun:test"
import { linkSync, readdirSync } from "node:fs"
import { join } from "node:path"
import { ToolCallSettled, ToolCallStarted } from "../../src/domain/events/call-events.ts"
import { Failure } from "../../src/domain/failure.ts"
import { answering, type GateRoom, type GateRoomOptions, gateRoom } from "../support/plan/gate-room.ts"
import { testWhere } from "../support/requirement.ts"
import { readOnlyDirectory, readOnlySkip } from "../support/workspace/read-only.ts"

const readOnlyTest = testWhere(readOnlySkip())

let room: GateRoom
afterEach(() => room[Symbol.dispose]())

interface Look {
  readonly point: string
  readonly events: readonly string[]
  readonly content: string | null
}

/** What is in the log and in the file at each point the gate reaches. */
function looking(looks: Look[], options: GateRoomOptions = {}): GateRoomOptions {
  return {
    files: { "a.txt": "old\n" },
    ...options,
    faults: made => ({
      reach: point =>
        looks.push({
          point,
          events: made
            .events()
            .slice(1)
            .map(({ type }) => type),
          content: made.read("a.txt"),
        }),
    }),
  }
}

const write = { path: "a.txt", content: "new\n" }

describe("the order in which things happen", () => {
  test("the intent is in the log before the file changes, and the outcome before anybody is told", async () => {
    const looks: Look[] = []
    room = gateRoom(looking(looks))
    await room.call("write_file", write, { isGrantedAsWritten: true })
    expect(looks).toEqual([
      { point: "gate.prepared", events: [], content: "old\n" },
      { point: "gate.intended", events: ["tool_call.requested", "tool_call.started"], content: "old\n" },
      { point: "gate.done", events: ["tool_call.requested", "tool_call.started"], content: "new\n" },
      {
        point: "gate.settled",
        events: ["tool_call.requested", "tool_call.started", "tool_call.settled"],
        content: "new\n",
      },
    ])
  })

  test("the pre-image is durable before the intent names it", async () => {
    const kept: boolean[] = []
    room = gateRoom({
      files: { "a.txt": "old\n" },
      faults: made => ({
        reach: point => {
          if (point === "gate.prepared") kept.push(made.checkpoints.list().length === 1)
        },
      }),
    })
    await room.call("write_file", write, { isGrantedAsWritten: true })
    expect(kept).toEqual([true])
  })

  test("the question is in the log before a person sees it", async () => {
    const looks: Look[] = []
    const seen: (readonly string[])[] = []
    room = gateRoom({
      ...looking(looks),
      desk: answering("granted", made => seen.push(made.events().map(({ type }) => type))),
    })
    await room.call("write_file", write)
    expect(seen).toEqual([["session.started", "tool_call.requested", "approval.requested"]])
    expect(looks.map(({ point }) => point)).toEqual([
      "gate.asked",
      "gate.prepared",
      "gate.intended",
      "gate.done",
      "gate.settled",
    ])
    expect(room.commits).toEqual([
      ["tool_call.requested", "approval.requested"],
      ["tool_call.started"],
      ["tool_call.settled"],
    ])
  })

  test("the intent of a command is committed with the start of the command, its end with the outcome", async () => {
    const looks: Look[] = []
    room = gateRoom(looking(looks))
    await room.call("run_command", { argv: ["true"] }, { isGrantedAsWritten: true })
    expect(room.commits).toEqual([
      ["tool_call.requested", "tool_call.started", "command.started"],
      ["command.finished", "tool_call.settled"],
    ])
    expect(looks.find(({ point }) => point === "gate.intended")?.events).toEqual([])
    expect(looks.find(({ point }) => point === "gate.done")?.events).toContain("command.started")
  })
})

describe("a call that breaks in the middle", () => {
  test("without a pre-image is not done at all", async () => {
    room = gateRoom({ files: { "a.txt": "old\n" } })
    linkSync(join(room.root, "a.txt"), join(room.root, "b.txt"))
    const settled = await room.call("write_file", write, { isGrantedAsWritten: true })
    expect(settled).toMatchObject({
      outcome: "failed",
      certainty: "notDone",
      error: { code: "ACODE-FS-004" },
    })
    expect(room.read("a.txt")).toBe("old\n")
  })

  test("that cannot keep its pre-image fails, is recorded, and touches nothing", async () => {
    room = gateRoom({ files: { "a.txt": "old\n" } })
    // A file where the directory of checkpoints belongs.
    room.put(".agent/checkpoints", "in the way")
    const settled = await room.call("write_file", write, { isGrantedAsWritten: true })
    expect(settled).toMatchObject({ outcome: "failed", certainty: "notDone" })
    expect(room.read("a.txt")).toBe("old\n")
    expect(room.commits).toEqual([["tool_call.requested", "tool_call.settled"]])
  })

  test("in a way nobody expects is a failure of ours, with what is true of the files", async () => {
    room = gateRoom({
      files: { "a.txt": "old\n" },
      faults: () => ({
        reach: point => {
          if (point === "gate.done") throw new TypeError("undefined is not a function")
        },
      }),
    })
    const settled = await room.call("write_file", write, { isGrantedAsWritten: true })
    expect(settled).toMatchObject({
      outcome: "failed",
      certainty: "done",
      cause: "failed",
      error: { code: "ACODE-INT-001", message: "undefined is not a function" },
      changes: [{ path: "a.txt" }],
    })
    expect(room.data(ToolCallSettled)).toMatchObject([{ certainty: "done", outcome: "failed" }])
  })

  test("by reading has changed nothing, however it breaks", async () => {
    room = gateRoom({ files: { "a.txt": "old\n" } })
    const settled = await room.call("read_file", { path: "missing.txt" })
    expect(settled).toMatchObject({
      outcome: "failed",
      certainty: "notDone",
      error: { code: "ACODE-FS-002" },
    })
    expect(room.data(ToolCallStarted)).toHaveLength(1)
  })

  readOnlyTest("because the directory cannot be written is not done, and leaves nothing behind", async () => {
    room = gateRoom({ files: { "full/a.txt": "old\n" } })
    using _ = readOnlyDirectory(join(room.root, "full"))
    const settled = await room.call(
      "write_file",
      { path: "full/a.txt", content: "new\n" },
      { isGrantedAsWritten: true },
    )
    expect(settled).toMatchObject({ outcome: "failed", certainty: "notDone", changes: [] })
    expect(settled.error?.code).toBe("ACODE-FS-005")
    expect(room.read("full/a.txt")).toBe("old\n")
    expect(readdirSync(join(room.root, "full"))).toEqual(["a.txt"])
  })

  readOnlyTest("of several files with the last one in the way is not done in part", async () => {
    room = gateRoom({ files: { "a.txt": "a\n", "full/b.txt": "b\n" } })
    using _ = readOnlyDirectory(join(room.root, "full"))
    const patch = ["a.txt", "full/b.txt"]
      .map(path => `--- a/${path}\n+++ b/${path}\n@@ -1 +1 @@\n-${path.at(-5)}\n+${path.at(-5)}2\n`)
      .join("")
    const settled = await room.call("modify_file", { path: ".", patch }, { isGrantedAsWritten: true })
    expect(settled).toMatchObject({ outcome: "failed", certainty: "notDone", changes: [] })
    expect(room.data(ToolCallStarted)[0]?.targets).toHaveLength(2)
    expect([room.read("a.txt"), room.read("full/b.txt")]).toEqual(["a\n", "b\n"])
  })
})

describe("what cannot be recorded", () => {
  test("is not done: an intent the log refuses ends the call with nothing touched", async () => {
    room = gateRoom({ files: { "a.txt": "old\n" } })
    room.log.release()
    const attempt = room.call("write_file", write, { isGrantedAsWritten: true })
    expect(await attempt.catch(error => error)).toBeInstanceOf(Failure)
    expect(room.read("a.txt")).toBe("old\n")
  })

  test("is thrown, not told, when it is the outcome", async () => {
    room = gateRoom({
      files: { "a.txt": "old\n" },
      faults: made => ({
        reach: point => {
          if (point === "gate.done") made.log.release()
        },
      }),
    })
    let attempts = 0
    const after = () => {
      attempts += 1
      return []
    }
    const attempt = room.call("write_file", write, { isGrantedAsWritten: true, after })
    expect(await attempt.catch(error => error)).toBeInstanceOf(Failure)
    expect(room.data(ToolCallSettled)).toEqual([])
    // A second attempt would lack the end of the command, which the first one took.
    expect(attempts).toBe(1)
    expect(room.read("a.txt")).toBe("new\n")
  })
})
