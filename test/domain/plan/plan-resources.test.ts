import { expect, test } from "bun:test"
import { resourcesOf } from "../../../src/domain/plan/plan.ts"
import { openStep, planFile, planOf, taskFile } from "./plan-kit.ts"

test("what the tasks ask for is granted together, each thing once, in the order it was asked", () => {
  const plan = planOf(
    planFile([
      taskFile("a", [openStep("s")], {
        resources: { read: ["**"], write: ["src/**", "a.md"], commands: [["npm", "test"]], hosts: ["x.org"] },
      }),
      taskFile("b", [openStep("s")], {
        resources: { write: ["b.md", "src/**"], commands: [["npm test"], ["npm", "test"]], hosts: ["x.org"] },
      }),
      taskFile("c", [openStep("s")]),
    ]),
  )
  expect(resourcesOf(plan)).toEqual({
    write: ["src/**", "a.md", "b.md"],
    commands: [["npm", "test"], ["npm test"]],
    hosts: ["x.org"],
  })
})

test("a plan that asks for nothing is granted nothing", () => {
  const plan = planOf(planFile([taskFile("a", [openStep("s")])]))
  expect(resourcesOf(plan)).toEqual({ write: [], commands: [], hosts: [] })
})
