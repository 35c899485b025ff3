import { expect, test } from "bun:test"
import type { ModelMessage } from "../../src/provider/contract.ts"
import { withAcceptedIds } from "../../src/provider/template-messages.ts"

const calling = (...ids: readonly string[]): ModelMessage => ({
  role: "assistant",
  text: "",
  calls: ids.map(id => ({ id, tool: "read", arguments: {} })),
})
const result = (callId: string): ModelMessage => ({ role: "tool", callId, text: "done" })
const idsIn = (message: ModelMessage) =>
  message.role === "assistant"
    ? message.calls.map(({ id }) => id)
    : message.role === "tool"
      ? [message.callId]
      : []

test("ids that some template refuses become nine letters and digits, the same for a call and its result", () => {
  const given = ["call_1", "chatcmpl-tool-e63a076a83ed4f41843f711a2f1cc9aa", "LTpLzWyoV8gHnm6rBzDnA2", ""]
  const taken = idsIn(withAcceptedIds(calling(...given)))
  for (const id of taken) expect(id).toMatch(/^[a-z0-9]{9}$/)
  expect(new Set(taken).size).toBe(given.length)
  expect(given.flatMap(id => idsIn(withAcceptedIds(result(id))))).toEqual(taken)
})

test("ids that all take, and those that say something to their model, stay with the whole message", () => {
  for (const message of [
    calling("abcDEF123", "functions.read_file:0"),
    result("functions.read_file:0"),
    result("123456789"),
    { role: "user", text: "do it" } as const,
  ])
    expect(withAcceptedIds(message)).toBe(message)
})
