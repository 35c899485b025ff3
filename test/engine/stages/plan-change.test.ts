import { expect, test } from "bun:test"
import { planChange } from "../../../src/engine/stages/plan-change.ts"
import { planOf, smallPlan, smallTask } from "./support.ts"

const plan = planOf(smallPlan)
const other = { ...smallTask, id: "t2" }

test("a first plan is told by its size", () => {
  expect(planChange(null, plan)).toBe("first plan: 1 task, 1 step")
})

test("a later one is told by the tasks it adds, changes and drops", () => {
  const before = planOf({ ...smallPlan, tasks: [smallTask, { ...smallTask, id: "t3" }] })
  const after = planOf({ ...smallPlan, tasks: [{ ...smallTask, description: "Another way." }, other] })
  expect(planChange(before, after)).toBe("adds t2; changes t1; drops t3 (2 tasks, 2 steps)")
})

test("one that changes nothing says so, whatever its id", () => {
  expect(planChange(plan, planOf({ ...smallPlan, plan_id: "p2" }))).toBe(
    "the same tasks as before (1 task, 1 step)",
  )
})
