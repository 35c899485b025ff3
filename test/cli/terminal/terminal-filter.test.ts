import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { terminalFilter } from "../../../src/cli/terminal/terminal-filter.ts"

function filtered(bytes: Uint8Array, cuts: readonly number[] = []): Uint8Array {
  const filter = terminalFilter()
  const bounds = [0, ...cuts.map(cut => cut % (bytes.length + 1)), bytes.length].sort((a, b) => a - b)
  const parts = bounds
    .slice(1)
    .map((end, index) => Uint8Array.from(filter.push(bytes.slice(bounds[index], end))))
  return Buffer.concat([...parts, filter.end()])
}

const shown = (text: string) => Buffer.from(filtered(Buffer.from(text))).toString()

describe("what a program needs", () => {
  test.each([
    ["plain text in any language", "grüße, 文字, 👩‍💻\n\ttab\r\n"],
    ["colours", "\u001b[1;31mred\u001b[0m \u001b[38;5;208mx\u001b[38:2::1:2:3mtrue\u001b[m"],
    ["a progress bar", "\r\u001b[2K 10 %\r\u001b[K 20 %\b\b\b\u001b[1A\u001b[12G"],
    ["the cursor, hidden and shown", "\u001b[?25l…\u001b[?25h\u001b7\u001b8\u001b[s\u001b[u"],
    ["what tput sgr0 says", "\u001b(B\u001b[m\u000f"],
  ])("passes: %s", (_, text) => {
    expect(shown(text)).toBe(text)
  })
})

describe("what reaches outside the text", () => {
  test.each([
    ["the clipboard", "a\u001b]52;c;ZWNobyBvd25lZA==\u0007b", "ab"],
    ["the clipboard, with the other end", "a\u001b]52;c;eA==\u001b\\b", "ab"],
    ["the clipboard, in characters of 8 bits", "a\u009d52;c;eA==\u0007b", "ab"],
    ["a title", "a\u001b]0;owned\u0007b\u001b]2;owned\u001b\\c", "abc"],
    ["a link, but for its text", "\u001b]8;;https://x.example\u001b\\text\u001b]8;;\u001b\\", "text"],
    ["a device control string", "a\u001bP+q544e\u001b\\b", "ab"],
    ["an image", "a\u001b_Gf=100;AAAA\u001b\\b", "ab"],
    ["questions that a terminal answers", "a\u001b[6n\u001b[c\u001b[>c\u001b[21t\u001b[0x\u0005b", "ab"],
    ["modes", "a\u001b[?1049h\u001b[?2004l\u001b[?1000h\u001b[4h\u001b[!p\u001bcb", "ab"],
    ["printing", "a\u001b[5i\u001b[?5ib", "ab"],
    ["other character sets", "a\u001b(0\u000e\u001b$)Ab", "ab"],
    ["one that lacks its end, up to the end of the line", "a\u001b]0;x\nb", "a\nb"],
    ["one that begins in another one", "a\u001b]0;x\u001b[31mb\u001b[\u001b]0;y\u0007c", "a\u001b[31mbc"],
    ["one that is cut off", "ab\u001b[3", "ab"],
  ])("is left out: %s", (_, text, expected) => {
    expect(shown(text)).toBe(expected)
  })

  test("also in single bytes of 8 bits, which are no UTF-8", () => {
    const bytes = Buffer.concat([
      Buffer.from("a"),
      Buffer.from([0x9d]),
      Buffer.from("52;c;eA==\u0007b"),
      Buffer.from([0x9b, 0x33, 0x31, 0x6d, 0x90, 0x71, 0x1b, 0x5c, 0x85, 0xe9, 0x63]),
    ])
    expect(filtered(bytes)).toEqual(Buffer.concat([Buffer.from("ab\u001b[31m"), Buffer.from([0xe9, 0x63])]))
  })
})

const piece = fc.oneof(
  fc.string({ unit: "binary", maxLength: 5 }).map(text => Buffer.from(text)),
  fc.uint8Array({ maxLength: 6 }).map(bytes => Buffer.from(bytes)),
  fc
    .constantFrom(
      ..."\u001b|\u001b]|\u001b[|\u001bP|\u001b_|\u001b\\|\u0007|52;c;|31m|?25l|2J|6n|\u009b|\u009d|\u009c|(B|\n".split(
        "|",
      ),
    )
    .map(text => Buffer.from(text)),
)
const stream = fc.array(piece, { maxLength: 30 }).map(pieces => Buffer.concat(pieces))

/** What may be in the output, said once more: sequences of colour and cursor, and no other control. */
const harmless =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: controls are what this is about
  /^(?:\u001b\[[\d;:]*[@-HJ-MPSTXZ`adefmsuIA]|\u001b\[\?(?:25|7|2026)[hl]|\u001b[78DEM]|\u001b\(B|[\u0007-\u000d\u000f\u0020-\u007e]|[^\u0000-\u009f])*$/u

describe("whatever a program prints", () => {
  test("nothing but colours and movements of the cursor is in it", () => {
    fc.assert(
      fc.property(stream, bytes => {
        expect(new TextDecoder().decode(filtered(bytes))).toMatch(harmless)
      }),
      { numRuns: 2_000, seed: 8 },
    )
  })

  test("chunks make no difference, and filtering twice changes nothing", () => {
    fc.assert(
      fc.property(stream, fc.array(fc.nat(), { maxLength: 8 }), (bytes, cuts) => {
        const whole = filtered(bytes)
        expect(filtered(bytes, cuts)).toEqual(whole)
        expect(filtered(whole)).toEqual(whole)
      }),
      { numRuns: 2_000, seed: 9 },
    )
  })
})
