import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import { existsSync, mkdirSync, symlinkSync } from "node:fs"
import { join } from "node:path"
import { emptyGrant } from "../../src/domain/effect.ts"
import { ToolCallRequested, ToolCallSettled, ToolCallStarted } from "../../src/domain/events/call-events.ts"
import type { CallError } from "../../src/domain/tool-call.ts"
import { event } from "../store/support/session-events.ts"
import { type GateRoom, gateRoom } from "../support/plan/gate-room.ts"

let room: GateRoom
beforeEach(() => {
  room = gateRoom({ files: { "a.txt": "one\ntwo\n" } })
})
afterEach(() => room[Symbol.dispose]())

const granted = { isGrantedAsWritten: true }

describe("a call that cannot be made", () => {
  test("of an unknown tool is refused with what was probably meant, in one commit", async () => {
    const settled = await room.call("file_raed", { path: "a.txt" })
    expect(settled).toMatchObject({
      outcome: "failed",
      certainty: "notDone",
      cause: "failed",
      error: {
        code: "E201",
        message: "unknown tool file_raed",
        hint: expect.stringContaining("file_read"),
      },
      diagnostics: [{ code: "E201", level: "error" }],
    })
    expect(room.commits).toEqual([["tool_call.requested", "tool_call.settled"]])
    expect(room.data(ToolCallRequested)).toMatchObject([{ tool: "file_raed", canonicalTool: null }])
  })

  test("of a name that is known and no tool says why", async () => {
    const { error } = await room.call("finish_step", { summary: "" })
    expect(error).toMatchObject({ code: "E201", message: expect.stringContaining("means nothing elsewhere") })
  })

  test("because something stands in its way is on record under its own name, and nothing is touched", async () => {
    const obstacle: CallError = {
      code: "ACODE-EXEC-007",
      message: "the arguments are gone",
      where: null,
      hint: null,
    }
    const settled = await room.call("write_file", { path: "b.txt", content: "x" }, { ...granted, obstacle })
    expect(settled).toMatchObject({ outcome: "failed", certainty: "notDone", error: obstacle })
    expect(room.commits).toEqual([["tool_call.requested", "tool_call.settled"]])
    expect(room.data(ToolCallRequested)).toMatchObject([{ tool: "write_file" }])
    expect(existsSync(join(room.root, "b.txt"))).toBe(false)
  })

  test("with wrong arguments names all of them at once, and nothing is touched", async () => {
    const settled = await room.call("file_write", { path: 7, text: "x" }, granted)
    expect(settled.error?.code).toBe("E202")
    expect(settled.error?.message).toContain("path must be text")
    expect(settled.error?.message).toContain("contents is required")
    expect(settled.error?.message).toContain("text is not an argument of this tool")
    expect(room.data(ToolCallRequested)).toMatchObject([{ tool: "file_write", canonicalTool: "write_file" }])
    expect(room.data(ToolCallStarted)).toEqual([])
  })

  test("of a path outside the workspace is a violation", async () => {
    for (const path of ["../secret.txt", "/etc/passwd"]) {
      const settled = await room.call("read_file", { path })
      expect(settled).toMatchObject({ outcome: "failed", certainty: "notDone", cause: "violation" })
      expect(settled.error).toMatchObject({
        code: "ACODE-SEC-005",
        message: expect.stringContaining("outside"),
      })
    }
    expect(room.data(ToolCallStarted)).toEqual([])
  })

  test("through a symlink that leads outside is a violation as well", async () => {
    mkdirSync(join(room.temp.outside, "elsewhere"))
    symlinkSync(join(room.temp.outside, "elsewhere"), join(room.root, "link"))
    const settled = await room.call("write_file", { path: "link/a.txt", content: "x" }, granted)
    expect(settled).toMatchObject({ cause: "violation", error: { code: "ACODE-SEC-005" } })
    expect(existsSync(join(room.temp.outside, "elsewhere/a.txt"))).toBe(false)
  })

  test("whose change cannot be computed fails before anything is written", async () => {
    const settled = await room.call(
      "modify_file",
      { path: "a.txt", edits: [{ search: "three", replace: "3" }] },
      granted,
    )
    expect(settled).toMatchObject({ outcome: "failed", certainty: "notDone", cause: "failed" })
    expect(room.data(ToolCallStarted)).toEqual([])
    expect(room.read("a.txt")).toBe("one\ntwo\n")
  })
})

describe("a call that policy denies", () => {
  test("touches nothing, whoever approved the plan it stands in", async () => {
    for (const path of [".env", ".git/config", "sub/.npmrc"]) {
      const settled = await room.call("write_file", { path, content: "x" }, granted)
      expect(settled).toMatchObject({ certainty: "notDone", cause: "violation" })
      expect(settled.error?.code).toBe("ACODE-SEC-003")
      expect(room.read(path)).toBeNull()
    }
    expect(room.data(ToolCallStarted)).toEqual([])
  })

  test("is denied and not refused, with the rule that decided", async () => {
    const settled = await room.call("run_command", { argv: ["rm", "-rf", "/"] }, granted)
    expect(settled).toMatchObject({ outcome: "denied", cause: "violation", certainty: "notDone" })
    expect(settled.error).toMatchObject({
      code: "ACODE-EXEC-004",
      message: expect.stringMatching(/not allowed: run rm -rf .*\(.+\)$/),
    })
    expect(room.commits).toEqual([["tool_call.requested", "tool_call.settled"]])
  })
})

