import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { decodeText, encodeText } from "../../../src/workspace/files/text-format.ts"

const bytes = (text: string, encoding: BufferEncoding = "utf8") => Buffer.from(text, encoding)

describe("the encoding of a file is found out", () => {
  test("UTF-8", () => {
    expect(decodeText(bytes("grün\r\n"))).toEqual({
      text: "grün\r\n",
      format: { encoding: "utf-8", bom: false },
    })
  })
  test("UTF-8 with a byte order mark, which is not part of the text", () => {
    expect(decodeText(bytes("\ufeffgrün"))).toEqual({
      text: "grün",
      format: { encoding: "utf-8", bom: true },
    })
  })
  test("UTF-16, little end first", () => {
    expect(decodeText(bytes("\ufeffgrün", "utf16le"))).toEqual({
      text: "grün",
      format: { encoding: "utf-16le", bom: true },
    })
  })
  test("UTF-16, big end first", () => {
    const content = bytes("\ufeffgrün", "utf16le").swap16()
    expect(decodeText(content)).toEqual({ text: "grün", format: { encoding: "utf-16be", bom: true } })
  })
  test("bytes that are not UTF-8 are shown one by one", () => {
    expect(decodeText(bytes("gr\xfcn", "latin1"))).toEqual({
      text: "grün",
      format: { encoding: "latin1", bom: false },
    })
  })
  test("a NUL byte makes it binary", () => {
    expect(decodeText(bytes("a\0b"))).toBeNull()
  })
  test("an empty file is text", () => {
    expect(decodeText(new Uint8Array(0))).toEqual({ text: "", format: { encoding: "utf-8", bom: false } })
  })
})

test("a character that an encoding has no place for is refused", () => {
  expect(encodeText("日本", { encoding: "latin1", bom: false })).toBeNull()
  expect(encodeText("\ud800", { encoding: "utf-8", bom: false })).toBeNull()
})

const anyBytes = fc.uint8Array({ maxLength: 60 })
/** Of which byte order marks, halves of characters and line ends are made. */
const tellingBytes = fc.array(
  fc.constantFrom(
    0xef,
    0xbb,
    0xbf,
    0xff,
    0xfe,
    0xc3,
    0xa9,
    0x80,
    0xed,
    0xa0,
    0xf0,
    0x9f,
    0x0a,
    0x0d,
    0x41,
    0x00,
  ),
  { maxLength: 12 },
)

test("what was decoded is encoded to the very same bytes", () => {
  fc.assert(
    fc.property(fc.oneof(anyBytes, tellingBytes), fc.constantFrom("", "\ufeff"), (content, mark) => {
      const whole = Buffer.concat([bytes(mark), Buffer.from(content)])
      const decoded = decodeText(whole)
      if (decoded === null) return
      // As texts: comparing thousands of buffers byte by byte takes longer than a test may on a busy machine.
      const again = Buffer.from(encodeText(decoded.text, decoded.format) ?? [])
      expect(again.toString("hex")).toBe(whole.toString("hex"))
    }),
    { numRuns: 2000 },
  )
})

test("wide texts survive the way there and back", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), fc.constantFrom("utf-16le", "utf-16be"), (text, encoding) => {
      const format = { encoding, bom: true } as const
      const content = encodeText(text, format)
      expect(decodeText(content ?? new Uint8Array(0))).toEqual({ text, format })
    }),
  )
})
