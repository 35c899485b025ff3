import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import type { Json } from "../../../src/base/canonical.ts"
import { jsonLineReader } from "../../../src/provider/transport/json-lines.ts"
import { cutAt, faultOf, takenFrom } from "./transport-kit.ts"

const valuesIn = (...pieces: (string | Uint8Array)[]) => takenFrom<Json>(pieces, jsonLineReader)

describe("JSON lines", () => {
  test("are one value each; blank ones are left out", async () => {
    expect(valuesIn('{"a":1}\n\n  \r\n[2]\r"x"\nnull')).toEqual([{ a: 1 }, [2], "x", null])
  })

  test("those before a line that is no JSON are still told", async () => {
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
