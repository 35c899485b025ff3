import { describe, expect, test } from "bun:test"
import { concreteSteps, orderedSteps, stableOrder } from "../../../src/domain/plan/order.ts"
import { openStep, planFile, planOf, readStep, taskFile } from "./plan-kit.ts"

/** `a:b` depends on b. */
function items(...words: readonly string[]) {
  return words.map(word => {
    const [id = "", needed = ""] = word.split(":")
    return { id, dependsOn: needed === "" ? [] : needed.split(",") }
  })
}

function orderOf(...words: readonly string[]) {
  const { ordered, stuck } = stableOrder(items(...words))
  return { ordered: ordered.map(({ id }) => id).join(" "), stuck: stuck.map(({ id }) => id).join(" ") }
}

describe("the order of what depends on each other", () => {
  test.each([
    [["c", "a", "b"], "c a b"],
    [["a:b", "b"], "b a"],
    [["a:c", "b", "c"], "b c a"],
    [["d:a", "a:c", "b", "c"], "b c a d"],
    [["a", "b:a", "c", "d:b"], "a b c d"],
    [["a:d", "b:d", "c:d", "d"], "d a b c"],
    [["a:b,b,b", "b"], "b a"],
  ])("%j is %s", (words, ordered) => {
    expect(orderOf(...words)).toEqual({ ordered, stuck: "" })
  })

  test("what waits for itself is stuck, and so is what waits for that", () => {
    expect(orderOf("a:b", "b:a", "c:a", "d")).toEqual({ ordered: "d", stuck: "a b c" })
    expect(orderOf("a:a")).toEqual({ ordered: "", stuck: "a" })
  })

  test("an id that nothing has is no reason to wait", () => {
    expect(orderOf("a:gone", "b")).toEqual({ ordered: "a b", stuck: "" })
  })

  test("a long chain written backwards is put right", () => {
    const chain = Array.from({ length: 1000 }, (_, index) => `s${index}:s${index + 1}`)
    const { ordered, stuck } = stableOrder(items(...chain, "s1000"))
    expect(stuck).toEqual([])
    expect(ordered.map(({ id }) => id)).toEqual(
      Array.from({ length: 1001 }, (_, index) => `s${1000 - index}`),
    )
  })
})

describe("the steps of a plan", () => {
  const plan = planOf(
    planFile([
      taskFile("late", [readStep("x"), readStep("y")], { depends_on: ["early"] }),
      taskFile("early", [readStep("b", { depends_on: ["a"] }), readStep("a"), readStep("c")]),
    ]),
  )

  test("run task by task, numbered from 0 across the tasks", () => {
    expect(orderedSteps(plan).map(({ task, step, index }) => `${index} ${task.id} ${step.id}`)).toEqual([
      "0 early a",
      "1 early b",
      "2 early c",
      "3 late x",
      "4 late y",
    ])
  })

  test("are for the plan lane when all of them are concrete", () => {
    const concrete = concreteSteps(plan)
    expect("steps" in concrete && concrete.steps.map(({ step }) => step.tool)).toEqual(
      Array.from({ length: 5 }, () => "read_file"),
    )
  })

  test("are not for the plan lane when one is open, and each open one is named", () => {
    const mixed = planOf(
      planFile([
        taskFile("t", [readStep("a"), openStep("b")]),
        taskFile("u", [openStep("c"), readStep("d")]),
      ]),
    )
    const reason = "is open: without a model, only steps with a tool can be run"
    expect(concreteSteps(mixed)).toEqual({
      problems: [
        { code: "E001", path: "$.tasks[0].steps[1]", message: `step "b" ${reason}` },
        { code: "E001", path: "$.tasks[1].steps[0]", message: `step "c" ${reason}` },
      ],
    })
    expect(orderedSteps(mixed)).toHaveLength(4)
  })
})
