import { describe, expect, test } from "bun:test"
import type { ModelMessage } from "../../src/provider/contract.ts"
import { templateMessages } from "../../src/provider/template-messages.ts"

const system: ModelMessage = { role: "system", text: "be brief" }
const asks: ModelMessage = { role: "user", text: "do it" }
/** An id that all templates take. */
const idOf = (letter: string) => letter.repeat(9)
const calls = (ids: readonly string[], text = ""): ModelMessage => ({
  role: "assistant",
  text,
  calls: ids.map(id => ({ id: idOf(id), tool: "read", arguments: {} })),
})
const result = (id: string, text = `result ${id}`): ModelMessage => ({
  role: "tool",
  callId: idOf(id),
  text,
})
const answers = (text: string): ModelMessage => ({ role: "assistant", text, calls: [] })

/** What the templates of Mistral's models ask of messages behind that of the system. */
function isTaken(messages: readonly ModelMessage[]): boolean {
  const turns = messages.filter(
    message => message.role === "user" || (message.role === "assistant" && message.calls.length === 0),
  )
  return turns.every(({ role, text }, index) => (role === "user") === (index % 2 === 0) && text !== "")
}

describe("messages for a template", () => {
  test("stay the same where every template takes them", () => {
    const messages = [
      ...[system, asks, calls(["a"]), result("a"), calls(["b"], "and"), result("b")],
      ...[answers("done"), asks],
    ]
    const taken = templateMessages(messages)
    expect(taken).toEqual(messages)
    for (const [index, message] of taken.entries()) expect(message).toBe(messages[index] as never)
  })

  test("what is said behind results stands at the end of the last of them", () => {
    const messages = [
      ...[system, asks, calls(["a"]), result("a"), { role: "user", text: "the call was wrong" } as const],
      ...[answers("I see"), asks],
    ]
    const taken = templateMessages(messages)
    expect(taken).toEqual([
      ...[system, asks, calls(["a"]), result("a", "result a\n\nthe call was wrong")],
      ...[answers("I see"), asks],
    ])
    expect([isTaken(messages.slice(1)), isTaken(taken.slice(1))]).toEqual([false, true])
  })

  test("calls of one answer have a message each, before their results", () => {
    const messages = [asks, calls(["a", "b", "c"], "at once"), result("a"), result("b"), result("c"), asks]
    const taken = templateMessages(messages)
    expect(taken).toEqual([
      ...[asks, calls(["a"], "at once"), result("a"), calls(["b"]), result("b")],
      ...[calls(["c"]), result("c", "result c\n\ndo it")],
    ])
    const again = templateMessages([...messages, answers("done")])
    for (const index of [1, 3, 5]) expect(again[index]).toBe(taken[index] as never)
  })

  test("calls without a result are reported nevertheless", () => {
    expect(templateMessages([asks, calls(["a", "b"]), result("a"), asks])).toEqual([
      ...[asks, calls(["a"]), result("a"), calls(["b"]), asks],
    ])
    expect(templateMessages([asks, calls(["a", "b"])])).toEqual([asks, calls(["a"]), calls(["b"])])
  })

  test("an answer of nothing has a word, so that users and assistants stay in turns", () => {
    const taken = templateMessages([asks, answers(" \n"), asks, answers(""), asks])
    expect(taken).toEqual([asks, answers("[no answer]"), asks, answers("[no answer]"), asks])
    expect(isTaken(taken)).toBe(true)
  })

  test("two messages of a user become one", () => {
    expect(templateMessages([system, asks, { role: "user", text: "now" }])).toEqual([
      system,
      { role: "user", text: "do it\n\nnow" },
    ])
  })
})
