import { expect, test } from "bun:test"
import { checksFor } from "../../../src/engine/checks/project.ts"
import { planVersion, smallPlan, smallTask, stateOf } from "../stages/support.ts"

const none = { test: null, check: null, checksOf: () => ({ commands: [], missing: [] }) }

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
  expect(checksFor(state, none)).toEqual(ofPlan)
})

test("the project's own tests come last and belong to no task", () => {
  expect(checksFor(state, { ...none, test: ["cargo", "test"] })).toEqual([
    ...ofPlan,
    { id: "project-tests", kind: "command", taskId: null },
  ])
})

test("the project's own tests are not run twice when a criterion runs exactly them", () => {
  expect(checksFor(state, { ...none, test: ["npm", "test"] })).toEqual(ofPlan)
  expect(checksFor(state, { ...none, test: ["npm", "test", "--", "a"] })).toHaveLength(4)
})

test("a criterion that expects them to fail does not stand for them", () => {
  const acceptance = [{ id: "a1", kind: "command", command: ["npm", "test"], expect_exit: 1 }]
  const failing = stateOf({ plans: [planVersion({ ...smallPlan, tasks: [{ ...smallTask, acceptance }] })] })
  expect(checksFor(failing, { ...none, test: ["npm", "test"] })).toHaveLength(2)
})

test("without a plan there are only the project's own tests", () => {
  expect(checksFor(stateOf(), { ...none, test: ["npm", "test"] })).toEqual([
    { id: "project-tests", kind: "command", taskId: null },
  ])
})
