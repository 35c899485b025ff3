import { describe, expect, test } from "bun:test"
import { hasThinkingEnd, withoutThinking } from "../../../src/domain/text/thinking.ts"

describe("what a model thinks aloud", () => {
  test("is taken out of what it says, with or without its beginning", () => {
    expect(withoutThinking("<think>a</think>b")).toBe("b")
    expect(withoutThinking("a</think>b</thinking>c")).toBe("c")
    expect(withoutThinking("b")).toBe("b")
  })

  test("is all there is when it does not end", () => {
    expect(withoutThinking("\n<thinking>a")).toBe("")
    expect(withoutThinking("b <think>a")).toBe("b <think>a")
  })

  test("has an end where it is marked", () => {
    expect(hasThinkingEnd("a</think>")).toBe(true)
    expect(hasThinkingEnd("<think>a")).toBe(false)
  })
})
