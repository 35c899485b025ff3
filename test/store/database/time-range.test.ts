import { describe, expect, test } from "bun:test"
import { instant, timeRange } from "../../../src/store/database/table-projection.ts"

describe("times as they are stored", () => {
  test("have one spelling", () => {
    expect(instant("2026-01-02T03:04:05Z")).toBe("2026-01-02T03:04:05.000Z")
    expect(instant("2026-01-02T05:04:05.1+02:00")).toBe("2026-01-02T03:04:05.100Z")
  })

  test("are times, or the caller has made a mistake", () => {
    expect(() => instant("yesterday")).toThrow('"yesterday" is a time')
  })
})

describe("a range that is open on a side", () => {
  test("reaches beyond every time on that side", () => {
    const { since, until } = timeRange({})
    for (const time of [
      "-271821-04-20T00:00:00.000Z",
      "2026-01-02T03:04:05.678Z",
      "+275760-09-13T00:00:00.000Z",
    ])
      expect([since <= time, time < until]).toEqual([true, true])
  })

  test("keeps the side that was given", () => {
    expect(timeRange({ since: "2026-01-02T00:00:00Z" }).since).toBe("2026-01-02T00:00:00.000Z")
    expect(timeRange({ until: "2026-01-02T00:00:00Z" }).until).toBe("2026-01-02T00:00:00.000Z")
  })
})
