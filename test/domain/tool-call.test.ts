import { describe, expect, test } from "bun:test"
import {
  CallConfinement,
  CallError,
  CallOrigin,
  Diagnostic,
  FileChange,
  RecordedJson,
} from "../../src/domain/tool-call.ts"

describe("what is recorded of a call", () => {
  test("a value stands in the event or is an artifact, never both", () => {
    const isValid = (value: unknown) => RecordedJson().safeParse(value).success
    expect(isValid({ kind: "inline", value: { a: [1, null, "x"] } })).toBe(true)
    expect(isValid({ kind: "artifact", ref: "sha256:x", bytes: 3 })).toBe(true)
    expect(isValid({ kind: "inline", value: undefined })).toBe(false)
    expect(isValid({ kind: "inline", value: 1, ref: "sha256:x" })).toBe(false)
    expect(isValid({ kind: "artifact", ref: "sha256:x" })).toBe(false)
  })

  test("a change says what was there and what is, and nothing where there is nothing", () => {
    const isValid = (value: unknown) => FileChange().safeParse(value).success
    expect(isValid({ path: "a", before: null, after: "ff" })).toBe(true)
    expect(isValid({ path: "a", before: "link:b", after: null })).toBe(true)
    expect(isValid({ path: "a", after: "ff" })).toBe(false)
    expect(isValid({ path: "a", before: 1, after: "ff" })).toBe(false)
  })

  test("an error has all of its parts, empty ones as null", () => {
    const error = { code: "E301", message: "gone", where: null, hint: null }
    expect(CallError().safeParse(error).success).toBe(true)
    expect(CallError().safeParse({ code: "E301", message: "gone" }).success).toBe(false)
  })

  test("a remark has a level that compilers know", () => {
    const remark = { level: "error", message: "m", file_name: "a", line_start: 1, code: null }
    expect(Diagnostic().safeParse(remark).success).toBe(true)
    expect(Diagnostic().safeParse({ ...remark, level: "fatal" }).success).toBe(false)
    expect(Diagnostic().safeParse({ ...remark, line_start: 1.5 }).success).toBe(false)
  })

  test("its origin and its confinement have no room for more", () => {
    const origin = {
      planId: null,
      planHash: null,
      taskId: null,
      stepId: "s",
      stepKey: null,
      modelCallId: null,
    }
    expect(CallOrigin().safeParse(origin).success).toBe(true)
    expect(CallOrigin().safeParse({ ...origin, more: 1 }).success).toBe(false)
    expect(CallConfinement().safeParse({ sandboxed: true, network: "none" }).success).toBe(true)
    expect(CallConfinement().safeParse({ sandboxed: true, network: "lan" }).success).toBe(false)
  })
})
