import { describe, expect, test } from "bun:test"
import { sha256Hex } from "../../../src/base/canonical.ts"
import { planHash, stepKey } from "../../../src/domain/plan/plan.ts"

describe("the hash of a plan", () => {
  test("is the SHA-256 of its one spelling", () => {
    expect(planHash({ b: [1, "x"], a: null })).toBe(`sha256:${sha256Hex('{"a":null,"b":[1,"x"]}')}`)
  })

  test("is of what is written, not of what it means: a default that is spelled out is another plan", () => {
    expect(planHash({ goal: "g" })).not.toBe(planHash({ goal: "g", evidence_referenced: [] }))
  })

  test("does not depend on the spelling of a character or a number", () => {
    expect(planHash(JSON.parse('{"a":"\\u0041","n":1.0}'))).toBe(planHash(JSON.parse('{"n":1,"a":"A"}')))
  })
})

describe("the key of a step", () => {
  const key = stepKey("sha256:00", 0, "s1", { path: "a", deep: { x: 1, y: 2 } })

  test("is the SHA-256 of plan, position, id and arguments", () => {
    expect(key).toBe(sha256Hex('["sha256:00",0,"s1",{"deep":{"x":1,"y":2},"path":"a"}]'))
  })

  test("does not depend on the order in which arguments were written", () => {
    expect(stepKey("sha256:00", 0, "s1", { deep: { y: 2, x: 1 }, path: "a" })).toBe(key)
  })

  test("differs when any part does", () => {
    const args = { path: "a", deep: { x: 1, y: 2 } }
    const others = [
      stepKey("sha256:01", 0, "s1", args),
      stepKey("sha256:00", 1, "s1", args),
      stepKey("sha256:00", 0, "s2", args),
      stepKey("sha256:00", 0, "s1", { ...args, path: "b" }),
      stepKey("sha256:00", 0, "s1", { path: "a" }),
    ]
    expect(new Set([key, ...others]).size).toBe(6)
  })

  test("cannot be moved from one part into another", () => {
    expect(stepKey('h",1,"x', 1, "s", {})).not.toBe(stepKey("h", 1, 'x",1,"s', {}))
  })
})