describe("a call that is made", () => {
  test("that reads is two commits: the intent, then the outcome", async () => {
    const settled = await room.call("read_file", { path: "a.txt" })
    expect(settled).toMatchObject({
      outcome: "succeeded",
      certainty: "done",
      cause: null,
      error: null,
      value: { path: "a.txt", content: "one\ntwo\n" },
      paths: ["a.txt"],
      changes: [],
      waitMs: 0,
    })
    expect(room.commits).toEqual([["tool_call.requested", "tool_call.started"], ["tool_call.settled"]])
    expect(room.data(ToolCallStarted)).toMatchObject([
      { effectClass: "read", targets: [], checkpointId: null, approvalId: null, confinement: null },
    ])
  })

  test("that writes is two commits, with the pre-image and both hashes in the intent", async () => {
    const settled = await room.call("file_write", { path: "a.txt", contents: "new\n" }, granted)
    expect(settled).toMatchObject({ outcome: "succeeded", certainty: "done" })
    expect(room.read("a.txt")).toBe("new\n")
    expect(room.commits.map(({ length }) => length)).toEqual([2, 1])
    const [started] = room.data(ToolCallStarted)
    expect(started).toMatchObject({ effectClass: "replace", checkpointId: settled.callId })
    expect(started?.targets).toEqual([...settled.changes])
    expect(room.checkpoints.load(settled.callId)?.entries.get("a.txt")).toMatchObject({
      sha256: settled.changes[0]?.before,
    })
  })

  test("commits what its lane adds together with the request and with the outcome", async () => {
    const seen: string[] = []
    await room.call(
      "read_file",
      { path: "a.txt" },
      {
        before: [event.stepStarted()],
        after: settled => {
          seen.push(settled.callId)
          return [event.stepFinished({ callId: settled.callId })]
        },
      },
    )
    expect(room.commits).toEqual([
      ["step.started", "tool_call.requested", "tool_call.started"],
      ["tool_call.settled", "step.finished"],
    ])
    expect(seen).toEqual(room.data(ToolCallSettled).map(({ callId }) => callId))
  })

  test("adds to the lane's events exactly once when it ends early, too", async () => {
    const lane = { before: [event.stepStarted()], after: () => [event.stepFinished()] }
    await room.call("nothing", {}, lane)
    await room.call("write_file", { path: "a.txt", content: "x" }, lane)
    const counted = room.events().filter(({ type }) => type.startsWith("step."))
    expect(counted.map(({ type }) => type)).toEqual([
      "step.started",
      "step.finished",
      "step.started",
      "step.finished",
    ])
  })

  test("records the name as written, the tool it names and where it comes from", async () => {
    const origin = {
      planId: "p",
      planHash: "sha256:1",
      taskId: "t",
      stepId: "s",
      stepKey: "k",
      modelCallId: null,
    }
    await room.call("file_read", { path: "a.txt" }, { origin })
    expect(room.data(ToolCallRequested)).toMatchObject([
      { tool: "file_read", canonicalTool: "read_file", origin },
    ])
  })

  test("keeps a large result as an artifact and gives it whole to the caller", async () => {
    const content = `${"x".repeat(99)}\n`.repeat(400)
    room.put("large.txt", content)
    const settled = await room.call("read_file", { path: "large.txt" })
    const [recorded] = room.data(ToolCallSettled)
    if (recorded?.result?.kind !== "artifact") throw new Error("the result is an artifact")
    const stored = JSON.parse(
      new TextDecoder().decode(room.store.artifacts.get(recorded.result.ref) ?? undefined),
    )
    expect(stored).toEqual(settled.value)
    expect(stored.content).toBe(content)
    expect(Buffer.byteLength(settled.text)).toBeLessThan(4_200)
  })

  test("gives what it recorded: same error, digest, paths and changes", async () => {
    const settled = await room.call("write_file", { path: "deep/er/b.txt", content: "b" }, granted)
    expect(room.data(ToolCallSettled)).toMatchObject([
      {
        outcome: settled.outcome,
        resultDigest: settled.resultDigest,
        paths: ["deep/er/b.txt"],
        changes: { kind: "inline", value: [...settled.changes] },
      },
    ])
    expect(settled.changes).toMatchObject([{ path: "deep/er/b.txt", before: null }])
  })

  test("of a plan grants what is written in it and nothing more", async () => {
    const plain = await room.call(
      "delete_file",
      { paths: ["a.txt"] },
      { grant: { ...emptyGrant, write: ["**"] } },
    )
    expect(plain.outcome).toBe("refused")
    const exact = await room.call("delete_file", { paths: ["a.txt"] }, granted)
    expect([exact.outcome, room.read("a.txt")]).toEqual(["succeeded", null])
  })
})
