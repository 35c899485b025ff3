import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import {
  createLiteralScanner,
  createPlainScanner,
  type Literal,
} from "../../src/redaction/literal-scanner.ts"

const literals: readonly Literal[] = [
  { text: "token", ignoreCase: true },
  { text: "tok", ignoreCase: false },
  { text: "ghp_", ignoreCase: false },
  { text: "://", ignoreCase: false },
  { text: "password", ignoreCase: true },
]
const plain = createPlainScanner(literals)
const tables = createLiteralScanner(literals)

describe("the scanner for short texts", () => {
  test("finds the first literal, whatever its case where that does not matter", () => {
    expect(plain.find(Buffer.from("a PassWord and a TOKEN"), 0)).toBe(2)
    expect(plain.find(Buffer.from("a PassWord and a TOKEN"), 3)).toBe(17)
    expect(plain.find(Buffer.from("GHP_ Tok"), 0)).toBe(-1)
  })

  test("names the literals at a place, the longest first", () => {
    expect(plain.literalsAt(Buffer.from("xtokens"), 1)).toEqual([0, 1])
    expect(plain.literalsAt(Buffer.from("xtokens"), 0)).toEqual([])
  })

  test("sees where a literal may have begun at the end", () => {
    expect(plain.findOpen(Buffer.from("no secret here"), 0)).toBe(14)
    expect(plain.findOpen(Buffer.from("a passw"), 0)).toBe(2)
  })

  test("agrees with the scanner for long texts on every text", () => {
    const piece = fc.constantFrom(
      "tok",
      "TOKEN",
      "gh",
      "p_",
      ":/",
      "/",
      "pass",
      "word",
      " ",
      "é",
      "\u00ff",
      "x",
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), fc.nat(20), (pieces, from) => {
        const bytes = Buffer.from(pieces.join(""), "latin1")
        const at = plain.find(bytes, from)
        expect(at).toBe(tables.find(bytes, from))
        if (at >= 0) expect([...plain.literalsAt(bytes, at)]).toEqual([...tables.literalsAt(bytes, at)])
        expect(plain.findOpen(bytes, 0)).toBe(tables.findOpen(bytes, 0))
      }),
      { numRuns: 2000 },
    )
  })
})
