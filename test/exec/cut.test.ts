import { describe, expect, test } from "bun:test"
import { isUtf8 } from "node:buffer"
import fc from "fast-check"
import { cutOutput, type KeptOutput, safeEnd, safeStart } from "../../src/exec/capture.ts"

const none = new Uint8Array(0)
const whole = (text: string): KeptOutput => ({ head: Buffer.from(text), gapBytes: 0, tail: none })
const cut = (kept: KeptOutput, bytesMax: number) => {
  const { bytes, omittedBytes } = cutOutput(kept, bytesMax)
  return { text: Buffer.from(bytes).toString(), omittedBytes }
}

describe("output that fits", () => {
  test("is given as it is", () => {
    expect(cut(whole("hello"), 5)).toEqual({ text: "hello", omittedBytes: 0 })
    expect(cut(whole(""), 1)).toEqual({ text: "", omittedBytes: 0 })
  })
})

describe("output that does not fit", () => {
  test("keeps half from the beginning, half from the end, and says how much is missing", () => {
    expect(cut(whole("aaaaa-middle-zzzzz"), 10)).toEqual({
      text: "aaaaa\n[OUTPUT TRUNCATED: 8 bytes omitted]\nzzzzz",
      omittedBytes: 8,
    })
  })

  test("puts the line on a line of its own without adding an empty one", () => {
    expect(cut(whole("a\nb\nc\nd\n"), 4).text).toBe("a\n[OUTPUT TRUNCATED: 4 bytes omitted]\nd\n")
  })

  test("counts the gap that was never kept", () => {
    const kept = { head: Buffer.from("aaaa"), gapBytes: 1000, tail: Buffer.from("zzzz") }
    expect(cut(kept, 100)).toEqual({
      text: "aaaa\n[OUTPUT TRUNCATED: 1000 bytes omitted]\nzzzz",
      omittedBytes: 1000,
    })
    expect(cut(kept, 4)).toEqual({
      text: "aa\n[OUTPUT TRUNCATED: 1004 bytes omitted]\nzz",
      omittedBytes: 1004,
    })
  })

  test("works down to a single byte", () => {
    expect(cut(whole("abc"), 1)).toEqual({ text: "[OUTPUT TRUNCATED: 2 bytes omitted]\nc", omittedBytes: 2 })
  })

  test("is not cut through a character", () => {
    // Each of these takes 2, 3 or 4 bytes.
    for (const letter of ["é", "日", "\u{1f600}"])
      for (let bytesMax = 1; bytesMax < 40; bytesMax++) {
        const { bytes, omittedBytes } = cutOutput(whole(letter.repeat(12)), bytesMax)
        expect(isUtf8(bytes)).toBe(true)
        if (omittedBytes > 0) expect(omittedBytes % Buffer.byteLength(letter)).toBe(0)
      }
  })

  test("is not cut through a redaction, at whatever byte", () => {
    const text = `${"x".repeat(30)}[REDACTED:api-key]${"y".repeat(30)}[REDACTED:token]${"z".repeat(30)}`
    for (let bytesMax = 1; bytesMax < text.length; bytesMax++) {
      const rest = cut(whole(text), bytesMax).text.replaceAll(/\[REDACTED:(api-key|token)\]/g, "")
      expect(rest).toMatch(/^x*y*\n?\[OUTPUT TRUNCATED: \d+ bytes omitted\]\ny*z*$/)
    }
  })

  test("that merely looks like a redaction is cut like any other text", () => {
    const text = `[REDACTED:${"x".repeat(200)}`
    expect(cut(whole(text), 100).text.startsWith(`[REDACTED:${"x".repeat(40)}\n`)).toBe(true)
  })

  test("keeps bytes that are no text: invalid runs are cut where asked", () => {
    const { bytes, omittedBytes } = cutOutput({ head: Buffer.alloc(100, 0x80), gapBytes: 0, tail: none }, 10)
    expect(omittedBytes).toBe(90)
    expect(bytes.subarray(0, 5)).toEqual(Buffer.alloc(5, 0x80))
  })
})

test("whatever is cut, beginning and end are those of the output and nothing is counted twice", () => {
  const unit = fc.constantFrom("a", "b", "\n", "é", "日", "\u{1f600}", "[REDACTED:x]")
  const text = fc.array(unit, { maxLength: 40 }).map(units => units.join(""))
  fc.assert(
    fc.property(text, fc.integer({ min: 1, max: 80 }), (value, bytesMax) => {
      const all = Buffer.from(value)
      const { bytes, omittedBytes } = cutOutput(whole(value), bytesMax)
      if (omittedBytes === 0) return expect(Buffer.from(bytes).equals(all)).toBe(true)
      const [head = "", tail = ""] = Buffer.from(bytes)
        .toString()
        .split(`[OUTPUT TRUNCATED: ${omittedBytes} bytes omitted]\n`)
      const kept = Buffer.byteLength(head) + Buffer.byteLength(tail)
      expect(kept - (all.length - omittedBytes)).toBeOneOf([0, 1])
      expect(value.startsWith(head) || value.startsWith(head.slice(0, -1))).toBe(true)
      expect(value.endsWith(tail)).toBe(true)
    }),
    { numRuns: 500 },
  )
})

describe("a safe place to cut", () => {
  const text = Buffer.from("ab[REDACTED:x]é")

  test("is before a redaction for an end and behind it for a start", () => {
    expect(safeEnd(text, 5)).toBe(2)
    expect(safeStart(text, 5)).toBe(14)
  })

  test("is the place itself at the edges of things", () => {
    for (const place of [0, 1, 2, 14, text.length]) {
      expect(safeEnd(text, place)).toBe(place)
      expect(safeStart(text, place)).toBe(place)
    }
  })

  test("is off the inside of a character", () => {
    expect(safeEnd(text, 15)).toBe(14)
    expect(safeStart(text, 15)).toBe(16)
  })
})
