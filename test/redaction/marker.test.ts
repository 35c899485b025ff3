import { describe, expect, test } from "bun:test"
import { isMarkerText, markerOf, redactionKinds, withoutMarkerEdges } from "../../src/redaction/marker.ts"

test("kinds are lower case with dashes, so that markers can be told from other text", () => {
  for (const kind of redactionKinds) expect(kind).toMatch(/^[a-z]+(-[a-z]+)*$/)
  expect(new Set(redactionKinds).size).toBe(redactionKinds.length)
  expect(markerOf("token")).toBe("[REDACTED:token]")
})

describe("text that lies inside a marker", () => {
  test.each(["REDACTED", "password", "[REDACTED:", "environment", "DACTED:tok", "key]"])("%p is", text => {
    expect(isMarkerText(text)).toBe(true)
  })

  test.each(["redacted!", "hunter22", "passw0rd", "[redacted]", "tokens"])("%p is not", text => {
    expect(isMarkerText(text)).toBe(false)
  })
})

describe("the edges of a secret that could overlap a marker are cut", () => {
  test.each([
    ["abc12345[", "abc12345"],
    ["abc12345[[", "abc12345"],
    ["abc12345[RED", "abc12345"],
    ["]abc12345", "abc12345"],
    ["token]abc12345", "abc12345"],
    [":token]abc12345[REDACTED:", "abc12345"],
    ["abc[REDACTED]123", "abc[REDACTED]123"],
    ["abc12345", "abc12345"],
    ["[abc12345", "[abc12345"],
  ])("%p becomes %p", (text, kept) => {
    expect(withoutMarkerEdges(text)).toBe(kept)
  })

  test("what is left can overlap no marker at either side", () => {
    for (const text of ["]x[", "n]12345678[R", "-key]secret[REDACTED:tok", "[[[[", "]]]]"]) {
      const kept = withoutMarkerEdges(text)
      for (const marker of redactionKinds.map(markerOf))
        for (let length = 1; length < marker.length; length++) {
          if (kept === "") continue
          expect(kept.startsWith(marker.slice(-length))).toBe(false)
          expect(kept.endsWith(marker.slice(0, length))).toBe(false)
        }
    }
  })
})
