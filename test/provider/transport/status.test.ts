import { describe, expect, test } from "bun:test"
import { failureForStatus } from "../../../src/provider/transport/failures.ts"

const now = Date.parse("2026-01-02T03:04:05Z")
const none = () => null
const waitFor = (headers: Readonly<Record<string, string>>, status = 429) =>
  failureForStatus(status, name => headers[name] ?? null, "", now).retryAfterMs

describe("a status", () => {
  test.each([
    [400, "badRequest", false],
    [401, "auth", false],
    [402, "badRequest", false],
    [403, "auth", false],
    [404, "notFound", false],
    [405, "badRequest", false],
    [408, "timeout", true],
    [410, "notFound", false],
    [413, "contextTooLong", false],
    [415, "badRequest", false],
    [418, "badRequest", false],
    [422, "badRequest", false],
    [429, "rateLimited", true],
    [500, "unavailable", true],
    [501, "badRequest", false],
    [502, "unavailable", true],
    [503, "overloaded", true],
    [504, "timeout", true],
    [524, "timeout", true],
    [529, "overloaded", true],
    [599, "unavailable", true],
    [204, "malformed", true],
  ] as const)("%d means %s", (status, kind, retryable) => {
    expect(failureForStatus(status, none, "", now)).toEqual({
      kind,
      message: `the model server answered ${status}`,
      retryable,
      retryAfterMs: null,
    })
  })

  test("comes with what the server said, short and on one line", () => {
    const { message } = failureForStatus(400, none, " no such\nfield \u001b[2J ", now)
    expect(message).toBe("the model server answered 400: no such ⏎ field \\x1b[2J")
    expect(failureForStatus(400, none, "x".repeat(9999), now).message.length).toBeLessThan(600)
  })
})

describe("how long a server wants to be left alone", () => {
  test.each([
    ["0", 0],
    ["7", 7000],
    [" 7 ", 7000],
    ["1.5", 1500],
    ["0.0001", 1],
    ["Fri, 02 Jan 2026 03:04:35 GMT", 30_000],
    ["Fri, 02 Jan 2026 03:04:05 GMT", 0],
    ["Thu, 01 Jan 2026 00:00:00 GMT", 0],
    ["Sat, 02 Jan 2100 00:00:00 GMT", 86_400_000],
    ["99999999999999999999999", 86_400_000],
    ["9".repeat(400), 86_400_000],
    ["86401", 86_400_000],
  ])("%s", (value, ms) => {
    expect(waitFor({ "retry-after": value })).toBe(ms)
  })

  test.each([
    "",
    "-5",
    "+5",
    "1e9",
    "0x10",
    "5s",
    "soon",
    "NaN",
    "Infinity",
    "2026-01-02T03:05:00Z",
    "Jan 2 2026",
    "Xxx, 99 Yyy 2026 99:99:99 GMT",
    "Fri, 02 Jan 2026 03:04:35 CET",
    "5, 10",
  ])("%p is not understood, which is the same as nothing", value => {
    expect(waitFor({ "retry-after": value })).toBeNull()
  })

  test("is taken in milliseconds where the server reports those", () => {
    expect(waitFor({ "retry-after-ms": "250", "retry-after": "9" })).toBe(250)
    expect(waitFor({ "retry-after-ms": "-1", "retry-after": "9" })).toBe(9000)
  })

  test("is read with every failure that may pass, and with no other", () => {
    for (const status of [408, 429, 500, 502, 503, 504, 529])
      expect(waitFor({ "retry-after": "2" }, status)).toBe(2000)
    for (const status of [400, 401, 404, 413]) expect(waitFor({ "retry-after": "2" }, status)).toBeNull()
  })
})
