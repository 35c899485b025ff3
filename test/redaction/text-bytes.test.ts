import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { decodeLossless, encodeLossless } from "../../src/redaction/spans.ts"

describe("text survives the way to bytes and back", () => {
  test.each([
    "",
    "plain",
    "zwölf €",
    "😀 pair",
    "\ud800",
    "\udc00",
    "a\ud800b\udfffc",
    "\ud800\ud800",
    "\ud7ff\ue000",
    "\ufffd",
  ])("%j", text => {
    expect(decodeLossless(encodeLossless(text))).toBe(text)
  })

  test("whatever its code units", () => {
    fc.assert(
      fc.property(fc.array(fc.nat(0xffff), { maxLength: 20 }), units => {
        const text = String.fromCharCode(...units)
        expect(decodeLossless(encodeLossless(text))).toBe(text)
      }),
      { numRuns: 500 },
    )
  })
})

test("well-formed text has its usual UTF-8 form", () => {
  expect(Buffer.from(encodeLossless("é😀")).toString("hex")).toBe(Buffer.from("é😀", "utf8").toString("hex"))
})

test("a lone surrogate becomes three bytes that valid UTF-8 never has", () => {
  expect([...encodeLossless("\ud800")]).toEqual([0xed, 0xa0, 0x80])
  expect([...encodeLossless("\udfff")]).toEqual([0xed, 0xbf, 0xbf])
})
