import { describe, expect, test } from "bun:test"
import { redactJson } from "../../../src/domain/text/redacted-json.ts"

const redactor = { redactText: (text: string) => text.replaceAll("correct-horse", "[REDACTED:environment]") }

describe("redaction of a value", () => {
  test("leaves its shape alone", () => {
    const value = { a: [1, true, null, "x", { b: "correct-horse" }], c: -0.5 }
    expect(redactJson(value, redactor)).toEqual({
      a: [1, true, null, "x", { b: "[REDACTED:environment]" }],
      c: -0.5,
    })
  })

  test("looks into names and at texts of their own", () => {
    expect(JSON.stringify(redactJson({ "correct-horse": 1 }, redactor))).not.toContain("correct-horse")
    expect(redactJson("correct-horse", redactor)).not.toBe("correct-horse")
    expect(redactJson(7, redactor)).toBe(7)
  })

  test("leaves names alone where they are words of the vocabulary", () => {
    const value = { "correct-horse": "correct-horse" }
    expect(redactJson(value, redactor, false)).toEqual({ "correct-horse": "[REDACTED:environment]" })
  })

  test("gives the very value back where there is nothing to redact", () => {
    const value = { a: [{ b: "x" }] }
    expect(redactJson(value, redactor)).toBe(value)
  })
})
