import { describe, expect, test } from "bun:test"
import { rmSync } from "node:fs"
import type { Store } from "../../../src/store/contract.ts"
import { event, remarks, startSession } from "../support/session-events.ts"
import { storeFixture } from "../support/store-fixture.ts"

const context = {
  kind: "step_context",
  content: { plan_id: "plan-1", plan_hash: "sha256:1", task_id: "t1", step_id: "s1", step_key: "k1" },
}

function stored(store: Store, value: unknown): { kind: "artifact"; ref: string; bytes: number } {
  const bytes = new TextEncoder().encode(JSON.stringify(value))
  return { kind: "artifact", ref: store.artifacts.put(bytes), bytes: bytes.length }
}

describe("the details of a call", () => {
  test("are its row, what it was given and what it gave back", () => {
    using fixture = storeFixture()
    const store = fixture.open()
    const session = startSession(store)
    session.append(event.callRequested("cal_1"), event.callSettled("cal_1", { paths: ["b", "a"] }))
    const [row] = store.evidence.byTool("read_file", {})
    expect(store.evidence.show("cal_1")).toEqual({
      ...(row ?? expect.unreachable()),
      arguments: { path: "a.txt" },
      paths: ["a", "b"],
      artifacts: [{ kind: "result", content: { content: "text" } }, context],
    })
    expect(store.evidence.show("cal_2")).toBeNull()
  })

  test("are what is known while it runs", () => {
    using fixture = storeFixture()
    const store = fixture.open()
    startSession(store).append(event.callRequested("cal_1"))
    expect(store.evidence.show("cal_1")).toMatchObject({ status: "started", paths: [], artifacts: [context] })
  })

  test("are read from artifacts where they are too long for an event", () => {
    using fixture = storeFixture()
    const store = fixture.open()
    const long = { text: "ü".repeat(50) }
    startSession(store).append(
      event.callRequested("cal_1", { arguments: stored(store, long) }),
      event.callSettled("cal_1", { result: stored(store, [long]) }),
    )
    expect(store.evidence.show("cal_1")).toMatchObject({
      arguments: long,
      artifacts: [{ kind: "result", content: [long] }, context],
    })
  })

  test("say so where an artifact is gone", () => {
    using fixture = storeFixture()
    const store = fixture.open()
    const result = stored(store, { text: "gone" })
    startSession(store).append(event.callRequested("cal_1"), event.callSettled("cal_1", { result }))
    rmSync(fixture.options.artifactsDirectory, { recursive: true })
    expect(store.evidence.show("cal_1")?.artifacts[0]?.content).toBe(
      `[the stored value ${result.ref} is missing]`,
    )
  })

  test("tell apart what a command printed", () => {
    using fixture = storeFixture()
    const store = fixture.open()
    const value = { stdout: "out\n", stderr: "", exitCode: 1 }
    startSession(store).append(
      event.callRequested("cal_1"),
      event.callSettled("cal_1", { outcome: "failed", exitCode: 1, result: { kind: "inline", value } }),
    )
    expect(store.evidence.show("cal_1")?.artifacts).toEqual([
      { kind: "result", content: value },
      { kind: "stdout", content: "out\n" },
      { kind: "stderr", content: "" },
      context,
    ])
  })

  test("have no outputs where the result is not an object or has others under these names", () => {
    using fixture = storeFixture()
    const store = fixture.open()
    const session = startSession(store)
    for (const [id, value] of [
      ["cal_1", null],
      ["cal_2", "stdout"],
      ["cal_3", { stdout: 5 }],
    ] as const)
      session.append(event.callRequested(id), event.callSettled(id, { result: { kind: "inline", value } }))
    for (const id of ["cal_1", "cal_2", "cal_3"])
      expect(store.evidence.show(id)?.artifacts.map(({ kind }) => kind)).toEqual(["result", "step_context"])
  })

  test("hold the diagnostics, and no step where there is none", () => {
    using fixture = storeFixture()
    const store = fixture.open()
    const origin = {
      planId: null,
      planHash: null,
      taskId: null,
      stepId: null,
      stepKey: null,
      modelCallId: null,
    }
    const noted = remarks("a.ts", "TS1")
    startSession(store).append(
      event.callRequested("cal_1", { origin }),
      event.callSettled("cal_1", { ...noted, result: null }),
    )
    expect(store.evidence.show("cal_1")?.artifacts).toEqual([
      { kind: "diagnostics", content: noted.diagnostics ?? [] },
    ])
  })
})
