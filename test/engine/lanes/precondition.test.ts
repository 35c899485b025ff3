import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import { join } from "node:path"
import { ToolCallSettled, ToolCallStarted } from "../../../src/domain/events/call-events.ts"
import { SessionFinished, StepFinished } from "../../../src/domain/events/session-events.ts"
import type { ConcreteStep, Precondition } from "../../../src/domain/plan/plan.ts"
import { unmetPrecondition } from "../../../src/engine/lanes/precondition.ts"
import { type PlanRoom, planRoom } from "../../support/plan/plan-room.ts"
import { testWhere } from "../../support/requirement.ts"
import { readOnlyDirectory, readOnlySkip } from "../../support/workspace/read-only.ts"

const readOnlyTest = testWhere(readOnlySkip())

let room: PlanRoom
beforeEach(() => {
  room = planRoom({ files: { "a.txt": "a\n", "d/b.txt": "b\n" } })
})
afterEach(() => room[Symbol.dispose]())

async function unmet(precondition: Precondition, args: ConcreteStep["arguments"]): Promise<string | null> {
  const step: ConcreteStep = {
    id: "s1",
    title: "",
    description: "",
    dependsOn: [],
    kind: "concrete",
    tool: "file_read",
    arguments: args,
    precondition,
    requiresConfirmation: false,
  }
  return (await unmetPrecondition(step, room.lane))?.code ?? null
}

describe("a precondition", () => {
  test("of none is always met", async () => expect(await unmet("none", {})).toBeNull())

  test("of a file asks for every file the step names", async () => {
    expect(await unmet("file_exists", { path: "a.txt" })).toBeNull()
    expect(await unmet("file_exists", { file: "d/b.txt" })).toBeNull()
    expect(await unmet("file_exists", { paths: ["a.txt", "d/b.txt"] })).toBeNull()
    for (const args of [
      { path: "no.txt" },
      { file: "no.txt" },
      { paths: ["a.txt", "no.txt"] },
      { path: "d" },
      { path: "../a.txt" },
      { path: 3 },
      {},
    ])
      expect(await unmet("file_exists", args), JSON.stringify(args)).toBe("E101")
  })

  test("of a root asks for a directory", async () => {
    for (const args of [{ root: "d" }, { path: "d" }, {}]) expect(await unmet("root_exists", args)).toBeNull()
    for (const args of [{ root: "no" }, { root: "a.txt" }, { root: "../" }])
      expect(await unmet("root_exists", args), JSON.stringify(args)).toBe("E101")
  })

  test("of a project asks for the file that makes one", async () => {
    expect(await unmet("project_exists", {})).toBe("E102")
    room.put("Cargo.toml", "")
    expect(await unmet("project_exists", {})).toBeNull()
  })

  test("of an index or a symbol cannot be met, and must not pass for met", async () => {
    expect(await unmet("index_exists", {})).toBe("E103")
    expect(await unmet("symbol_exists", { name: "f" })).toBe("E103")
    expect(await unmet("symbol_exists", {})).toBe("E104")
  })
})

describe("a step whose precondition does not hold", () => {
  const cases = [
    ["file exists", "E101"],
    ["Cargo project exists", "E102"],
    ["codegraph.db exists", "E103"],
    ["symbol exists", "E104"],
  ] as const
  for (const [precondition, code] of cases)
    test(`"${precondition}" fails with ${code} before its tool is called`, async () => {
      const result = await room.run([
        ["file_read", { path: "a.txt" }],
        ["file_write", { path: "new.txt", contents: "x" }, { precondition }],
        ["file_write", { path: "later.txt", contents: "x" }],
      ])
      expect([result.exit_code, result.step_results.length]).toEqual([30, 2])
      const [, { execution_id: callId = "" } = {}] = result.step_results
      expect(result.step_results[1]).toMatchObject({ success: false, error_code: code, result: null })
      expect(room.data(ToolCallStarted)).toHaveLength(1)
      expect(room.data(ToolCallSettled)[1]).toMatchObject({ callId, certainty: "notDone", error: { code } })
      expect(room.data(StepFinished)).toMatchObject([{ success: true }, { success: false, callId, code }])
      expect([room.read("new.txt"), room.read("later.txt")]).toEqual([null, null])
      expect(room.commits.at(-2)).toEqual([
        ...["step.started", "tool_call.requested", "tool_call.settled", "step.finished"],
      ])
      expect(room.data(SessionFinished)[0]?.reason).toContain(code)
    })

  test("is asked at its turn, of the workspace the steps before it have made", async () => {
    const result = await room.run([
      ["file_write", { path: "new.txt", contents: "x" }],
      ["file_read", { path: "new.txt" }, { precondition: "file exists" }],
    ])
    expect(result.exit_code).toBe(0)
  })
})

readOnlyTest("a file that may not be written is E302, and stays as it is", async () => {
  using _ = readOnlyDirectory(join(room.root, "d"))
  const result = await room.run([["file_write", { path: "d/b.txt", contents: "new\n" }]])
  expect(result.exit_code).toBe(30)
  expect(result.step_results[0]?.error_code).toBe("E302")
  expect(room.read("d/b.txt")).toBe("b\n")
})
