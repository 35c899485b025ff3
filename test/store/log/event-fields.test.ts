import { expect, test } from "bun:test"
import { SessionFinished, SessionRested } from "../../../src/domain/events/session-events.ts"
import { fieldsOf } from "../../../src/store/log/event-rows.ts"

test("an event is read by the definition of its own type and by no other", () => {
  const data = { state: "PAUSED", reason: "asked to", exitCode: 10, unverified: false }
  const rested = { type: "session.rested", data }
  expect(fieldsOf(SessionRested, rested)?.reason).toBe("asked to")
  expect(fieldsOf(SessionFinished, rested)).toBeNull()
})
