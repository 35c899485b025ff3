import { describe, expect, test } from "bun:test"
import { boundedView } from "../../src/tools/tool-result.ts"

describe("a bounded view", () => {
  test("is the text itself where it fits, to the byte", () => {
    expect(boundedView("", 10)).toBe("")
    expect(boundedView("grün", 5)).toBe("grün")
  })

  test("keeps both ends and says what is missing", () => {
    const text = `${"a".repeat(50)}${"m".repeat(900)}${"z".repeat(50)}`
    expect(boundedView(text, 100)).toBe(
      `${"a".repeat(50)}\n[… 900 of 1000 bytes are not shown …]\n${"z".repeat(50)}`,
    )
  })

  test("cuts between characters, wherever the cut falls", () => {
    const text = "ä€😀".repeat(40)
    for (let max = 1; max < 60; max++) {
      const view = boundedView(text, max)
      expect(view).not.toContain("\ufffd")
      const [head = "", tail = ""] = view.split(/\n\[… .* …\]\n/)
      expect(text.startsWith(head)).toBe(true)
      expect(text.endsWith(tail)).toBe(true)
      expect(Buffer.byteLength(head + tail)).toBeLessThanOrEqual(max)
    }
  })
})
