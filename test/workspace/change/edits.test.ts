import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { applyEdits } from "../../../src/workspace/change/changes.ts"
import { codeOf, messageOf } from "../support.ts"

const edit = (text: string, search: string, replace: string) =>
  applyEdits("f", text, [{ search, replace }]).text

test("an edit replaces the one occurrence and returns its line", () => {
  expect(applyEdits("f", "a\nb\nc\n", [{ search: "b", replace: "B" }])).toEqual({
    text: "a\nB\nc\n",
    lines: [2],
    ranges: [{ start: 2, end: 3, replacement: "B" }],
  })
})

describe("line ends", () => {
  test("of the file stay, independent of those of the edit", () => {
    expect(edit("a\r\nb\r\nc\r\n", "a\nb", "A\nB")).toBe("A\r\nB\r\nc\r\n")
    expect(edit("a\nb\nc\n", "a\r\nb", "A\r\nB")).toBe("A\nB\nc\n")
    expect(edit("a\r\nb\r\n", "b", "b1\nb2")).toBe("a\r\nb1\r\nb2\r\n")
  })

  test("of a mixed file are those of the replaced place", () => {
    expect(edit("a\nb\r\nc\r\nd\n", "b\nc", "B\nX\nC")).toBe("a\nB\r\nX\r\nC\r\nd\n")
    expect(edit("a\nb\nc\r\nd\r\ne\r\n", "a\nb", "A\nB")).toBe("A\nB\nc\r\nd\r\ne\r\n")
  })
})

describe("an edit that does not fit", () => {
  test("shows the lines that are most like it, with what differs", () => {
    const text = "import x\n\nexport function total(items) {\n  return items.length\n}\n"
    const message = messageOf(() => edit(text, "function total(list) {\n  return list.length\n}", ""))
    expect(message).toContain("closest place is line 3")
    expect(message).toContain("3 - export function total(items) {")
    expect(message).toContain("+ function total(list) {")
    expect(message).toContain("5   }")
  })

  test("shows tabs and spaces where they are the difference", () => {
    expect(messageOf(() => edit("\tdeep\n", "    deep\n", ""))).toContain("1 - →deep\n  + ····deep")
  })

  test("says when nothing is like it", () => {
    expect(messageOf(() => edit("abc\n", "quite another thing", ""))).toContain("nothing like it")
    expect(messageOf(() => edit("", "x", ""))).toContain("nothing like it")
  })

  test("is cut when it is long", () => {
    const text = Array.from({ length: 200 }, (_, index) => `line ${index}\n`).join("")
    const message = messageOf(() => edit(text, text.replaceAll("line", "Line"), ""))
    expect(message).toContain("more lines")
    expect(message.split("\n").length).toBeLessThan(40)
  })

  test("names all ranges where it would fit, also those that overlap", () => {
    expect(codeOf(() => edit("aaa", "aa", "b"))).toBe("ACODE-PAT-004")
    expect(messageOf(() => edit("x\r\ny\r\nx\r\ny\r\n", "x\ny", "b"))).toContain("lines 1, 3")
  })

  test("is refused when there are none", () => {
    expect(codeOf(() => applyEdits("f", "x", []))).toBe("ACODE-PAT-001")
  })

  test("takes no long time, however large the file is", () => {
    const text = "some line of text\n".repeat(50_000)
    expect(codeOf(() => edit(text, "not there at all\n".repeat(200), ""))).toBe("ACODE-PAT-002")
  })
})

test("replacing a text that is there once changes that text and nothing else", () => {
  const piece = fc.string({ unit: fc.constantFrom("a", "b", "\n", "\r\n", "$", "&"), maxLength: 12 })
  fc.assert(
    fc.property(piece, piece, piece, (before, after, replace) => {
      const text = `${before}<unique>${after}`
      const ends = text.includes("\r\n") || replace.includes("\r\n")
      const result = edit(text, "<unique>", replace)
      expect(result.startsWith(before) && result.endsWith(after)).toBe(true)
      if (!ends) expect(result).toBe(before + replace + after)
    }),
    { numRuns: 2000 },
  )
})
