import { describe, expect, test } from "bun:test"
import { tokenBytes } from "../../../src/base/byte-sets.ts"
import { alphanumeric, tokenMatcher, upperAlphanumeric } from "../../../src/redaction/matchers/token-kinds.ts"
import { newline } from "../../../src/redaction/scene.ts"

function found(
  matcher: ReturnType<typeof tokenMatcher>,
  text: string,
  anchor: string,
  final = true,
): string | null {
  const bytes = Buffer.from(text)
  const scene = { bytes, floor: 0, floorByte: newline, end: bytes.length, final }
  const match = matcher(scene, text.indexOf(anchor), anchor.length)
  return match === null ? null : text.slice(match.start, match.end)
}

describe("a token with a prefix", () => {
  const matcher = tokenMatcher({ alphabet: tokenBytes, min: 12, isUnique: true, like: /\d/ })
  const find = (text: string) => found(matcher, text, "pre-")

  test("goes from its prefix to the first byte that does not belong to it", () => {
    expect(find('x "pre-abcdef123456" y')).toBe("pre-abcdef123456")
  })

  test.each([
    ["it is too short", "pre-abc123 y"],
    ["it does not look like one", "pre-abcdefghijklmnop y"],
    ["it is filled with x", "pre-xxxxxxxxxxxxxxxx y"],
    ["it is masked", "pre-abc1xxxxxxxxxxxx y"],
  ])("is none when %s", (_, text) => {
    expect(find(text)).toBeNull()
  })

  test("is recognised behind a word, and behind whatever else is in front of it", () => {
    expect(find("xpre-abcdef123456 y")).toBe("pre-abcdef123456")
    expect(find("x-pre-abcdef123456 y")).toBe("pre-abcdef123456")
  })

  test("leaves the mark behind it to the sentence", () => {
    expect(find("pre-abcdef123456-. Next")).toBe("pre-abcdef123456")
  })

  test("is recognised when the end of the input cut it", () => {
    expect(find("x pre-abcd1234")).toBe("pre-abcd1234")
    expect(find("x pre-abcd123")).toBeNull()
    expect(find("x pre-abcdefghij")).toBeNull()
  })

  test("is not taken for cut while more may come", () => {
    expect(found(matcher, "x pre-abcd1234", "pre-", false)).toBeNull()
  })
})

test("a prefix that other words share needs the whole token", () => {
  const matcher = tokenMatcher({ alphabet: tokenBytes, min: 12 })
  expect(found(matcher, "x pre-abcd1234", "pre-")).toBeNull()
})

test("a prefix that other words share needs a random token behind a word", () => {
  const matcher = tokenMatcher({ alphabet: tokenBytes, min: 12 })
  expect(found(matcher, "xpre-abcdef123456 y", "pre-")).toBeNull()
  expect(found(matcher, "xpre-a1B2c3D4e5F6g7H8i9J0 y", "pre-")).toBe("pre-a1B2c3D4e5F6g7H8i9J0")
})

test("a prefix that base64 may have in it needs a token of its length there", () => {
  const matcher = tokenMatcher({ alphabet: alphanumeric, min: 8, isUnique: true, inside: 8 })
  expect(found(matcher, "PREA1B2C3D4 y", "PRE")).toBe("PREA1B2C3D4")
  expect(found(matcher, "xPREA1B2C3D4 y", "PRE")).toBe("PREA1B2C3D4")
  expect(found(matcher, "xPREA1B2C3D4E5 y", "PRE")).toBeNull()
})

test("a token of one length has neither more nor less", () => {
  const matcher = tokenMatcher({ alphabet: upperAlphanumeric, min: 4, max: 4 })
  expect(found(matcher, "PREA1B2 x", "PRE")).toBe("PREA1B2")
  expect(found(matcher, "PREA1B2C x", "PRE")).toBeNull()
  expect(found(matcher, "PREA1B x", "PRE")).toBeNull()
})

test("a public prefix stays", () => {
  const matcher = tokenMatcher({ alphabet: alphanumeric, min: 4, keepPrefix: true })
  expect(found(matcher, "https://hooks/abc123/x", "hooks/")).toBe("abc123")
})
