import { describe, expect, test } from "bun:test"
import { ownCallId } from "../../src/provider/call-id.ts"
import { callsMax } from "../../src/provider/call-limits.ts"

describe("an id for a call", () => {
  test("has nine letters and digits, and is the same each time", () => {
    expect([ownCallId(0, 1), ownCallId(3, 2), ownCallId(10_000, callsMax)]).toEqual([
      "c00000001",
      "c00003002",
      "c007ps05k",
    ])
  })

  test("is one of its own in a session", () => {
    const ids = Array.from({ length: 50 }, (_, reply) =>
      Array.from({ length: callsMax }, (__, place) => ownCallId(reply, place + 1)),
    ).flat()
    expect(new Set(ids).size).toBe(ids.length)
    for (const id of ids) expect(id).toMatch(/^[a-z0-9]{9}$/)
  })
})
