import { describe, expect, test } from "bun:test"
import type { StepState } from "../../../src/domain/pipeline/state.ts"
import { planProgress } from "../../../src/engine/stages/plan-progress.ts"
import { planVersion, smallPlan, smallTask, stateOf, stepsOf } from "./support.ts"

const stepsMax = 100

/** A plan of a hundred steps; those before the present one are done, but for one that was skipped. */
function at(present: number) {
  const made = Array.from({ length: stepsMax }, (_, index) => ({
    id: `s${index}`,
    title: `step ${index}`,
    description: "Do it.",
    action: "READ_FILE",
    depends_on: index === 0 ? [] : [`s${index - 1}`],
  }))
  const version = planVersion({ ...smallPlan, tasks: [{ ...smallTask, steps: made }] })
  const steps = stepsOf(version.plan).map((step, index) => ({
    ...step,
    status:
      index === 3 && present > 3
        ? ("skipped" as const)
        : index < present
          ? ("done" as const)
          : ("pending" as const),
  }))
  return planProgress(stateOf({ plans: [version], steps }), steps[present] ?? null).split("\n")
}

describe("the plan around a step", () => {
  test("is its neighbours on both sides, and how many are farther away", () => {
    const lines = at(50)
    expect(lines[0]).toBe("goal: validate addresses")
    expect(lines[1]).toBe("[30 more before these: 29 done, 1 skipped]")
    expect(lines[2]).toBe("t1/s30 step 30: done")
    expect(lines[22]).toBe("t1/s50 step 50: this step")
    expect(lines[42]).toBe("t1/s70 step 70: pending")
    expect(lines[43]).toBe("[29 more after these: 29 pending]")
    expect(lines).toHaveLength(44)
  })

  test("follows what becomes of the others, and is the same whatever its own step does", () => {
    const version = planVersion({
      ...smallPlan,
      tasks: [
        { ...smallTask, steps: ["s1", "s2"].map(id => ({ id, description: id, action: "READ_FILE" })) },
      ],
    })
    const [first, second] = stepsOf(version.plan)
    if (first === undefined || second === undefined) throw new Error("the plan has two steps")
    const told = (...steps: readonly StepState[]) =>
      planProgress(stateOf({ plans: [version], steps: [...steps] }), steps[1] ?? null)
    const before = told(first, second)
    expect(told(first, { ...second, callCount: 3 })).toBe(before)
    expect(told({ ...first, status: "done" }, second)).toBe(before.replace("s1 s1: pending", "s1 s1: done"))
    expect(before).toContain("s1 s1: pending")
  })

  test("is told whole where it is short on one side", () => {
    expect(at(0).slice(0, 3)).toEqual([
      ...["goal: validate addresses", "t1/s0 step 0: this step", "t1/s1 step 1: pending"],
    ])
    expect(at(stepsMax - 1).at(-1)).toBe("t1/s99 step 99: this step")
  })
})
