import { describe, expect, test } from "bun:test"
import { lifted, type Part, part, partOf, strictest } from "../../src/policy/decision.ts"
import { noScopes } from "../../src/policy/yes-scopes.ts"
import { scopesOf } from "./policy-kit.ts"

const about = { category: "FILE_WRITE", rule: "r", reason: "why" } as const
const allow = part({ ...about, decision: "allow", level: 2, rule: "allow" })
const asked = part({ ...about, decision: "ask", level: 2, rule: "ask", path: "a" })
const skip = partOf("skip", { ...about, level: 3, rule: "skip" })
const deny = part({ ...about, decision: "deny", level: 3, rule: "deny" })
const never = part({ ...about, decision: "deny", level: 4, rule: "never" })

describe("the strictest part", () => {
  const rows: readonly (readonly [string, readonly Part[], string])[] = [
    ["ask over allow", [allow, asked], "ask"],
    ["deny over ask", [asked, deny, allow], "deny"],
    ["Level 4 over deny", [deny, never], "never"],
    ["failing over passing over", [skip, deny], "deny"],
    ["passing over over asking", [asked, skip], "skip"],
    ["the first of equals", [allow, { ...allow, rule: "second" }], "allow"],
    ["a higher level of the same answer", [asked, { ...asked, level: 3, rule: "higher" }], "higher"],
  ]
  test.each(rows)("is %s", (_, parts, rule) => {
    expect(strictest(parts).rule).toBe(rule)
    expect(strictest(parts.toReversed()).decision).toBe(strictest(parts).decision)
  })

  test("of nothing is that nothing is touched", () => {
    expect(strictest([])).toMatchObject({ decision: "allow", rule: "no-effect", confined: false })
  })

  test("is confined when one of what is allowed is", () => {
    expect(strictest([allow, { ...allow, confined: true }]).confined).toBe(true)
    expect(strictest([allow]).confined).toBe(false)
    expect(strictest([asked, { ...allow, confined: true }]).confined).toBe(false)
  })

  test("shows nothing but the decision", () => {
    expect(Object.keys(strictest([asked])).sort()).toEqual(
      ["category", "confined", "decision", "level", "reason", "rule", "skip"].sort(),
    )
  })
})

describe("a policy as a decision", () => {
  test("auto allows, prompt asks, deny fails and skip passes over", () => {
    const decisions = (["auto", "prompt", "deny", "skip"] as const).map(policy =>
      partOf(policy, { ...about, level: 2 }),
    )
    expect(decisions.map(({ decision, skip: skips }) => `${decision} ${skips}`)).toEqual([
      "allow false",
      "ask false",
      "deny false",
      "deny true",
    ])
  })
})

describe("--yes", () => {
  const all = scopesOf("all")

  test("turns an ask into an allow", () => {
    expect(lifted(asked, scopesOf("file_write"))).toMatchObject({
      decision: "allow",
      reason: "--yes answers it: why",
    })
    expect(lifted(asked, noScopes)).toBe(asked)
  })

  test("turns nothing else into anything", () => {
    for (const each of [allow, deny, skip, never]) expect(lifted(each, all)).toBe(each)
  })

  test("does not answer what may not be answered", () => {
    const fixed = { ...asked, isLiftable: false }
    expect(lifted(fixed, all)).toBe(fixed)
    const highest = part({ ...about, decision: "ask", level: 4 })
    expect(lifted(highest, all)).toBe(highest)
  })
})
