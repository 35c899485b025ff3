import { expect, test } from "bun:test"
import { externalCallLog, printCalls } from "../../src/models/external-call-log.ts"

const at = "2026-01-02T03:04:05.678Z"
const log = () => externalCallLog({ now: () => Date.parse(at) })
const url = "https://models.example/v1/models"

test("calls are kept with their moment and their end until they are taken", () => {
  const calls = log()
  expect(calls.take()).toEqual({})
  calls.began("GET", url)(200, null)
  calls.began("POST", url)(null, "timeout")
  expect(calls.take()).toEqual({
    externalCalls: {
      calls: [
        { at, method: "GET", url, status: 200, failure: null },
        { at, method: "POST", url, status: null, failure: "timeout" },
      ],
      omittedCount: 0,
    },
  })
  expect(calls.take()).toEqual({})
})

test("a call that is taken before it has ended stays as it was recorded", () => {
  const calls = log()
  const ended = calls.began("GET", url)
  const { externalCalls } = calls.take()
  ended(200, null)
  expect(externalCalls?.calls).toEqual([{ at, method: "GET", url, status: null, failure: null }])
})

test("no more than a hundred are listed, and the others are counted", () => {
  const calls = log()
  for (let index = 0; index < 130; index++) calls.began("GET", `${url}/${index}`)(200, null)
  const { externalCalls } = calls.take()
  expect([externalCalls?.calls.length, externalCalls?.calls.at(-1)?.url]).toEqual([100, `${url}/99`])
  expect(externalCalls?.omittedCount).toBe(30)
  calls.began("GET", url)(200, null)
  expect(calls.take().externalCalls?.omittedCount).toBe(0)
})

test("calls that no event records are reported to the user, and nothing when there are none", () => {
  const told: string[] = []
  const calls = log()
  printCalls(calls.take(), text => void told.push(text))
  expect(told).toEqual([])
  calls.began("GET", url)(401, null)
  printCalls(calls.take(), text => void told.push(text))
  expect(told).toEqual([`external calls: GET ${url} (401)`])
})
