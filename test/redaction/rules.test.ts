import { describe, expect, test } from "bun:test"
import { redactionKinds } from "../../src/redaction/marker.ts"
import { createRedactor } from "../../src/redaction/redactor.ts"
import { redactionRules } from "../../src/redaction/rules.ts"

describe("the table of rules", () => {
  test("has anchors that the scanner can look for", () => {
    for (const { anchors } of redactionRules) {
      expect(anchors.length).toBeGreaterThan(0)
      for (const anchor of anchors) {
        expect(anchor.length).toBeGreaterThanOrEqual(3)
        expect(anchor).not.toMatch(/[\n\r]/)
      }
    }
  })

  test("names no anchor twice in one rule", () => {
    for (const { anchors } of redactionRules) expect(new Set(anchors).size).toBe(anchors.length)
  })

  test("uses every kind but the two that have no rule", () => {
    const used = new Set(redactionRules.map(rule => rule.kind))
    expect(redactionKinds.filter(kind => !used.has(kind))).toEqual(["custom", "environment"])
  })
})

test("the words of the rules alone are no secrets", () => {
  const redactor = createRedactor({ secretValues: [], extraPatterns: [] })
  const words = redactionRules.flatMap(rule => rule.anchors)
  for (const separator of [" ", "\n", ", ", "|", "/"]) {
    const text = words.join(separator)
    expect(redactor.redactText(text)).toBe(text)
  }
})
