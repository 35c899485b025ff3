import { describe, expect, test } from "bun:test"
import { modelFailure, ReplyFault } from "../../../src/provider/reply-fault.ts"
import { errorText, jsonBody, wholeText } from "../../../src/provider/transport/body.ts"
import { type Answered, chunksOf, faultOf } from "./transport-kit.ts"

const answer = (chunks: AsyncIterable<Uint8Array>): Answered => ({
  kind: "answered",
  status: 200,
  header: () => null,
  chunks,
})

async function* breakingOff(kind: "unavailable" | "aborted", ...pieces: string[]) {
  yield* chunksOf(...pieces)
  throw new ReplyFault(modelFailure(kind, "it broke off"))
}

describe("a whole text", () => {
  test("is joined before it is decoded, without its byte order mark", async () => {
    const fox = Buffer.from("\ufeff🦊é")
    const bytes = Array.from(fox, (_, index) => fox.subarray(index, index + 1))
    expect(await wholeText(chunksOf(...bytes), 100)).toBe("🦊é")
    expect(await wholeText(chunksOf(), 0)).toBe("")
  })

  test("may be as long as is said and not a byte longer; the source is then stopped", async () => {
    let isReturned = false
    async function* endless() {
      try {
        for (;;) yield Buffer.from("0123456789")
      } finally {
        isReturned = true
      }
    }
    expect(await wholeText(chunksOf("01234", "56789"), 10)).toBe("0123456789")
    expect((await faultOf(wholeText(chunksOf("01234", "567890"), 10))).message).toContain(
      "longer than 10 bytes",
    )
    expect((await faultOf(wholeText(endless(), 1000))).kind).toBe("malformed")
    expect(isReturned).toBeTrue()
  })
})

describe("a JSON body", () => {
  test("is one value", async () => {
    expect(await jsonBody(answer(chunksOf('{"a":', "1}\n")))).toEqual({ a: 1 })
    expect((await faultOf(jsonBody(answer(chunksOf('{"a":'))))).kind).toBe("malformed")
  })

  test("that breaks off fails as that, not as something that is not JSON", async () => {
    expect((await faultOf(jsonBody(answer(breakingOff("unavailable", "{"))))).kind).toBe("unavailable")
  })
})

describe("the error text of a server", () => {
  test("is kept as far as it came", async () => {
    expect(await errorText(answer(chunksOf("over", "loaded")))).toBe("overloaded")
    expect(await errorText(answer(breakingOff("unavailable", "over", "lo")))).toBe("overlo")
  })

  test("is cut when it is long", async () => {
    const text = await errorText(answer(chunksOf("a".repeat(60_000), "b".repeat(60_000), "c")))
    expect(text).toBe("a".repeat(60_000) + "b".repeat(65_536 - 60_000))
  })

  test("does not hide that the caller gave up", async () => {
    expect((await faultOf(errorText(answer(breakingOff("aborted", "over"))))).kind).toBe("aborted")
  })
})
