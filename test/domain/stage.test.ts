import { describe, expect, test } from "bun:test"
import { backwardEdge, isAllowed, stages, type Target } from "../../src/domain/stage.ts"

const targets: readonly Target[] = [...stages, "complete"]

describe("moves between stages", () => {
  test("are these eleven and no others", () => {
    const allowed = stages.flatMap(from =>
      targets.filter(to => isAllowed(from, to)).map(to => `${from}→${to}`),
    )
    expect(allowed).toEqual([
      "planner→planner",
      "planner→executor",
      "planner→complete",
      "executor→executor",
      "executor→verifier",
      "executor→complete",
      "verifier→executor",
      "verifier→reviewer",
      "reviewer→planner",
      "reviewer→executor",
      "reviewer→complete",
    ])
  })

  test("back to an earlier stage are the three that count as cycles", () => {
    const back = stages.flatMap(from =>
      targets.map(to => backwardEdge(from, to)).filter(edge => edge !== null),
    )
    expect(back).toEqual(["verifier→executor", "reviewer→planner", "reviewer→executor"])
  })
})
