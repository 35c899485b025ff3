import { describe, expect, test } from "bun:test"
import { StepStarted } from "../../src/domain/events/session-events.ts"
import { runPlan } from "../../src/engine/lanes/plan-lane.ts"
import { fixedClock } from "../support/fixed-clock.ts"
import { type PlanRoom, planRoom, runnableOf } from "../support/plan/plan-room.ts"
import type { PlanStepText } from "../support/plan/plan-workspace.ts"

const steps: readonly PlanStepText[] = [
  ["file_read", { path: "src/a.ts" }],
  ["file_write", { path: "out/b.txt", contents: "b\n" }],
  ["file_glob", { pattern: "**/*", root: "." }],
  ["file_search", { pattern: "export", root: "src" }],
  ["modify_file", { path: "src/a.ts", edits: [{ search: "1", replace: "2" }] }],
  ["run_command", { argv: ["sh", "-c", "cat src/a.ts; ls; pwd | wc -l"] }],
  ["delete_file", { paths: ["out/b.txt"] }],
  ["list_directory", { path: "." }],
]

async function ran(files: Readonly<Record<string, string>>) {
  using room = planRoom({ files })
  const { step_results } = await room.run(steps)
  return {
    keys: step_results.map(({ step_key }) => step_key),
    digests: step_results.map(({ result_digest }) => result_digest),
    success: step_results.map(({ success }) => success),
  }
}

const tree = { "src/a.ts": "export const a = 1\n", "README.md": "# A\n" }

describe("two runs of one plan", () => {
  test("on two copies of a tree have equal step keys and equal result digests", async () => {
    const [one, other] = [await ran(tree), await ran(tree)]
    expect(one.success).toEqual(steps.map(() => true))
    expect(one).toEqual(other)
    expect(new Set(one.keys).size).toBe(steps.length)
    expect(one.digests.every(digest => digest?.startsWith("sha256:"))).toBe(true)
  })

  test("on trees that differ have equal keys, and other digests where the difference shows", async () => {
    const [one, other] = [await ran(tree), await ran({ ...tree, "src/a.ts": "export const b = 1\n" })]
    expect(one.keys).toEqual(other.keys)
    const differs = one.digests.map((digest, index) => digest !== other.digests[index])
    expect(differs).toEqual([true, false, false, true, false, true, false, false])
  })

  test("at another time and with other ids give the same digest of a failure", async () => {
    const failing: readonly PlanStepText[] = [["file_read", { path: "missing.txt" }]]
    const digests: (string | null | undefined)[] = []
    for (const start of [0, 1_000_000_000_000]) {
      using room = planRoom({ clock: fixedClock(Date.UTC(2026, 0, 1) + start) })
      digests.push((await room.run(failing)).step_results[0]?.result_digest)
    }
    expect(digests[0]).toBe(digests[1] ?? "")
  })
})

test("a step key changes with the plan, the place, the id and the arguments of the step", async () => {
  const keyOf = async (room: PlanRoom, given: readonly PlanStepText[], at = 0) =>
    (await room.run(given)).step_results[at]?.step_key
  using one = planRoom({ files: tree })
  using two = planRoom({ files: tree })
  using three = planRoom({ files: tree })
  const step: PlanStepText = ["file_read", { path: "README.md" }]
  const keys = [
    await keyOf(one, [step]),
    await keyOf(two, [step, step], 1),
    await keyOf(three, [["file_read", { path: "./README.md" }]]),
  ]
  expect(new Set(keys).size).toBe(3)
})

test("steps run in the order of their dependencies, the same one every time", async () => {
  const step = (id: string, depends_on: readonly string[] = []) => ({
    id,
    tool: "read_file",
    arguments: { path: "README.md" },
    depends_on,
  })
  const text = JSON.stringify({
    plan_id: "ordered",
    goal: "order",
    intent: "READ",
    tasks: [
      { id: "t2", steps: [step("c"), step("d")], depends_on: ["t1"] },
      { id: "t1", steps: [step("b", ["a"]), step("a"), step("z")] },
    ],
  })
  const orders: string[] = []
  for (let round = 0; round < 3; round++) {
    using room = planRoom({ files: tree })
    const { step_results } = await runPlan(room.lane, runnableOf(text), {}, null)
    expect(room.data(StepStarted).map(({ index }) => index)).toEqual([0, 1, 2, 3, 4])
    orders.push(step_results.map(({ step_id }) => step_id).join(""))
  }
  expect(orders).toEqual(["abzcd", "abzcd", "abzcd"])
})
