import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import type { Json } from "../../../src/base/canonical.ts"
import { jsonLineReader, lineReader } from "../../../src/provider/transport/lines.ts"
import { cutAt, faultOf, takenFrom } from "./transport-kit.ts"

const linesIn = (...pieces: (string | Uint8Array)[]) => takenFrom<string>(pieces, lineReader)

describe("lines", () => {
  test("end with LF, CR or CRLF, in any mix", async () => {
    expect(linesIn("a\nb\rc\r\nd\n\ne\r\rf\r\n\r\n")).toEqual(["a", "b", "c", "d", "", "e", "", "f", ""])
    expect(linesIn("\n\r")).toEqual(["", ""])
  })

  test("a CRLF that is cut in two is one end", async () => {
    expect(linesIn("a\r", "\nb")).toEqual(["a", "b"])
    expect(linesIn("a\r", "", "\n", "\nb")).toEqual(["a", "", "b"])
    expect(linesIn("a\r", "\r", "\n")).toEqual(["a", ""])
  })

  test("are reported as soon as they end, without waiting for the byte after a CR", () => {
    const taken: string[] = []
    lineReader({ take: line => void taken.push(line), end: () => undefined }).take(Buffer.from("a\r"))
    expect(taken).toEqual(["a"])
  })

  test("the last one needs no end, and an end adds none", async () => {
    expect(linesIn("a\nb")).toEqual(["a", "b"])
    expect(linesIn("a\n")).toEqual(["a"])
    expect(linesIn("")).toEqual([])
    expect(linesIn()).toEqual([])
  })

  test("a byte order mark is left out at the very beginning only", async () => {
    const mark = Buffer.from([0xef, 0xbb, 0xbf])
    expect(linesIn(mark.subarray(0, 1), mark.subarray(1), "a\n\ufeffb")).toEqual(["a", "\ufeffb"])
    expect(linesIn(mark, "\n", mark, "x")).toEqual(["", "\ufeffx"])
  })

  test("bytes that are not UTF-8 become replacement characters and cost nothing else", async () => {
    expect(linesIn(Buffer.from([0x61, 0xff, 0x62, 0x0a, 0xc3]), "\nc")).toEqual(["a\ufffdb", "\ufffd", "c"])
  })

  test("of more than 16 MB are refused, wherever they are cut", async () => {
    const mega = Buffer.alloc(1024 * 1024, 0x61)
    const most = Array.from({ length: 16 }, () => mega)
    expect(linesIn(...most, "\nb").map(line => line.length)).toEqual([mega.length * 16, 1])
    const failure = await faultOf(() => linesIn("ok\n", ...most, "a", "\n"))
    expect(failure).toMatchObject({ kind: "malformed", retryable: true })
    expect(failure.message).toContain("16777216 characters")
    expect((await faultOf(() => linesIn(Buffer.alloc(16 * mega.length + 1, 0x61)))).kind).toBe("malformed")
  })
})

describe("any way to cut a text into chunks gives the same lines", () => {
  const piece = fc.constantFrom("a", "é", "漢", "🦊", "\n", "\r", "\r\n", " ", ":", "\ufeff", "\u2028")
  const text = fc.array(piece, { maxLength: 40 }).map(pieces => pieces.join(""))

  test("as splitting the whole does", async () => {
    await fc.assert(
      fc.asyncProperty(text, fc.array(fc.nat(), { maxLength: 12 }), async (whole, places) => {
        const expected = whole.replace(/^\ufeff/, "").split(/\r\n|\r|\n/)
        // What is behind the last end is a line only when it holds a byte.
        if (expected.at(-1) === "") expected.pop()
        expect(linesIn(...cutAt(Buffer.from(whole), places))).toEqual(expected)
      }),
      { numRuns: 500 },
    )
  })

  test("also byte by byte", async () => {
    await fc.assert(
      fc.asyncProperty(text, async whole => {
        const bytes = Buffer.from(whole)
        const single = Array.from(bytes, (_, index) => bytes.subarray(index, index + 1))
        expect(linesIn(...single)).toEqual(linesIn(whole))
      }),
    )
  })
})

const valuesIn = (...pieces: (string | Uint8Array)[]) => takenFrom<Json>(pieces, jsonLineReader)

describe("JSON lines", () => {
  test("are one value each; blank ones are left out", async () => {
    expect(valuesIn('{"a":1}\n\n  \r\n[2]\r"x"\nnull')).toEqual([{ a: 1 }, [2], "x", null])
  })

  test("those before a line that is not JSON are still told", async () => {
    const taken: Json[] = []
    const reader = jsonLineReader({ take: value => void taken.push(value), end: () => undefined })
    const failure = await faultOf(() => reader.take(Buffer.from('{"a":1}\n{"b":\n')))
    expect(taken).toEqual([{ a: 1 }])
    expect(failure).toMatchObject({ kind: "malformed", retryable: true })
    expect(failure.message).toBe('the answer is not JSON: {"b":')
  })

  test.each(["}{", "{'a':1}", "undefined", "NaN", "data: {}", "<html>", '{"a":1} {"b":2}'])(
    "%s is none",
    async text => {
      expect((await faultOf(() => valuesIn(text))).kind).toBe("malformed")
    },
  )

  test("any way to cut them gives the same values", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.json(), { maxLength: 6 }),
        fc.array(fc.nat(), { maxLength: 12 }),
        async (texts, places) => {
          fc.pre(texts.every(text => !text.includes("__proto__")))
          const expected = texts.map(text => JSON.parse(text))
          expect(valuesIn(...cutAt(Buffer.from(texts.join("\n")), places))).toEqual(expected)
        },
      ),
      { numRuns: 200 },
    )
  })
})
