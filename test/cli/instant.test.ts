import { describe, expect, test } from "bun:test"
import { durationOf, instantOf } from "../../src/cli/instant.ts"

const now = Date.parse("2026-03-04T05:06:07.000Z")

describe("a duration", () => {
  for (const [typed, expected] of [
    ["90s", 90_000],
    ["5m", 300_000],
    ["12h", 43_200_000],
    ["30d", 2_592_000_000],
    ["2w", 1_209_600_000],
    ["1.5h", 5_400_000],
    ["0s", 0],
  ] as const)
    test(`${typed} is ${expected} ms`, () => expect(durationOf(typed)).toBe(expected))

  for (const typed of ["", "30", "d", "30 d", "-3d", "1y", "30d ", "1e3s", "\u001b[31m"])
    test(`${JSON.stringify(typed)} is refused`, () =>
      expect(() => durationOf(typed)).toThrow("is not a duration"))
})

describe("a point in time", () => {
  for (const [typed, expected] of [
    ["2026-01-15T00:00:00Z", "2026-01-15T00:00:00.000Z"],
    ["2026-01-15", "2026-01-15T00:00:00.000Z"],
    ["2026-01-15T01:00:00+01:00", "2026-01-15T00:00:00.000Z"],
    ["1h", "2026-03-04T04:06:07.000Z"],
    ["1d", "2026-03-03T05:06:07.000Z"],
  ] as const)
    test(`${typed} is ${expected}`, () => expect(instantOf(typed, now)).toBe(expected))

  for (const typed of ["", "yesterday", "2026-13-01", "12/24/2026", "5"])
    test(`${JSON.stringify(typed)} is refused`, () =>
      expect(() => instantOf(typed, now)).toThrow("is not a time"))
})
