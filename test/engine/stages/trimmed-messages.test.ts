import { describe, expect, test } from "bun:test"
import { estimateTokens, trimMessages } from "../../../src/engine/stages/trimmed-messages.ts"
import type { ModelMessage } from "../../../src/provider/contract.ts"

const call = (id: string) => ({ id, tool: "read_file", arguments: { path: id } })
const messages: readonly ModelMessage[] = [
  { role: "system", text: "s".repeat(400) },
  { role: "user", text: "u".repeat(400) },
  { role: "assistant", text: "a".repeat(400), calls: [call("1")] },
  { role: "tool", callId: "1", text: "x".repeat(4_000) },
  { role: "assistant", text: "", calls: [call("2")] },
  { role: "tool", callId: "2", text: "y".repeat(4_000) },
]
const textAt = (index: number, tokensMax: number) =>
  trimMessages(messages, tokensMax).messages[index]?.text ?? ""

describe("a transcript that is too long", () => {
  test("is left alone when it fits", () => {
    const tokens = estimateTokens(messages)
    expect(trimMessages(messages, tokens)).toEqual({
      messages,
      tokensBefore: tokens,
      tokensAfter: tokens,
      shortenedCount: 0,
    })
  })

  test("loses the oldest result first, and says how much it was", () => {
    expect(textAt(3, 1_800)).toContain("left out to fit the context: 4000 characters")
    expect(textAt(5, 1_800)).toBe("y".repeat(4_000))
    expect(trimMessages(messages, 1_800)).toMatchObject({ shortenedCount: 1 })
  })

  test("then what the model said, then the newest result, and never what a person or acode said", () => {
    expect([textAt(2, 1_250), textAt(5, 1_250)]).toEqual(["", "y".repeat(4_000)])
    expect(textAt(5, 300)).toContain("left out")
    expect([textAt(0, 1), textAt(1, 1)]).toEqual(["s".repeat(400), "u".repeat(400)])
  })

  test("stays a valid one: every call keeps its result, in its place", () => {
    const { messages: kept } = trimMessages(messages, 1)
    expect(kept.map(({ role }) => role)).toEqual(messages.map(({ role }) => role))
    expect(kept.flatMap(message => (message.role === "tool" ? [message.callId] : []))).toEqual(["1", "2"])
    expect(kept.flatMap(message => (message.role === "assistant" ? message.calls : []))).toEqual([
      call("1"),
      call("2"),
    ])
  })

  test("tells by its size that it does not fit even so", () => {
    const { tokensAfter, tokensBefore } = trimMessages(messages, 1)
    expect(tokensAfter).toBeGreaterThan(1)
    expect(tokensAfter).toBeLessThan(tokensBefore)
  })
})
