import { describe, expect, test } from "bun:test"
import type { ModelMessage, ModelRequest } from "../../../src/provider/contract.ts"
import { mapTexts, requestPrint } from "../../../src/provider/script/recording-file.ts"
import { requestOf } from "../provider-kit.ts"

const messages: ModelMessage[] = [
  { role: "system", text: "you plan" },
  { role: "user", text: "do it" },
  { role: "assistant", text: "", calls: [{ id: "c1", tool: "read_file", arguments: { path: "a", n: 1 } }] },
  { role: "tool", callId: "c1", text: "content" },
]
const request = requestOf({ messages, tools: [{ name: "read_file", description: "", parameters: {} }] })

function digestOf(changed: ModelRequest): string {
  return requestPrint(changed, text => text).digest
}

function withMessage(index: number, message: ModelMessage): ModelRequest {
  return { ...request, messages: messages.with(index, message) }
}

describe("the digest of a request", () => {
  test("is the same for the same request", () => {
    expect(digestOf(structuredClone(request))).toBe(digestOf(request))
    expect(digestOf(request)).toMatch(/^sha256:[0-9a-f]{64}$/)
  })

  test("does not depend on ids of calls, the order of properties, the model or how tools are described", () => {
    const call = { id: "other", tool: "read_file", arguments: { n: 1, path: "a" } }
    const same = [
      withMessage(2, { role: "assistant", text: "", calls: [call] }),
      withMessage(3, { role: "tool", callId: "other", text: "content" }),
      { ...request, model: "large", replyIndex: 9 },
      { ...request, tools: [{ name: "read_file", description: "reads", parameters: { type: "object" } }] },
    ]
    for (const changed of same) expect(digestOf(changed)).toBe(digestOf(request))
  })

  test("depends on everything else", () => {
    const call = { id: "c1", tool: "read_file", arguments: { path: "b", n: 1 } }
    const others = [
      { ...request, stage: "executor" as const },
      { ...request, tools: [] },
      { ...request, messages: messages.slice(0, 3) },
      { ...request, messages: messages.toReversed() },
      withMessage(0, { role: "user", text: "you plan" }),
      withMessage(2, { role: "assistant", text: "", calls: [call] }),
      withMessage(2, { role: "assistant", text: "x", calls: [{ ...call, arguments: { path: "a", n: 1 } }] }),
      withMessage(3, { role: "tool", callId: "c1", text: "other content" }),
    ]
    const digests = [request, ...others].map(digestOf)
    expect(new Set(digests).size).toBe(others.length + 1)
  })

  test("is of what is left of the texts, also of those in arguments", () => {
    const hidden = (text: string) => text.replaceAll(/[ab]/g, "?")
    const call = { id: "c1", tool: "read_file", arguments: { path: "b", n: 1 } }
    const other = withMessage(2, { role: "assistant", text: "", calls: [call] })
    expect(requestPrint(other, hidden)).toEqual(requestPrint(request, hidden))
  })
})

test("every text in a value can be changed, and nothing else is", () => {
  const value = { a: ["x", 1, null, { x: "x" }], b: true }
  expect(mapTexts(value, text => text.toUpperCase())).toEqual({ a: ["X", 1, null, { x: "X" }], b: true })
})
