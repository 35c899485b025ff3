import { describe, expect, test } from "bun:test"
import { approvalLines, previewRows, wrappedLines } from "../../../src/cli/render/approval-text.ts"
import { approvalSummary } from "../../support/plan/approval-question.ts"

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
    expect(previewRows("1 - a\n1 + b\n", 80)).toEqual(["  │ 1 - a", "  │ 1 + b"])
  })

  test("a long line is wrapped, and what continues it cannot be taken for another line", () => {
    const rows = previewRows(`start ${"y".repeat(70)} 2 + end\nnext`, 44)
    expect(rows).toEqual([`  │ start ${"y".repeat(34)}`, `  ┊ ${"y".repeat(36)} 2 +`, "  ┊  end", "  │ next"])
  })

  test("wide characters count double and are not cut in half", () => {
    const rows = previewRows("あ".repeat(50), 44)
    expect(rows.map(row => Bun.stringWidth(row))).toEqual([44, 44, 24])
    expect(rows.every(row => row.isWellFormed())).toBe(true)
    expect(previewRows("😀".repeat(30), 44).every(row => row.isWellFormed())).toBe(true)
  })

  test("tabs are room, and nothing else moves the cursor", () => {
    expect(previewRows("\tif (a)\r\n\u001b[1Aup", 80)).toEqual(["  │     if (a)\\x0d", "  │ \\x1b[1Aup"])
  })

  test("marks that pile up become codes, those of ordinary writing stay", () => {
    expect(previewRows("e\u0301 ấ", 80)).toEqual(["  │ e\u0301 ấ"])
    const [piled = ""] = previewRows(`a${"\u0300".repeat(5)}`, 80)
    expect(piled).toBe("  │ a\u0300\u0300\u0300\\u{300}\\u{300}")
  })

  test("a terminal without room still shows all of it", () => {
    expect(previewRows("abc", 1)).toEqual(["  │ ab", "  ┊ c"])
  })
})

test("what a question could reach is never cut", () => {
  const reach = `network: everything; writes: ${Array.from({ length: 300 }, (_, index) => `src/f${index}.ts`).join(", ")}`
  const rows = wrappedLines(approvalLines(approvalSummary({ reach })).slice(0, 1), 80)
  expect(rows.map((row, index) => row.slice(index === 0 ? 0 : 4)).join("")).toEndWith(reach)
})
