import { describe, expect, test } from "bun:test"
import { ReplyFault } from "../../../src/provider/reply-fault.ts"
import { foreignJson } from "../../../src/provider/transport/foreign-json.ts"

const messageFor = (text: string) => {
  try {
    foreignJson(text)
  } catch (error) {
    if (error instanceof ReplyFault) return `${error.failure.kind}: ${error.failure.message}`
    throw error
  }
  return null
}

describe("JSON of a server", () => {
  test("is read as it is", () => {
    expect(foreignJson('{"a":[1,"x",null,true],"a":2}')).toEqual({ a: 2 })
    expect(foreignJson(" 1 ")).toBe(1)
  })

  test("is reported by its beginning when it is none, on one line that can be printed", () => {
    expect(messageFor("<h1>\n\u001b[31m502</h1>")).toBe(
      "malformed: the answer is not JSON: <h1> ⏎ \\x1b[31m502</h1>",
    )
    expect(messageFor("x".repeat(5000))?.length).toBeLessThan(200)
    expect(messageFor("")).toBe("malformed: the answer is not JSON: ")
  })

  test("is refused when a reader would overflow on it, however deep", () => {
    expect(messageFor("[".repeat(256) + "]".repeat(256))).toBeNull()
    expect(messageFor("[".repeat(257) + "]".repeat(257))).toContain("nested more than 256 levels")
    expect(messageFor("[".repeat(500_000))).toStartWith("malformed: ")
    expect(messageFor("[".repeat(500_000) + "]".repeat(500_000))).toStartWith("malformed: ")
  })

  test("is refused when a name in it would change what an object is", () => {
    expect(messageFor('{"a":{"__proto__":{"x":1}}}')).toContain("is not a usable name")
  })
})
