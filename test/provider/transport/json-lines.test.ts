import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { jsonLines } from "../../../src/provider/transport/json-lines.ts"
import { apart, chunksOf, cutAt, faultOf, listOf } from "./transport-kit.ts"

const valuesIn = (...pieces: (string | Uint8Array)[]) => listOf(apart(jsonLines(chunksOf(...pieces))))

describe("JSON lines", () => {
  test("are one value each; blank ones are left out", async () => {
    expect(await valuesIn('{"a":1}\n\n  \r\n[2]\r"x"\nnull')).toEqual([{ a: 1 }, [2], "x", null])
  })

  test("those before a line that is no JSON are still told", async () => {
    const values = apart(jsonLines(chunksOf('{"a":1}\n{"b":')))
    expect((await values.next()).value).toEqual({ a: 1 })
    const failure = await faultOf(values.next())
    expect(failure).toMatchObject({ kind: "malformed", retryable: true })
    expect(failure.message).toBe('the answer is not JSON: {"b":')
  })

  test.each(["}{", "{'a':1}", "undefined", "NaN", "data: {}", "<html>", '{"a":1} {"b":2}'])(
    "%s is none",
    async text => {
      expect((await faultOf(valuesIn(text))).kind).toBe("malformed")
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
          expect(await valuesIn(...cutAt(Buffer.from(texts.join("\n")), places))).toEqual(expected)
        },
      ),
      { numRuns: 200 },
    )
  })
})
