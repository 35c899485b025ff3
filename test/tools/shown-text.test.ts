import { expect, test } from "bun:test"
import { createRedactor } from "../../src/redaction/redactor.ts"
import { shownText } from "../../src/tools/shown-text.ts"

const redactor = createRedactor({
  secretValues: ["top-value-9911"],
  extraPatterns: ["CASE-\\d{4,8}"],
})

test("a text without secrets is its own lines", () => {
  const { text, lines, isRedacted } = shownText("a\r\nb\n\nc", redactor)
  expect(text).toBe("a\r\nb\n\nc")
  expect(isRedacted).toBe(false)
  expect(lines).toEqual([
    { shown: "a", original: "a", line: 1, start: 0 },
    { shown: "b", original: "b", line: 2, start: 3 },
    { shown: "", original: "", line: 3, start: 5 },
    { shown: "c", original: "c", line: 4, start: 6 },
  ])
})

test("a line with secrets knows what it stands for", () => {
  const { text, lines } = shownText('x\r\npassword="abcd1234" top-value-9911\r\ny\r\n', redactor)
  expect(text).toBe('x\r\npassword="[REDACTED:password]" [REDACTED:environment]\r\ny\r\n')
  expect(lines[1]).toMatchObject({
    shown: 'password="[REDACTED:password]" [REDACTED:environment]',
    original: 'password="abcd1234" top-value-9911',
    line: 2,
  })
  expect(lines).toHaveLength(3)
})

test("a key of several lines is one line, and the numbers go on behind it", () => {
  const body = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQ\r\n".repeat(3)
  const key = `-----BEGIN RSA PRIVATE KEY-----\r\n${body}-----END RSA PRIVATE KEY-----`
  const { lines } = shownText(`a\r\nkey: "${key}" # mine\r\nb\r\n`, redactor)
  expect(lines).toMatchObject([
    { shown: "a", original: "a", line: 1 },
    { shown: 'key: "[REDACTED:private-key]" # mine', original: `key: "${key}" # mine`, line: 2 },
    { shown: "b", original: "b", line: 7 },
  ])
})

test("what a person's own pattern replaces is told by the line, newline or not", () => {
  const { text, lines } = shownText("a\nsee CASE-12345 now\nCASE-999999", redactor)
  expect(text).toBe("a\nsee [REDACTED:custom] now\n[REDACTED:custom]")
  expect(lines).toMatchObject([
    { shown: "a", original: "a", line: 1 },
    { shown: "see [REDACTED:custom] now", original: "see CASE-12345 now", line: 2 },
    { shown: "[REDACTED:custom]", original: "CASE-999999", line: 3 },
  ])
})

test("lines that stand together for one stretch cannot be told apart", () => {
  const odd = { ...redactor, redactSpans: () => [{ start: 2, end: 7, replacement: "M\nN\nO" }] }
  const { text, lines } = shownText("a\nb\nc\nd\ne\n", odd)
  expect(text).toBe("a\nM\nN\nO\ne\n")
  expect(lines.map(({ shown, original }) => [shown, original])).toEqual([
    ["a", "a"],
    ["M", null],
    ["N", null],
    ["O", null],
    ["e", "e"],
  ])
  expect(lines.at(-1)?.line).toBe(5)
})

test("an empty text has no lines", () => {
  expect(shownText("", redactor).lines).toEqual([])
})

test("each line begins where it begins in the original", () => {
  const body = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQ\n".repeat(3)
  const key = `-----BEGIN PRIVATE KEY-----\n${body}-----END PRIVATE KEY-----`
  const text = `a\r\n${key}\npassword = "abcd1234"\r\nCASE-12345\nCASE-54321\nlast`
  for (const { start, original, line } of shownText(text, redactor).lines) {
    expect(text.slice(start)).toStartWith(original ?? "none")
    expect(text.slice(0, start).split("\n").length).toBe(line)
  }
})
