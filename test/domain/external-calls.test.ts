import { describe, expect, test } from "bun:test"
import { SessionResumed } from "../../src/domain/events/pipeline-events.ts"
import { SessionStarted } from "../../src/domain/events/session-events.ts"
import { TurnFinished } from "../../src/domain/events/turn-events.ts"
import { replied, resumed, settingsOf, started } from "../support/pipeline/pipeline-events.ts"

const call = {
  ...{ at: "2026-01-02T03:04:05.678Z", method: "GET", url: "https://models.example/v1/models" },
  ...{ status: 200, failure: null },
}

describe.each([
  ["session.started", SessionStarted, started(settingsOf()).data],
  ["session.resumed", SessionResumed, resumed(settingsOf()).data],
  ["turn.finished", TurnFinished, replied().data],
])("calls in %s", (_type, { data: schema }, event) => {
  test("are not in older events, which are read as they are", () => {
    expect(event).not.toHaveProperty("externalCalls")
    expect(schema.parse(event)).toStrictEqual(event)
  })

  test("are what is declared and nothing else", () => {
    const withCalls = (calls: readonly object[]) => ({ ...event, externalCalls: { calls, omittedCount: 0 } })
    expect(schema.safeParse(withCalls([call])).success).toBe(true)
    expect(schema.safeParse(withCalls([{ ...call, headers: {} }])).success).toBe(false)
    expect(schema.safeParse(withCalls([{ ...call, at: "now" }])).success).toBe(false)
  })
})
