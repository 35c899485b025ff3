import { afterEach, describe, expect, test } from "bun:test"
import { rmSync, writeFileSync } from "node:fs"
import { sha256Hex } from "../../src/base/canonical.ts"
import { ToolCallSettled, ToolCallStarted } from "../../src/domain/events/call-events.ts"
import { CommandFinished, CommandStarted } from "../../src/domain/events/command-events.ts"
import { type GateRoom, gateRoom } from "../support/plan/gate-room.ts"
import { confinedKind, missingSandbox, testWhere } from "../support/requirement.ts"

const confinedTest = testWhere(missingSandbox)

let room: GateRoom
afterEach(() => room[Symbol.dispose]())

const granted = { isGrantedAsWritten: true }
const sh = (script: string, more: { timeout_seconds?: number } = {}) => ({
  argv: ["sh", "-c", script],
  ...more,
})

describe("a command", () => {
  test("is recorded with its call: who started it, what came of it, what it changed", async () => {
    room = gateRoom({ files: { "a.txt": "a\n", "b.txt": "b\n" } })
    const script = "echo more >> a.txt; rm b.txt; mkdir d; echo c > d/c.txt; ln -s a.txt l; echo said"
    const settled = await room.call("run_command", sh(script), granted)
    expect(settled).toMatchObject({
      outcome: "succeeded",
      certainty: "done",
      exitCode: 0,
      value: { exit_code: 0, stdout: "said\n", success: true },
    })
    const changes = settled.changes.map(({ path, before, after }) => [path, before !== null, after !== null])
    expect(changes.toSorted()).toEqual([
      ["a.txt", true, true],
      ["b.txt", true, false],
      ["d/c.txt", false, true],
      ["l", false, true],
    ])
    expect(settled.changes.find(({ path }) => path === "l")?.after).toBe("link:a.txt")
    expect(room.data(CommandStarted)).toMatchObject([
      {
        executionId: settled.executionId,
        correlationIds: { toolCallId: settled.callId, sessionId: room.log.sessionId },
      },
    ])
    expect(room.data(CommandFinished)).toMatchObject([{ executionId: settled.executionId }])
    expect(room.store.executions.show(settled.executionId ?? "")?.result.stdout).toBe("said\n")
  })

  test("that exits with another code than 0 failed, and did what it did", async () => {
    room = gateRoom()
    const settled = await room.call("run_command", sh("echo x > x.txt; exit 3"), granted)
    expect(settled).toMatchObject({
      outcome: "failed",
      certainty: "done",
      cause: "failed",
      exitCode: 3,
      error: { code: "ACODE-EXE-003" },
      changes: [{ path: "x.txt", before: null }],
    })
  })

  test("that does not end in time is a timeout", async () => {
    room = gateRoom()
    const settled = await room.call(
      "run_command",
      sh("echo x > x.txt; sleep 30", { timeout_seconds: 0.3 }),
      granted,
    )
    expect(settled).toMatchObject({ outcome: "failed", cause: "timeout", error: { code: "ACODE-EXE-002" } })
    expect(settled.changes.map(({ path }) => path)).toEqual(["x.txt"])
  })

  test("ends when its caller gives up", async () => {
    room = gateRoom()
    const stop = new AbortController()
    const settled = await room.call("run_command", sh("echo ready; sleep 30"), {
      ...granted,
      signal: stop.signal,
      onOutput: () => stop.abort(),
    })
    expect(settled).toMatchObject({ outcome: "failed", error: { code: "ACODE-EXE-009" } })
    expect(room.data(CommandFinished)).toMatchObject([{ result: { ending: "cancelled" } }])
  })

  test("that does not exist was not done, and still has intent and outcome", async () => {
    room = gateRoom()
    const settled = await room.call("run_command", { argv: ["./no-such-program"] }, granted)
    expect(settled).toMatchObject({
      outcome: "failed",
      certainty: "notDone",
      error: { code: "ACODE-EXE-001" },
    })
    expect(room.commits).toEqual([
      ["tool_call.requested", "tool_call.started", "command.started"],
      ["command.finished", "tool_call.settled"],
    ])
  })

  test("whose directory is no directory never starts: intent and outcome are one commit", async () => {
    room = gateRoom({ files: { "a.txt": "a\n" } })
    const settled = await room.call("run_command", { argv: ["true"], cwd: "a.txt" }, granted)
    expect(settled).toMatchObject({
      outcome: "failed",
      certainty: "notDone",
      error: { code: "ACODE-EXE-006" },
    })
    expect(room.commits).toEqual([["tool_call.requested", "tool_call.started", "tool_call.settled"]])
  })

  test("is given to the watcher as it comes", async () => {
    room = gateRoom()
    const seen: string[] = []
    const onOutput = (stream: string, chunk: Uint8Array) =>
      seen.push(`${stream}:${new TextDecoder().decode(chunk)}`)
    await room.call("run_command", sh("echo one; echo two >&2"), {
      ...granted,
      onOutput: (s, c) => void onOutput(s, c),
    })
    expect(seen.toSorted()).toEqual(["stderr:two\n", "stdout:one\n"])
  })

  test("without a sandbox is of the class that cannot be looked up", async () => {
    room = gateRoom()
    await room.call("run_command", { argv: ["true"] }, granted)
    expect(room.data(ToolCallStarted)).toMatchObject([
      { effectClass: "once", confinement: { sandboxed: false, network: "none" } },
    ])
  })

  const uncopied: readonly (readonly [string, object])[] = [
    ["one file is too large", { fileBytesMax: 1_000 }],
    ["there is no room for more", { totalBytesMax: 1_000 }],
  ]
  test.each(uncopied)("says what it changed of all files where %s", async (_, limits) => {
    room = gateRoom({
      files: { "a.txt": "a\n", "gone.txt": "g\n", "large.bin": "x".repeat(3_000) },
      checkpointLimits: limits,
    })
    const settled = await room.call(
      "run_command",
      sh("echo b > a.txt; rm gone.txt; echo n > new.txt"),
      granted,
    )
    expect(room.checkpoints.load(settled.callId)?.uncovered.keys().toArray()).toEqual(["large.bin"])
    expect(settled.uncovered).toBeNull()
    expect(settled.changes.toSorted((a, b) => (a.path < b.path ? -1 : 1))).toEqual([
      { path: "a.txt", before: sha256Hex("a\n"), after: sha256Hex("b\n") },
      { path: "gone.txt", before: sha256Hex("g\n"), after: null },
      { path: "new.txt", before: null, after: sha256Hex("n\n") },
    ])
  })

  test("that changed nothing among files that are too large to be kept says that", async () => {
    room = gateRoom({ files: { "a.txt": "a".repeat(3_000) }, checkpointLimits: { fileBytesMax: 1_000 } })
    expect((await room.call("run_command", sh("cat a.txt"), granted)).changes).toEqual([])
  })

  test("whose output is large keeps it once, as an artifact", async () => {
    room = gateRoom()
    await room.call("run_command", sh("head -c 40000 /dev/zero | tr '\\0' x"), granted)
    expect(room.data(ToolCallSettled)).toMatchObject([{ result: { kind: "artifact" } }])
  })

  test("of which the end cannot be stored is closed as interrupted, not left running", async () => {
    room = gateRoom()
    const artifacts = room.temp.state("artifacts")
    const settled = await room.call("run_command", sh("head -c 40000 /dev/zero | tr '\\0' x"), {
      ...granted,
      onOutput: () => {
        rmSync(artifacts, { recursive: true, force: true })
        writeFileSync(artifacts, "in the way")
      },
    })
    expect(settled).toMatchObject({ outcome: "failed", certainty: "unknown" })
    expect(room.data(CommandFinished)).toMatchObject([{ result: { ending: "interrupted" } }])
  })
})

describe("a confined command", () => {
  confinedTest("needs nobody's approval, and can be looked up after a crash", async () => {
    room = gateRoom({ files: { "a.txt": "a\n" }, sandbox: confinedKind })
    const settled = await room.call("run_command", { argv: ["cat", "a.txt"] })
    expect(settled).toMatchObject({ outcome: "succeeded", value: { stdout: "a\n" } })
    expect(room.data(ToolCallStarted)).toMatchObject([
      {
        effectClass: "run",
        checkpointId: settled.callId,
        confinement: { sandboxed: true, network: "none" },
      },
    ])
  })

  confinedTest("that is given the network is asked for, and reaches what cannot be looked up", async () => {
    room = gateRoom({ sandbox: confinedKind })
    const refused = await room.call("run_command", { argv: ["true"], network: "host" })
    expect(refused.outcome).toBe("refused")
    await room.call("run_command", { argv: ["true"], network: "host" }, granted)
    expect(room.data(ToolCallStarted)).toMatchObject([
      { effectClass: "once", confinement: { network: "host" } },
    ])
  })
})
