import { describe, expect, test } from "bun:test"
import { SessionResumed } from "../../src/domain/events/pipeline-events.ts"
import { SessionStarted } from "../../src/domain/events/session-events.ts"
import { TurnFinished } from "../../src/domain/events/turn-events.ts"
import {
  type ExternalCall,
  externalCallLines,
  joinedCalls,
  noExternalCalls,
} from "../../src/domain/external-calls.ts"
import { replied, resumed, settingsOf, started } from "../support/pipeline/pipeline-events.ts"

const recordedCall = {
  at: "2026-01-02T03:04:05.678Z",
  method: "GET",
  url: "https://models.example/v1/models",
  status: 200,
  failure: null,
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
    expect(schema.safeParse(withCalls([recordedCall])).success).toBe(true)
    expect(schema.safeParse(withCalls([{ ...recordedCall, headers: {} }])).success).toBe(false)
    expect(schema.safeParse(withCalls([{ ...recordedCall, at: "now" }])).success).toBe(false)
  })
})

const url = "https://models.example/v1/models"
const call = (more: Partial<ExternalCall> = {}): ExternalCall => ({
  at: "2026-01-02T03:04:05.678Z",
  method: "GET",
  url,
  status: 200,
  failure: null,
  ...more,
})

test("lists are joined in their order, with what each of them left out", () => {
  const some = { calls: [call()], omittedCount: 1 }
  const more = { calls: [call({ status: 500 })], omittedCount: 2 }
  expect(joinedCalls(some, more)).toEqual({ calls: [call(), call({ status: 500 })], omittedCount: 3 })
  expect(joinedCalls(noExternalCalls, some)).toEqual(some)
})

test("calls are told on one line, those that are alike once", () => {
  expect(externalCallLines(noExternalCalls)).toEqual([])
  const calls = [
    call(),
    call({ method: "POST", status: null, failure: "timeout" }),
    call(),
    call({ status: 302, failure: "badRequest" }),
    call({ status: null, url: "https://models.example/a\nb" }),
  ]
  expect(externalCallLines({ calls, omittedCount: 7 })).toEqual([
    `external calls: GET ${url} (200, 2 times), POST ${url} (timeout), GET ${url} (302 badRequest), ` +
      "GET https://models.example/a ⏎ b (no answer), and 7 more",
  ])
})

test("calls take no more than a screen, however many there are", () => {
  const calls = Array.from({ length: 100 }, (_, index) => call({ url: `${url}/${index}` }))
  expect(externalCallLines({ calls, omittedCount: 0 })[0]?.length).toBe(2_000)
})
