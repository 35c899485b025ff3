import { describe, expect, test } from "bun:test"
import { credentialBytes, headedMatcher } from "../../../src/redaction/matchers/header.ts"
import { newline } from "../../../src/redaction/scene.ts"

const matcher = headedMatcher({ head: /^bearer[ \t]{1,4}/i, alphabet: credentialBytes, min: 8, like: /\d/ })

function value(text: string, final = true): string | null {
  const bytes = Buffer.from(text)
  const scene = { bytes, floor: 0, floorByte: newline, end: bytes.length, final }
  const match = matcher(scene, text.toLowerCase().indexOf("bearer"), 6)
  return match === null ? null : text.slice(match.start, match.end)
}

describe("a secret behind its header", () => {
  test("is what follows, to the first byte that does not belong to it", () => {
    expect(value('"Bearer abc.def-123/+==", x')).toBe("abc.def-123/+==")
    expect(value("bearer\tabcdef12")).toBe("abcdef12")
  })

  test.each([
    ["it is too short", "Bearer abc1 x"],
    ["it is a word", "Bearer authentication"],
    ["it describes one", "Bearer token1 x"],
    ["it is a reference", "Bearer $TOKEN_12345"],
    ["the header ends the line", "Bearer \nabcdef123456"],
    ["it was redacted", "Bearer [REDACTED:authorization]"],
  ])("is none when %s", (_, text) => {
    expect(value(text)).toBeNull()
  })

  test("is recognised when a word stands before the header, as an escaped line end does", () => {
    expect(value("x\\nBearer abcdef123456")).toBe("abcdef123456")
  })

  test("may be short when the end of the input cut it", () => {
    expect(value("Bearer abcde1")).toBe("abcde1")
    expect(value("Bearer abcde1", false)).toBeNull()
  })
})
