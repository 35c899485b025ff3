import { expect, test } from "bun:test"
import fc from "fast-check"
import { LineWindow } from "../../../src/workspace/files/read-file.ts"

function windowOf(content: Buffer, fromLine: number, lineCount: number, bytesMax: number, chunk: number) {
  const window = new LineWindow({ fromLine, lineCount, bytesMax })
  for (let at = 0; at < content.length; at += chunk) window.push(content.subarray(at, at + chunk))
  const { bytes, totalLines, cut } = window.end()
  return { text: Buffer.from(bytes).toString(), totalLines, cut }
}

test("a range of lines is kept with its line ends", () => {
  const content = Buffer.from("one\ntwo\r\nthree\nfour")
  expect(windowOf(content, 2, 2, 100, 5)).toEqual({ text: "two\r\nthree\n", totalLines: 4, cut: false })
  expect(windowOf(content, 4, 9, 100, 1)).toEqual({ text: "four", totalLines: 4, cut: false })
  expect(windowOf(content, 5, 1, 100, 3)).toEqual({ text: "", totalLines: 4, cut: false })
  expect(windowOf(content, 1, 0, 100, 3)).toEqual({ text: "", totalLines: 4, cut: false })
})

test("a text longer than the bound is cut and marked", () => {
  expect(windowOf(Buffer.from("x".repeat(1000)), 1, 1, 10, 7)).toEqual({
    text: "xxxxxxxxxx",
    totalLines: 1,
    cut: true,
  })
})

test("an empty file has no lines and a lone newline is one", () => {
  expect(windowOf(Buffer.alloc(0), 1, 5, 10, 4).totalLines).toBe(0)
  expect(windowOf(Buffer.from("\n"), 1, 5, 10, 4)).toEqual({ text: "\n", totalLines: 1, cut: false })
})

test("chunks make no difference: it is always the same as splitting the whole", () => {
  const line = fc.string({ unit: fc.constantFrom("a", "b", "\n", "\r"), maxLength: 60 })
  fc.assert(
    fc.property(
      line,
      fc.integer({ min: 1, max: 20 }),
      fc.nat(20),
      fc.integer({ min: 1, max: 9 }),
      (text, from, count, chunk) => {
        const lines = text.split(/(?<=\n)/).filter(piece => piece !== "")
        const { text: kept, totalLines } = windowOf(Buffer.from(text), from, count, 1000, chunk)
        expect(kept).toBe(lines.slice(from - 1, from - 1 + count).join(""))
        expect(totalLines).toBe(lines.length)
      },
    ),
    { numRuns: 2000 },
  )
})
