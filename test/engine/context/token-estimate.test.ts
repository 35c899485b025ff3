import { describe, expect, test } from "bun:test"
import {
  charactersIn,
  estimateTokens,
  messageTokens,
  offerTokens,
  textTokens,
} from "../../../src/engine/context/token-estimate.ts"

describe("how long a text is", () => {
  test("is about four letters of English or code a token", () => {
    expect(textTokens("const answer = 42\n".repeat(100))).toBe(450)
    expect(textTokens("")).toBe(0)
  })

  test.each([
    ["Chinese", "请为电子邮件地址添加验证器"],
    ["Japanese", "メールアドレスを検証する"],
    ["Korean", "이메일주소를검증합니다"],
  ])("is one to two signs of %s a token", (_, text) => {
    const signs = text.length / textTokens(text)
    expect(signs).toBeGreaterThanOrEqual(1)
    expect(signs).toBeLessThanOrEqual(2)
  })

  test("is about two letters of Cyrillic or Greek a token", () => {
    expect(textTokens("проверка адреса".repeat(10))).toBeGreaterThan(60)
  })

  test("can be turned round", () => {
    for (const text of ["a".repeat(4_000), "验".repeat(4_000)]) {
      const part = text.slice(0, charactersIn(text, 100))
      expect(textTokens(part)).toBe(100)
    }
    expect([charactersIn("", 10), charactersIn("abc", -1)]).toEqual([0, 0])
  })
})

describe("how long a request is", () => {
  const call = { id: "1", tool: "write_file", arguments: { path: "a.ts", content: "x".repeat(400) } }

  test("counts the arguments of calls, and something for every message", () => {
    const plain = { role: "assistant" as const, text: "ok", calls: [] }
    expect(messageTokens({ ...plain, calls: [call] }) - messageTokens(plain)).toBeGreaterThan(100)
    expect(messageTokens({ role: "user", text: "" })).toBeGreaterThan(0)
    expect(estimateTokens([plain, plain])).toBe(2 * messageTokens(plain))
  })

  test("counts tools and the format of the answer", () => {
    const schema = { type: "object", description: "d".repeat(400) }
    const tool = { name: "t", description: "d".repeat(400), parameters: schema }
    expect(offerTokens({ tools: [], format: null })).toBe(0)
    expect(offerTokens({ tools: [tool, tool], format: null })).toBeGreaterThan(400)
    expect(offerTokens({ tools: [], format: { name: "f", schema } })).toBeGreaterThan(100)
  })

  test("measures a schema once", () => {
    let looks = 0
    const schema = {
      toJSON: () => {
        looks += 1
        return {}
      },
    }
    // as: a value that notices being written down, which no schema does.
    const offer = { tools: [], format: { name: "f", schema: schema as never } }
    expect(offerTokens(offer)).toBe(offerTokens(offer))
    expect(looks).toBe(1)
  })
})
