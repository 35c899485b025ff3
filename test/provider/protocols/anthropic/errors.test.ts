import { describe, expect, test } from "bun:test"
import type { Json } from "../../../../src/base/canonical.ts"
import { failureForEvent, failureForReply } from "../../../../src/provider/protocols/anthropic/errors.ts"

function failureOf(status: number, body: Json, headers: Readonly<Record<string, string>> = {}) {
  return failureForReply({ status, body, header: name => headers[name] ?? null }, 0)
}

const error = (type: string, message = "because") => ({ type: "error", error: { type, message } })

describe("an error of the server", () => {
  test.each([
    [401, "authentication_error", "auth", false],
    [403, "permission_error", "auth", false],
    [402, "billing_error", "auth", false],
    [404, "not_found_error", "notFound", false],
    [400, "invalid_request_error", "badRequest", false],
    [413, "request_too_large", "contextTooLong", false],
    [400, "exceed_context_size_error", "contextTooLong", false],
    [409, "conflict_error", "unavailable", true],
    [429, "rate_limit_error", "rateLimited", true],
    [500, "api_error", "unavailable", true],
    [504, "timeout_error", "timeout", true],
    [529, "overloaded_error", "overloaded", true],
  ] as const)("%i %s is %s", (status, type, kind, retryable) => {
    expect(failureOf(status, error(type))).toEqual({
      kind,
      retryable,
      retryAfterMs: null,
      message: `the model server answered ${status}: ${type}: because`,
    })
  })

  test("is what its type says where the status says something else", () => {
    expect(failureOf(500, error("overloaded_error")).kind).toBe("overloaded")
    expect(failureOf(400, error("authentication_error")).kind).toBe("auth")
  })

  test("is what the status says where the type is a general one", () => {
    expect(failureOf(408, error("invalid_request_error")).kind).toBe("timeout")
    expect(failureOf(422, error("invalid_request_error")).kind).toBe("badRequest")
    expect(failureOf(503, error("api_error"), { "retry-after": "3" })).toMatchObject({
      kind: "overloaded",
      retryAfterMs: 3000,
    })
  })

  test.each([
    "prompt is too long: 208310 tokens > 200000 maximum",
    "input length and `max_tokens` exceed context limit: 178959 + 64000 > 200000, decrease input length",
  ])("is about the length where it says so: %s", message => {
    expect(failureOf(400, error("invalid_request_error", message)).kind).toBe("contextTooLong")
  })

  test.each([
    [400, "invalid_request_error", "Your credit balance is too low to access the Anthropic API."],
    [400, "invalid_request_error", "You have reached your specified API usage limits."],
    [429, "rate_limit_error", "This workspace has reached its spend limit."],
  ])("is not to be waited for when no one pays: %i %s %s", (status, type, message) => {
    expect(failureOf(status, error(type, message), { "retry-after": "5" })).toMatchObject({
      kind: "auth",
      retryable: false,
      retryAfterMs: null,
    })
  })

  test("is not to be waited for when the limit of the month is reached", () => {
    const details = { error_code: "enforced_spend_limit_reached" }
    const body = { type: "error", error: { type: "rate_limit_error", message: "x", details } }
    expect(failureOf(429, body)).toMatchObject({ kind: "auth", retryable: false })
  })

  test("says how long to wait", () => {
    expect(failureOf(429, error("rate_limit_error"), { "retry-after": "7" }).retryAfterMs).toBe(7000)
    expect(failureOf(529, error("overloaded_error"), { "retry-after": "2" }).retryAfterMs).toBe(2000)
  })

  test.each([
    [401, "auth"],
    [402, "auth"],
    [404, "notFound"],
    [408, "timeout"],
    [409, "unavailable"],
    [413, "contextTooLong"],
    [422, "badRequest"],
    [429, "rateLimited"],
    [502, "unavailable"],
    [529, "overloaded"],
  ] as const)("is what the status %i says when nothing else can be read", (status, kind) => {
    for (const body of [null, "text", [], { error: "text" }, error("made_up")])
      expect(failureOf(status, body).kind).toBe(kind)
  })

  test("is reported in one short line", () => {
    const { message } = failureOf(500, error("api_error", `a\nb\u001b[31m${"x".repeat(10_000)}`))
    expect(message.includes("\n") || message.includes("\u001b")).toBe(false)
    expect(message.length).toBeLessThan(450)
  })

  test("may have no words, or words that are none", () => {
    expect(failureOf(500, { error: { type: "api_error" } }).message).toBe(
      "the model server answered 500: api_error",
    )
    expect(failureOf(500, { error: { type: 7, message: 7 } }).kind).toBe("unavailable")
  })
})

test("an error in the middle of a stream needs no status", () => {
  expect(failureForEvent(error("rate_limit_error")).kind).toBe("rateLimited")
  expect(failureForEvent(error("invalid_request_error", "prompt is too long")).kind).toBe("contextTooLong")
})
