import { expect, test } from "bun:test"
import { isSamePipeline, pipelinePlan, readPipeline } from "../../../src/domain/skill/pipeline-file.ts"

function fileOf(changes: object = {}) {
  const steps = [
    { type: "sequential", skill: "plain" },
    { type: "parallel", skills: ["plain", "other"] },
    { type: "review", reviewer: "director" },
  ]
  const read = readPipeline(JSON.parse(JSON.stringify({ id: "p", goal: "g", steps, ...changes })))
  if ("problems" in read) throw new Error(JSON.stringify(read.problems))
  return read.pipeline
}

/** Names tasks by these digits in order, and then by ever higher numbers. */
function naming(digits: readonly string[], taken: readonly string[] = []) {
  const left = [...digits]
  let next = 0
  return {
    nowIso: "2026-01-15T10:00:00.000Z",
    sixDigits: () => left.shift() ?? String(next++).padStart(6, "0"),
    isTaken: (id: string) => taken.includes(id),
  }
}

const idsOf = ({ steps }: ReturnType<typeof pipelinePlan>) =>
  steps.flatMap(({ tasks }) => tasks.map(({ id }) => id))

test("no two tasks of a pipeline get one name, nor one that a task has already", () => {
  const digits = ["aaaaaa", "aaaaaa", "bbbbbb", "cccccc", "aaaaaa"]
  const plan = pipelinePlan(fileOf(), null, naming(digits, ["plain-20260115-bbbbbb"]))
  expect(idsOf(plan)).toEqual(["plain-20260115-aaaaaa", "plain-20260115-cccccc", "other-20260115-aaaaaa"])
})

test("a plan is the same as one that asks for the same, whatever its tasks are called and how many run at once", () => {
  const plan = pipelinePlan(fileOf(), null, naming(["aaaaaa"]))
  expect(isSamePipeline(plan, pipelinePlan(fileOf(), 2, naming(["dddddd"])))).toBe(true)
  for (const changes of [
    ...[{ id: "q" }, { goal: "h" }, { requirements: "r" }, { default_priority: "P0" }],
    ...[{ inputs: [{ path: "a.md" }] }, { limits: { max_revisions: 1 } }, { limits: { max_tokens: 9 } }],
    { steps: [{ type: "sequential", skill: "plain" }] },
  ])
    expect([changes, isSamePipeline(plan, pipelinePlan(fileOf(changes), null, naming([])))]).toEqual([
      changes,
      false,
    ])
})
