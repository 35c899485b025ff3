import { describe, expect, test } from "bun:test"
import { toJSONSchema } from "zod/mini"
import { FlatPlan, FullPlan, PlanFile } from "../../../src/domain/plan/schema.ts"
import { openStep, planFile, readStep, taskFile } from "./plan-kit.ts"

const fits = (value: object) => PlanFile().safeParse(value).success
const withId = (id: string) => planFile([taskFile(id, [readStep("s")])])

describe("ids", () => {
  test.each(["t1", "T.1-b_c", "first task", "é漢😀", "a/b", "0", "x".repeat(128)])("%j is one", id => {
    expect(fits(withId(id))).toBe(true)
  })

  test.each(["", " a", "a ", "a\nb", "a\tb", "\u200ba", "a\u202eb", "a\u0000", "\u001b[0m", "x".repeat(129)])(
    "%j is none",
    id => {
      expect(fits(withId(id))).toBe(false)
    },
  )
})

describe("the JSON Schema", () => {
  const schema = toJSONSchema(PlanFile(), { target: "draft-2020-12", io: "input" })

  test("is one of the two forms", () => {
    expect(schema.oneOf?.map(({ required }) => required)).toEqual([
      ["goal", "intent", "tasks"],
      ["plan_id", "intent", "steps"],
    ])
    expect(schema.anyOf).toBeUndefined()
  })

  test("lets no unknown property pass", () => {
    const open: string[] = []
    JSON.stringify(schema, (key, value) => {
      if (value?.properties !== undefined && value.additionalProperties !== false) open.push(key)
      return value
    })
    expect(open).toEqual([])
  })

  test("knows the closed lists and the limits", () => {
    const text = JSON.stringify(schema)
    for (const part of [
      '"enum":["READ","MUTATE","QUERY","EXPLAIN"]',
      '"enum":[1,2,3,5,8,13,21,34]',
      '"maxItems":100,',
      '"maxItems":1000,',
      '"maxLength":128',
      '"DELETE_FILE"',
      "file_exists",
    ])
      expect(text).toContain(part)
  })
})

test("a plan has one form", () => {
  const full = planFile([taskFile("t", [readStep("s"), openStep("o")])])
  const flat = { plan_id: "p", intent: "READ", steps: [{ step_id: "s", tool: "t", arguments: {} }] }
  expect([FullPlan().safeParse(full).success, FlatPlan().safeParse(full).success]).toEqual([true, false])
  expect([FullPlan().safeParse(flat).success, FlatPlan().safeParse(flat).success]).toEqual([false, true])
  expect(fits({ ...full, ...flat })).toBe(false)
})

test("what is left out of one plan is not shared with the next", () => {
  const read = () => FullPlan().parse(planFile([taskFile("t", [readStep("s")])]))
  read().evidence_referenced.push("changed")
  read().tasks[0]?.depends_on.push("changed")
  expect(read()).toMatchObject({ evidence_referenced: [], tasks: [{ depends_on: [] }] })
})
