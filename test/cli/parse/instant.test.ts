import { describe, expect, test } from "bun:test"
import { durationOf, instantOf, isInstant } from "../../../src/cli/parse/instant.ts"

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

  const nonsense = ["", "30", "d", "30 d", "-3d", "1y", "30d ", "1e3s", "99999999999w", `${"9".repeat(400)}d`]
  for (const typed of [...nonsense, "\u001b[31m", "30d\n"])
    test(`${JSON.stringify(typed).slice(0, 20)} is none`, () => expect(durationOf(typed)).toBeNull())
})

describe("a point in time", () => {
  for (const [typed, expected] of [
    ["2026-01-15T00:00:00Z", "2026-01-15T00:00:00.000Z"],
    ["2026-01-15", "2026-01-15T00:00:00.000Z"],
    ["2026-01-15T01:00:00+01:00", "2026-01-15T00:00:00.000Z"],
    ["2028-02-29", "2028-02-29T00:00:00.000Z"],
    ["1h", "2026-03-04T04:06:07.000Z"],
    ["1d", "2026-03-03T05:06:07.000Z"],
  ] as const)
    test(`${typed} is ${expected}`, () => {
      expect(isInstant(typed)).toBe(true)
      expect(instantOf(typed, now)).toBe(expected)
    })

  const nonsense = [
    "",
    "yesterday",
    "2026-13-01",
    "2026-02-30",
    "2027-02-29",
    "12/24/2026",
    "5",
    "99999999999w",
  ]
  for (const typed of [
    ...nonsense,
    "2026-01-15x",
    "2026-01-15 or so",
    "2026-01-15T99:00:00Z",
    "2026-01-15\n",
  ])
    test(`${JSON.stringify(typed)} is none`, () => expect(isInstant(typed)).toBe(false))
})
