import { describe, expect, test } from "bun:test"
import { systemClock, systemIds, toIso } from "../../src/base/clock.ts"

describe("time", () => {
  test("is written as people and other programs read it, in UTC with milliseconds", () => {
    expect(toIso(0)).toBe("1970-01-01T00:00:00.000Z")
    expect(toIso(Date.UTC(2026, 0, 2, 3, 4, 5, 678))).toBe("2026-01-02T03:04:05.678Z")
  })

  test("of durations never goes backwards", () => {
    let last = systemClock.monotonicMs()
    for (let count = 0; count < 1000; count++) {
      const now = systemClock.monotonicMs()
      expect(now).toBeGreaterThanOrEqual(last)
      last = now
    }
  })

  test("of day is the time of this machine", () => {
    // The two are kept apart by the system, so they agree only roughly.
    const expected = performance.timeOrigin + performance.now()
    expect(Math.abs(systemClock.now() - expected)).toBeLessThan(60_000)
  })
})

describe("ids", () => {
  test("carry their prefix and a version 7 UUID", () => {
    expect(systemIds.next("exe")).toMatch(
      /^exe_[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
    )
  })

  test("never repeat, and sort in the order in which they were made", () => {
    const ids = Array.from({ length: 2000 }, () => systemIds.next("ses"))
    expect(new Set(ids).size).toBe(2000)
    expect([...ids].sort()).toEqual(ids)
  })
})
