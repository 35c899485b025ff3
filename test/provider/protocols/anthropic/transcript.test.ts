import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import type { ModelCall, ModelMessage } from "../../../../src/provider/contract.ts"
import { sentToolName, transcriptOf } from "../../../../src/provider/protocols/anthropic/transcript.ts"

const user = (text: string): ModelMessage => ({ role: "user", text })
const system = (text: string): ModelMessage => ({ role: "system", text })
const result = (callId: string, text: string): ModelMessage => ({ role: "tool", callId, text })
const assistant = (text: string, ...calls: readonly ModelCall[]): ModelMessage => ({
  role: "assistant",
  text,
  calls,
})
const callOf = (id: string, tool = "t"): ModelCall => ({ id, tool, arguments: { n: 1 } })
const said = (text: string) => ({ type: "text", text })

describe("a transcript", () => {
  test("has the system's texts apart, wherever they stood", () => {
    const { system: text, messages } = transcriptOf([system("a"), user("x"), system(" "), system("b")])
    expect(text).toBe("a\n\nb")
    expect(messages).toEqual([{ role: "user", content: [said("x")] }])
  })

  test("has calls as blocks after the text, and their results in one message in their order", () => {
    const { messages } = transcriptOf([
      user("go"),
      assistant("I look", callOf("c1"), callOf("c2", "u")),
      result("c1", "one"),
      result("c2", "two"),
      user("and now?"),
    ])
    expect(messages).toEqual([
      { role: "user", content: [said("go")] },
      {
        role: "assistant",
        content: [
          said("I look"),
          { type: "tool_use", id: "c1", name: "t", input: { n: 1 } },
          { type: "tool_use", id: "c2", name: "u", input: { n: 1 } },
        ],
      },
      {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: "c1", content: "one" },
          { type: "tool_result", tool_use_id: "c2", content: "two" },
          said("and now?"),
        ],
      },
    ])
  })

  test("puts messages of the same side together", () => {
    const { messages } = transcriptOf([user("a"), user("b"), assistant("c"), assistant("d"), user("e")])
    expect(messages.map(({ role, content }) => [role, content.length])).toEqual([
      ["user", 2],
      ["assistant", 2],
      ["user", 1],
    ])
  })

  test("leaves out texts that are empty or blank", () => {
    const { messages } = transcriptOf([
      user("a"),
      assistant(" \n"),
      user(""),
      assistant("", callOf("c")),
      result("c", ""),
    ])
    expect(messages.map(({ content }) => content)).toEqual([
      [said("a")],
      [{ type: "tool_use", id: "c", name: "t", input: { n: 1 } }],
      [{ type: "tool_result", tool_use_id: "c" }],
    ])
  })

  test("begins and ends with a user, whatever it is made of", () => {
    const filler = { role: "user", content: [said("Continue.")] }
    expect(transcriptOf([]).messages).toMatchObject([filler])
    expect(transcriptOf([assistant("x")]).messages).toMatchObject([filler, { role: "assistant" }, filler])
  })

  test("gives each call an id of its own that the server takes", () => {
    const odd = "functions.read:0"
    const turn = [assistant("", callOf(odd), callOf("c")), result(odd, "1"), result("c", "2")]
    const { messages } = transcriptOf([user("x"), ...turn, ...turn])
    const ids = messages.flatMap(({ content }) =>
      content.flatMap(({ id }) => (typeof id === "string" ? [id] : [])),
    )
    const answered = messages.flatMap(({ content }) => content.flatMap(block => block["tool_use_id"] ?? []))
    expect(new Set(ids).size).toBe(4)
    expect(ids.every(id => /^[a-zA-Z0-9_-]+$/.test(id))).toBe(true)
    expect(answered).toEqual(ids)
    expect(ids[3]).toBe("c_2")
  })

  test("gives a tool only an object, and a name that the server takes", () => {
    const call: ModelCall = { id: "c", tool: "read file!", arguments: ["a"] }
    const { messages } = transcriptOf([user("x"), assistant("", call), result("c", "no such tool")])
    expect(messages[1]?.content).toEqual([
      { type: "tool_use", id: "c", name: "read_file_", input: { arguments: ["a"] } },
    ])
    expect(sentToolName("")).toBe("unnamed")
    expect(sentToolName("x".repeat(200))).toHaveLength(64)
  })

  test("takes turns and has no blank text, for every valid list of messages", () => {
    const turn = fc.oneof(
      fc.string().map(text => [user(text)]),
      fc.string().map(text => [system(text)]),
      fc.tuple(fc.string(), fc.array(fc.string(), { maxLength: 3 })).map(([text, names]) => {
        const ids = [...new Set(names)]
        return [assistant(text, ...ids.map(id => callOf(id, id))), ...ids.map(id => result(id, text))]
      }),
    )
    fc.assert(
      fc.property(fc.array(turn, { maxLength: 8 }), turns => {
        const { messages } = transcriptOf(turns.flat())
        expect(messages[0]?.role).toBe("user")
        expect(messages.at(-1)?.role).toBe("user")
        for (const [index, { role, content }] of messages.entries()) {
          expect(role).toBe(index % 2 === 0 ? "user" : "assistant")
          expect(content.length).toBeGreaterThan(0)
          for (const { text } of content) expect(typeof text === "string" && text.trim() === "").toBe(false)
          const called = content.flatMap(({ id }) => id ?? [])
          const answered = messages[index + 1]?.content.flatMap(block => block["tool_use_id"] ?? []) ?? []
          expect(answered).toEqual(role === "assistant" ? called : answered)
        }
      }),
      { numRuns: 200 },
    )
  })
})
