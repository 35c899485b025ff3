import { describe, expect, test } from "bun:test"
import * as z from "zod/mini"
import type { Json } from "../../../src/base/canonical.ts"
import { pathText, shapeFindings } from "../../../src/domain/plan/problem.ts"
import { openStep, planFile, problemsOf, readStep, taskFile } from "./plan-kit.ts"

function sentences(schema: z.ZodMiniType, value: Json): string[] {
  const { error } = schema.safeParse(value)
  return shapeFindings(error?.issues ?? [], value).map(({ path, message }) => `${pathText(path)} ${message}`)
}

describe("what a schema complains about is a sentence", () => {
  test.each([
    ["a type", z.string(), 3, "$ must be text in quotes"],
    ["a whole number", z.int(), 1.5, "$ must be a whole number"],
    ["a truth value", z.boolean(), "yes", "$ must be true or false"],
    ["a list", z.array(z.string()), {}, "$ must be a list"],
    ["an object", z.object({}), [], "$ must be an object"],
    ["a choice", z.enum(["A", "B"]), "C", "$ must be one of A, B"],
    ["an empty text", z.string().check(z.minLength(1)), "", "$ must not be empty"],
    ["a long text", z.string().check(z.maxLength(3)), "long", "$ must have at most 3 characters"],
    ["a long list", z.array(z.json()).check(z.maxLength(1)), [1, 2], "$ must have at most 1 entries"],
    ["anything else", z.int().check(z.multipleOf(2)), 3, "$ is not valid here"],
  ])("%s", (_name, schema, value, expected) => {
    expect(sentences(schema, value)).toEqual([expected])
  })

  test("a missing property is called missing, whatever its type", () => {
    const schema = z.strictObject({ a: z.string(), b: z.enum(["x"]), c: z.array(z.string()) })
    expect(sentences(schema, {})).toEqual(["$.a is missing", "$.b is missing", "$.c is missing"])
    expect(sentences(schema, { a: null, b: "x", c: [] })).toEqual(["$.a must be text in quotes"])
  })

  test("every unknown property has a line of its own", () => {
    expect(sentences(z.strictObject({}), { x: 1, "y z": 2 })).toEqual([
      "$.x is an unknown property",
      '$["y z"] is an unknown property',
    ])
  })
})

describe("a step is measured against the form it shows", () => {
  const stepProblems = (step: Json) =>
    problemsOf(planFile([taskFile("t", [step as object])])).map(line =>
      line.replace("$.tasks[0].steps[0]", "step"),
    )

  test.each([
    ["no form", { id: "s" }, ["step: needs a tool with arguments, or an action with a description (E001)"]],
    [
      "both forms",
      { ...openStep("s"), tool: "read_file", arguments: { path: "a" } },
      ["step: has both an action and a tool; a step must have exactly one of them (E001)"],
    ],
    ["no object", 3, ["step: must be an object (E001)"]],
    ["a list", [], ["step: must be an object (E001)"]],
    ["a tool without arguments", { id: "s", tool: "read_file" }, ["step.arguments: is missing (E001)"]],
    [
      "an open one with a condition",
      openStep("s", { precondition: "none" }),
      ["step.precondition: is an unknown property (E001)"],
    ],
    [
      "a concrete one with the key of the flat form",
      readStep("s", { step_id: "s" }),
      ["step.step_id: is an unknown property (E001)"],
    ],
    [
      "confirmation by text",
      readStep("s", { requires_confirmation: "yes" }),
      ["step.requires_confirmation: must be true or false (E001)"],
    ],
  ])("%s", (_name, step, expected) => {
    expect(stepProblems(step as Json)).toEqual(expected)
  })
})

test("a criterion of an unknown kind is told the kinds", () => {
  const acceptance = [{ id: "a", kind: "vibes" }, { id: "b" }, 3, { id: "c", kind: "file_exists" }]
  expect(problemsOf(planFile([taskFile("t", [readStep("s")], { acceptance })]))).toEqual([
    "$.tasks[0].acceptance[0].kind: must be one of command, file_exists, file_contains, diagnostics, judgement (E001)",
    "$.tasks[0].acceptance[1].kind: is missing (E001)",
    "$.tasks[0].acceptance[2]: must be an object (E001)",
    "$.tasks[0].acceptance[3].path: is missing (E001)",
  ])
})
