import { expect, test } from "bun:test"
import {
  homeEntries,
  openNames,
  protectedRules,
  systemEntries,
} from "../../../src/policy/rules/protected-rules.ts"

test("patterns use no more than the stars and slashes that are understood", () => {
  for (const { patterns, reason } of protectedRules) {
    expect(reason).toMatch(/^[a-z]/)
    for (const pattern of patterns) expect(pattern).toMatch(/^[\w.*~-]+(\/[\w.*~-]+)*\/?$/)
  }
})

test("no pattern is in two rules", () => {
  const patterns = protectedRules.flatMap(rule => rule.patterns)
  expect(new Set(patterns).size).toBe(patterns.length)
})

test("entries outside the workspace are written in lower case, as they are compared", () => {
  for (const entry of [...homeEntries, ...systemEntries, ...openNames])
    expect(entry).toBe(entry.toLowerCase())
})
