import { describe, expect, test } from "bun:test"
import * as z from "zod/mini"
import type { ErrorCode } from "../../src/domain/error-codes.ts"
import { Failure, type FailureKind } from "../../src/domain/failure.ts"
import type { CallError } from "../../src/domain/tool-call.ts"
import { causeOf, diagnosticOf, errorOf, failedBy, notDone } from "../../src/gate/outcome.ts"

describe("the end of a call without a result", () => {
  test("by a failure carries its code, its place and its hint", () => {
    const failure = new Failure({
      kind: "general",
      code: "ACODE-FS-002",
      message: "gone",
      where: "a.txt",
      hint: "look",
    })
    expect(failedBy(failure, "partly")).toEqual({
      outcome: "failed",
      certainty: "partly",
      cause: "failed",
      error: { code: "ACODE-FS-002", message: "gone", where: "a.txt", hint: "look" },
    })
  })

  test("by anything else is a mistake of ours", () => {
    expect(failedBy(new RangeError("boom"), "unknown").error).toEqual({
      code: "ACODE-INT-001",
      message: "boom",
      where: null,
      hint: null,
    })
    expect(failedBy("just text", "notDone").error.message).toBe("just text")
  })

  test("by a schema names what does not fit, and is never a list of issues as JSON", () => {
    const { error } = z.strictObject({ path: z.string() }).safeParse({ path: 7 })
    const { message } = failedBy(error, "notDone").error
    expect(message).toStartWith("internal error: a value does not match its schema: ")
    expect(message).toContain("path")
    expect(message).not.toMatch(/[{}\n]/)
  })

  test("before anything was done is certain", () => {
    const error: CallError = { code: "E201", message: "no", where: null, hint: null }
    expect(notDone("denied", "violation", error)).toMatchObject({ certainty: "notDone", error })
  })

  test("leaves out of a report what is not there", () => {
    expect(errorOf({ kind: "general", code: "E001", message: "m" })).toEqual({
      code: "E001",
      message: "m",
      where: null,
      hint: null,
    })
  })

  test("is a remark about the place it concerns", () => {
    const error: CallError = { code: "E301", message: "not there", where: "a.txt", hint: null }
    expect(diagnosticOf(error)).toEqual({
      level: "error",
      message: "not there",
      file_name: "a.txt",
      line_start: 0,
      code: "E301",
    })
    expect(diagnosticOf({ ...error, where: null }).file_name).toBe("")
  })
})

describe("the cause behind an error", () => {
  const causes: readonly (readonly [FailureKind, ErrorCode, string])[] = [
    ["general", "ACODE-FS-002", "failed"],
    ["internal", "ACODE-INT-001", "failed"],
    ["general", "ACODE-EXE-002", "timeout"],
    ["confinement", "ACODE-EXE-010", "violation"],
    ["general", "ACODE-SEC-003", "violation"],
    ["usage", "ACODE-SEC-005", "violation"],
    ["general", "ACODE-EXEC-004", "violation"],
    ["general", "ACODE-SEC-007", "failed"],
    ["denied", "ACODE-EXEC-005", "refused"],
  ]
  for (const [kind, code, cause] of causes)
    test(`of ${code} (${kind}) is "${cause}"`, () => expect(causeOf({ kind, code })).toBe(cause as "failed"))
})
