import { describe, expect, test } from "bun:test"
import { planTools } from "../../../src/app/plan-tools.ts"
import { concreteSteps } from "../../../src/domain/plan/order.ts"
import { readPlan } from "../../../src/domain/plan/reading.ts"
import invalid from "../../scenarios/plans/invalid.json"
import valid from "../../scenarios/plans/valid.json"

interface Scenario {
  readonly name: string
  /** As a value, or as text where no value could say it. */
  readonly plan?: unknown
  readonly text?: string
}

const textOf = ({ plan, text }: Scenario) => text ?? JSON.stringify(plan)

describe("a plan that is refused, with the code and place of everything that is wrong", () => {
  test.each((invalid as (Scenario & { problems: string[] })[]).map(entry => [entry.name, entry] as const))(
    "%s",
    (_name, scenario) => {
      const reading = readPlan(textOf(scenario), planTools)
      const found = "problems" in reading ? reading.problems : []
      // `CODE PLACE words`: the words occur in the message.
      const expected = scenario.problems.map(line => /^(?<place>\S+ \S+) ?(?<words>.*)$/.exec(line)?.groups)
      expect(found.map(({ code, path }) => `${code} ${path}`)).toEqual(
        expected.map(each => each?.["place"] ?? ""),
      )
      for (const [index, { message }] of found.entries())
        expect(message).toContain(expected[index]?.["words"] ?? "")
    },
  )
})

describe("a plan that is read, with the order it runs in", () => {
  test.each((valid as (Scenario & { order: string[] | null })[]).map(entry => [entry.name, entry] as const))(
    "%s",
    (_name, scenario) => {
      const reading = readPlan(textOf(scenario), planTools)
      expect("problems" in reading ? reading.problems : []).toEqual([])
      if (!("plan" in reading)) return
      const runnable = concreteSteps(reading.plan)
      const order = "steps" in runnable ? runnable.steps : null
      expect(
        order?.map(({ task, step }) => `${task.id}/${step.id} ${step.tool} ${step.precondition}`) ?? null,
      ).toEqual(scenario.order)
    },
  )
})
