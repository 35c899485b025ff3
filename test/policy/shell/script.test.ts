import { describe, expect, test } from "bun:test"
import { deceivingCharacter, isDynamic, marks, mayBecomeOption } from "../../../src/policy/shell/script.ts"
import { marked } from "../policy-kit.ts"

describe("what is known only when it runs", () => {
  test("is marked in the word", () => {
    for (const word of ["{?}", "a{?}", "{??}", "*.{*}"]) expect(isDynamic(marked(word))).toBe(true)
    for (const word of ["a", "{~}/x", "", "*"]) expect(isDynamic(marked(word))).toBe(false)
  })

  test("may become an option where nothing fixed stands before it, or where it may split", () => {
    for (const word of ["{?}", "{*}", "{??}", "a{??}", "{?}a"])
      expect(mayBecomeOption(marked(word))).toBe(true)
    for (const word of ["a{?}", "./{*}", "-x", "{~}", ""]) expect(mayBecomeOption(marked(word))).toBe(false)
  })
})

describe("text that deceives", () => {
  const rows: readonly (readonly [string, string])[] = [
    ["a carriage return", "\r"],
    ["an escape", "\u001b"],
    ["a bell", "\u0007"],
    ["NUL", "\0"],
    ["a C1 control", "\u009b"],
    ["a no-break space", "\u00a0"],
    ["an em space", "\u2003"],
    ["an ideographic space", "\u3000"],
    ["a zero-width space", "\u200b"],
    ["a zero-width joiner", "\u200d"],
    ["a soft hyphen", "\u00ad"],
    ["a right-to-left override", "\u202e"],
    ["an isolate", "\u2066"],
    ["a line separator", "\u2028"],
    ["a byte order mark", "\ufeff"],
    ["a tag character", "\u{e0041}"],
    ["a Hangul filler", "\u3164"],
    ["half a surrogate pair", "\ud800"],
    ["a private-use character", "\ue123"],
  ]
  test.each(rows)("%s is found", (_, character) => {
    expect(deceivingCharacter(`ls ${character}x`)).toMatch(/^U\+[0-9A-F]{4,6}$/)
  })

  test("is not what people write", () => {
    for (const text of ["plain", "tab\tand\nline", "äöü ñ", "日本語", "emoji 🎉", ""])
      expect(deceivingCharacter(text)).toBeNull()
  })

  test("a mark cannot be forged, since it deceives as well", () => {
    for (const mark of Object.values(marks)) expect(deceivingCharacter(`a${mark}`)).not.toBeNull()
  })
})
