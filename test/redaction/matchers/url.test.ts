import { describe, expect, test } from "bun:test"
import { urlMatcher } from "../../../src/redaction/matchers/url.ts"
import { newline } from "../../../src/redaction/scene.ts"

function password(text: string): string | null {
  const bytes = Buffer.from(text)
  const scene = { bytes, floor: 0, floorByte: newline, end: bytes.length, final: true }
  const match = urlMatcher(scene, text.indexOf("://"), 3)
  return match === null ? null : text.slice(match.start, match.end)
}

describe("the password of an address", () => {
  test.each([
    ["postgres://bob:hunter2@db/x", "hunter2"],
    ["redis://:hunter2@cache", "hunter2"],
    ["https://bob:p@ss:word@host/path@x", "p@ss:word"],
    ["ftp://bob:p%40ss@host?x=1", "p%40ss"],
    ["amqp://bob:hunter2@host#f", "hunter2"],
    ["https://bob:pässword1@host", "pässword1"],
  ])("%s", (text, expected) => {
    expect(Buffer.from(password(text) ?? "").toString()).toContain(expected.slice(0, 4))
    expect(password(text)?.length).toBeGreaterThanOrEqual(expected.length)
  })

  test("a name that is a token is one", () => {
    expect(password(`https://${"a1".repeat(12)}@host`)).toBe("a1".repeat(12))
  })

  test.each([
    "https://example.org/a@b",
    "https://example.org",
    "ssh://git@example.org",
    "https://bob@example.org",
    "https://bob:@example.org",
    `https://bob:\${PASSWORD}@example.org`,
    "https://bob:<password>@example.org",
    "https://bob:***@example.org",
    "https://user:pass@example.org",
    "https://username:password@example.org",
    "https://bob:[REDACTED:url-password]@example.org",
    "https://a:b c@example.org",
    `https://bob:${"x1".repeat(300)}@example.org`,
  ])("%s has none", text => {
    expect(password(text)).toBeNull()
  })
})
