import { describe, expect, test } from "bun:test"
import { approvalLines, previewLines } from "../../src/cli/approval-text.ts"
import { approvalSummary } from "../support/approval-question.ts"

describe("a request for approval", () => {
  test("tells what, how risky, why, on what and for which step", () => {
    expect(approvalLines(approvalSummary({ level: 3, expiresAt: "2026-01-02T03:09:05.000Z" }))).toEqual([
      "approval deadbeef  network: none; writes: src/a.ts",
      "  operation  write src/a.ts",
      "  level      3, risky (FILE_WRITE)",
      "  why        writing is asked (default.write)",
      "  target     src/a.ts",
      "  step       s2",
      "  expires    2026-01-02T03:09:05.000Z",
    ])
  })

  test("leaves out what there is not", () => {
    const lines = approvalLines(approvalSummary({ files: [], stepId: null }))
    expect(lines).toHaveLength(4)
  })

  test("counts many files", () => {
    const lines = approvalLines(approvalSummary({ files: ["a", "b", "c"] }))
    expect(lines.join("\n")).toContain("target     3 files: a, b, c")
  })

  test("a level of another version has no name", () => {
    expect(approvalLines(approvalSummary({ level: 9 })).join("\n")).toContain("9, unknown")
  })

  test("hostile text can do nothing and hide nothing", () => {
    const lines = approvalLines(
      approvalSummary({
        operation: "rm \u001b[2J\u001b]0;owned\u0007 \u202etxt.exe\u202c\nlevel  1, harmless\r",
        reason: "be\u200bcause\u2066",
        files: ["a\u001b[1A", "b\nc"],
        stepId: "s\u0008\u0008",
      }),
    )
    expect(lines).toMatchInlineSnapshot(`
      [
        "approval deadbeef  network: none; writes: src/a.ts",
        "  operation  rm \\x1b[2J\\x1b]0;owned\\x07 \\u202etxt.exe\\u202c ⏎ level  1, harmless\\x0d",
        "  level      2, ordinary (FILE_WRITE)",
        "  why        be\\u200bcause\\u2066 (default.write)",
        "  target     2 files: a\\x1b[1A, b ⏎ c",
        "  step       s\\x08\\x08",
      ]
    `)
    expect(lines.every(line => !/[\p{Cc}\u200b-\u200f\u202a-\u202e\u2066-\u2069]/u.test(line))).toBe(true)
  })

  test("a text that never ends is cut", () => {
    const lines = approvalLines(approvalSummary({ operation: "x".repeat(100_000) }))
    expect(Math.max(...lines.map(line => line.length))).toBeLessThan(520)
  })
})

describe("a preview", () => {
  test("is shown as it is, behind a bar", () => {
    expect(previewLines("1 - a\n1 + b\n", 80, 50).lines).toEqual(["  │ 1 - a", "  │ 1 + b"])
  })

  test("has 50 lines and says how many there are", () => {
    const fifty = Array.from({ length: 50 }, (_, index) => `${index + 1} + line`).join("\n")
    expect(previewLines(fifty, 80, 50).lines).toHaveLength(50)
    expect(previewLines(`${fifty}\n`, 80, 50).lines).toHaveLength(50)
    const more = previewLines(`${fifty}\n51 + line\n52 + line`, 80, 50).lines
    expect(more).toHaveLength(51)
    expect(more.at(-1)).toBe("  … 50 of 52 lines; v shows all")
    expect(previewLines(`${fifty}\n51 + line`, 80, Number.POSITIVE_INFINITY).lines).toHaveLength(51)
  })

  test("a long line is wrapped, takes its rows from the fifty, and is never hidden at the right", () => {
    const rows = previewLines(`start ${"y".repeat(200)} end\nnext`, 44, 50).lines
    expect(rows.every(row => row.length <= 44)).toBe(true)
    expect(rows.map(row => row.slice(4)).join("")).toContain(" end")
    const endless = previewLines("z".repeat(1_000_000), 80, 50).lines
    expect(endless).toHaveLength(51)
    expect(endless.at(-1)).toBe("  … 0 of 1 lines; v shows all")
  })

  test("wide characters count double and are not cut in half", () => {
    const rows = previewLines("あ".repeat(50), 44, 50).lines
    expect(rows.map(row => Bun.stringWidth(row))).toEqual([44, 44, 24])
    expect(rows.every(row => row.isWellFormed())).toBe(true)
    expect(previewLines("😀".repeat(30), 44, 50).lines.every(row => row.isWellFormed())).toBe(true)
  })

  test("tabs are room, and nothing else moves the cursor", () => {
    expect(previewLines("\tif (a)\r\n\u001b[1Aup", 80, 50).lines).toEqual([
      "  │     if (a)\\x0d",
      "  │ \\x1b[1Aup",
    ])
  })

  test("marks that pile up become codes, those of ordinary writing stay", () => {
    expect(previewLines("e\u0301 ấ", 80, 50).lines).toEqual(["  │ e\u0301 ấ"])
    const [piled = ""] = previewLines(`a${"\u0300".repeat(5)}`, 80, 50).lines
    expect(piled).toBe("  │ a\u0300\u0300\u0300\\u{300}\\u{300}")
  })

  test("a terminal without room still shows something", () => {
    expect(previewLines("abc", 1, 50).lines).toEqual(["  │ abc"])
  })
})
