import { describe, expect, test } from "bun:test"
import { canonicalJson, type Json, sha256Hex } from "../../src/base/canonical.ts"
import { ToolCallSettled } from "../../src/domain/events/call-events.ts"
import type { CallError } from "../../src/domain/tool-call.ts"
import {
  nothingChanged,
  outcomeWithout,
  redacted,
  settledEvent,
  toolOutcome,
} from "../../src/gate/outcome.ts"
import { createRedactor } from "../../src/redaction/redactor.ts"
import type { ArtifactStore } from "../../src/store/contract.ts"
import type { ToolResult } from "../../src/tools/contract.ts"

const error: CallError = { code: "ACODE-EXE-003", message: "it failed", where: null, hint: null }

function result(change: Partial<ToolResult> = {}): ToolResult {
  return {
    value: { said: "hello" },
    text: "hello",
    error: null,
    exitCode: null,
    executionId: null,
    paths: ["a.txt"],
    changes: [],
    diagnostics: [],
    ...change,
  }
}

const digest = (value: Json) => `sha256:${sha256Hex(canonicalJson(value))}`

describe("the outcome of a tool that ran", () => {
  test("is a success when it did what it was for", () => {
    expect(toolOutcome(result(), nothingChanged, "done")).toMatchObject({
      outcome: "succeeded",
      cause: null,
      certainty: "done",
      resultDigest: digest({ code: null, value: { said: "hello" } }),
    })
  })

  test("is a failure with a cause when the result carries an error", () => {
    expect(toolOutcome(result({ error }), nothingChanged, "done")).toMatchObject({
      outcome: "failed",
      cause: "failed",
      error,
    })
    const late: CallError = { ...error, code: "ACODE-EXE-002" }
    expect(toolOutcome(result({ error: late }), nothingChanged, "done").cause).toBe("timeout")
  })

  test("has a digest of what it gave and not of when, where it ran or what it is called", () => {
    const one = toolOutcome(result({ executionId: "exe_1" }), nothingChanged, "done")
    const other = toolOutcome(result({ executionId: "exe_2", text: "other words" }), nothingChanged, "done")
    expect(one.resultDigest).toBe(other.resultDigest ?? "")
    for (const change of [{ value: { said: "else" } }, { error }])
      expect(toolOutcome(result(change), nothingChanged, "done").resultDigest).not.toBe(one.resultDigest)
  })

  test("names the changes it is given, which may be more than the tool knows of", () => {
    const changes = [{ path: "b.txt", before: null, after: "1" }]
    expect(toolOutcome(result(), { changes, uncovered: null }, "done").changes).toEqual(changes)
  })
})

describe("the outcome of a call without a result", () => {
  const ending = { outcome: "refused", certainty: "notDone", cause: "refused", error } as const

  test("says what went wrong in every place somebody looks", () => {
    expect(outcomeWithout(ending, nothingChanged)).toMatchObject({
      outcome: "refused",
      value: null,
      text: "it failed (ACODE-EXE-003)",
      diagnostics: [{ code: "ACODE-EXE-003", message: "it failed" }],
      resultDigest: digest({ code: "ACODE-EXE-003" }),
    })
  })
})

describe("redaction of an outcome", () => {
  test("reaches every text in it", () => {
    const secret = "hunter2-hunter2"
    const redactor = createRedactor({ secretValues: [secret], extraPatterns: [] })
    const given = toolOutcome(
      result({
        value: { [secret]: [secret, { deep: `x ${secret}` }], count: 3, nothing: null },
        text: secret,
        error: { code: "E101", message: secret, where: secret, hint: secret },
        diagnostics: [{ level: "error", message: secret, file_name: "a", line_start: 1, code: null }],
      }),
      nothingChanged,
      "done",
    )
    const hidden = redacted(given, redactor)
    expect(JSON.stringify(hidden)).not.toContain(secret)
    expect(hidden.value).toMatchObject({ count: 3, nothing: null })
    expect(hidden.resultDigest).toBe(given.resultDigest ?? "")
  })

  test("leaves an outcome without an error without one", () => {
    const redactor = createRedactor({ secretValues: [], extraPatterns: [] })
    expect(redacted(toolOutcome(result(), nothingChanged, "done"), redactor)).toEqual(
      toolOutcome(result(), nothingChanged, "done"),
    )
  })
})

const artifacts: ArtifactStore = {
  put: () => "sha256:1",
  putJson: () => ({ ref: "sha256:1", bytes: 1 }),
  get: () => null,
}

test("the event of an outcome names every path that changed, however many there are", () => {
  const paths = Array.from({ length: 101 }, (_, index) => `${index}.txt`)
  const changes = paths.map(path => ({ path, before: null, after: "1" }))
  const named = (count: number) => {
    const outcome = toolOutcome(
      result({ paths: ["a.txt", "1.txt"] }),
      { changes: changes.slice(0, count), uncovered: null },
      "done",
    )
    const { data } = settledEvent({ ...outcome, callId: "c", durationMs: 3, waitMs: 0 }, artifacts, false)
    return ToolCallSettled.data.parse(data).paths
  }
  expect(named(100)).toEqual(["a.txt", "1.txt"])
  expect(named(101)).toEqual(["a.txt", "1.txt", "0.txt", ...paths.slice(2)])
})

test("the event of an outcome fits its definition, with and without a value", () => {
  for (const value of [null, { a: 1 }]) {
    const outcome = {
      ...toolOutcome(result({ value }), nothingChanged, "done"),
      callId: "cal_1",
      durationMs: 3,
      waitMs: 0,
    }
    const { data } = settledEvent(outcome, artifacts, value !== null)
    expect(ToolCallSettled.data.parse(data)).toMatchObject({
      callId: "cal_1",
      text: value === null ? null : { kind: "inline", text: outcome.text },
      result: value === null ? null : { kind: "inline", value },
    })
  }
})
