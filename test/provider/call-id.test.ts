import { expect, test } from "bun:test"
import { callsMax, ownCallId } from "../../src/provider/limits.ts"

test("an id for a call is the same each time, and one of its own in a session", () => {
  expect(ownCallId(3, 2)).toBe("call_3_2")
  const ids = Array.from({ length: 50 }, (_, reply) =>
    Array.from({ length: callsMax }, (__, place) => ownCallId(reply, place + 1)),
  ).flat()
  expect(new Set(ids).size).toBe(ids.length)
})
