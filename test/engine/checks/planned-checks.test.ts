import { expect, test } from "bun:test"
import { checksFor } from "../../../src/engine/checks/project.ts"
import { planVersion, smallPlan, smallTask, stateOf } from "../stages/support.ts"

const second = { ...smallTask, id: "t2", acceptance: [{ id: "a1", kind: "file_exists", path: "x" }] }
const state = stateOf({
  plans: [planVersion(smallPlan), planVersion({ ...smallPlan, tasks: [smallTask, second] })],
})

const ofPlan = [
  { id: "a1", kind: "command", taskId: "t1" },
  { id: "a2", kind: "judgement", taskId: "t1" },
  { id: "a1", kind: "file_exists", taskId: "t2" },
]

test("every criterion of every task of the newest plan is checked, in order", () => {
  expect(checksFor(state, { test: null, check: null })).toEqual(ofPlan)
})

test("the project's own tests come last and belong to no task", () => {
  expect(checksFor(state, { test: ["cargo", "test"], check: null })).toEqual([
    ...ofPlan,
    { id: "project-tests", kind: "command", taskId: null },
  ])
})

test("the project's own tests are not run twice when a criterion runs exactly them", () => {
  expect(checksFor(state, { test: ["npm", "test"], check: null })).toEqual(ofPlan)
  expect(checksFor(state, { test: ["npm", "test", "--", "a"], check: null })).toHaveLength(4)
})

test("a criterion that expects them to fail does not stand for them", () => {
  const acceptance = [{ id: "a1", kind: "command", command: ["npm", "test"], expect_exit: 1 }]
  const failing = stateOf({ plans: [planVersion({ ...smallPlan, tasks: [{ ...smallTask, acceptance }] })] })
  expect(checksFor(failing, { test: ["npm", "test"], check: null })).toHaveLength(2)
})

test("without a plan there are only the project's own tests", () => {
  expect(checksFor(stateOf(), { test: ["npm", "test"], check: null })).toEqual([
    { id: "project-tests", kind: "command", taskId: null },
  ])
})
