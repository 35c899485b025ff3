import { describe, expect, test } from "bun:test"
import type { RedactedSpan, Redactor } from "../../src/redaction/contract.ts"
import { createRedactor, type RedactorOptions } from "../../src/redaction/redactor.ts"
import { seeded } from "../workspace/support.ts"

const redactorOf = (options: Partial<RedactorOptions> = {}): Redactor =>
  createRedactor({ secretValues: [], extraPatterns: [], ...options })

/** The spans put in place by hand. */
function replaced(text: string, spans: readonly RedactedSpan[]): string {
  let result = ""
  let at = 0
  for (const { start, end, replacement } of spans) {
    result += text.slice(at, start) + replacement
    at = end
  }
  return result + text.slice(at)
}

describe("what redaction replaces", () => {
  test("a text without secrets has no spans", () => {
    expect(redactorOf().redactSpans("const token = readToken()\n")).toEqual([])
    expect(redactorOf().redactSpans("")).toEqual([])
  })

  test("each secret is one span, and nothing around it", () => {
    const text = 'grün\npassword = "hunter2xyz"\nkey: ghp_0123456789abcdefghij0123456789abcdef\nende\n'
    const spans = redactorOf().redactSpans(text)
    expect(spans.map(({ start, end }) => text.slice(start, end))).toEqual([
      "hunter2xyz",
      "ghp_0123456789abcdefghij0123456789abcdef",
    ])
    expect(spans.map(({ replacement }) => replacement)).toEqual([
      "[REDACTED:password]",
      "[REDACTED:github-token]",
    ])
  })

  test("a key of many lines is one span", () => {
    const key = `-----BEGIN PRIVATE KEY-----\n${"MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQDTx\n".repeat(5)}-----END PRIVATE KEY-----`
    const text = `before\n${key}\nafter\n`
    expect(redactorOf().redactSpans(text)).toEqual([
      { start: 7, end: 7 + key.length, replacement: "[REDACTED:private-key]" },
    ])
  })

  test("a secret at the very end and one at the very beginning are told", () => {
    const token = "ghp_0123456789abcdefghij0123456789abcdef"
    const text = `${token} ${token}`
    expect(
      redactorOf()
        .redactSpans(text)
        .map(({ start, end }) => [start, end]),
    ).toEqual([
      [0, token.length],
      [token.length + 1, text.length],
    ])
  })

  test("known values, rules and a person's own patterns come together in the places of the original", () => {
    const redactor = redactorOf({ secretValues: ["grüne-Wiese-4711"], extraPatterns: ["CASE-\\d{4,8}"] })
    const text = 'ä grüne-Wiese-4711 ö\npassword="abcd-efgh1" # CASE-123456 ü\nCASE-998877\nlast CASE-1\n'
    const spans = redactor.redactSpans(text)
    expect(replaced(text, spans)).toBe(redactor.redactText(text))
    expect(text.slice(spans[0]?.start, spans[0]?.end)).toBe("grüne-Wiese-4711")
    expect(spans.at(-1)?.end).toBeLessThanOrEqual(text.indexOf("last"))
  })

  test("a pattern that reaches into what an earlier stage replaced makes one span of both", () => {
    const redactor = redactorOf({ secretValues: ["s3cr3tvalue"], extraPatterns: ["id=[a-z]+"] })
    const text = "id=abc s3cr3tvalue id=def\nnext\n"
    const spans = redactor.redactSpans(text)
    expect(replaced(text, spans)).toBe(redactor.redactText(text))
  })

  test("half a character has no place in a text, so all of it is one span", () => {
    // The second byte of "ä".
    const redactor = redactorOf({ extraPatterns: ["XYZ."] })
    const text = "a XYZä b\n"
    const spans = redactor.redactSpans(text)
    expect(replaced(text, spans)).toBe(redactor.redactText(text))
  })

  test("a lone surrogate stays where it is", () => {
    const text = '\ud800 password = "hunter2xyz1" \udc00\n'
    const redactor = redactorOf()
    expect(replaced(text, redactor.redactSpans(text))).toBe(redactor.redactText(text))
    expect(redactor.redactSpans(text)).toHaveLength(1)
  })

  test("whatever the text, the spans say exactly what redaction does", () => {
    const pieces = [
      "password = ",
      "hunter2xyz",
      "[REDACTED:token]",
      "s3cr3tvalue",
      "CASE-12345",
      "\n",
      "\r\n",
      " ",
      "ü€😀",
      "token: ",
      "ghp_0123456789abcdefghij0123456789abcdef",
      "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAA\n-----END PRIVATE KEY-----",
      "https://user:pa55word@host/",
      '"',
      "CASE-",
    ]
    const redactor = redactorOf({ secretValues: ["s3cr3tvalue"], extraPatterns: ["CASE-\\d+", "x[a-z]+x"] })
    const below = seeded(7)
    let spansSeen = 0
    for (let round = 0; round < 800; round++) {
      const text = Array.from({ length: 1 + below(14) }, () => pieces[below(pieces.length)]).join("")
      const spans = redactor.redactSpans(text)
      expect(replaced(text, spans)).toBe(redactor.redactText(text))
      for (const [index, span] of spans.entries())
        expect(span.start).toBeGreaterThanOrEqual(spans[index - 1]?.end ?? 0)
      spansSeen += spans.length
    }
    expect(spansSeen).toBeGreaterThan(500)
  })
})
