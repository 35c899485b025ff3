import { describe, expect, test } from "bun:test"
import { roomOf } from "../../../src/engine/context/cut-steps.ts"
import { estimateTokens } from "../../../src/engine/context/token-estimate.ts"
import { trimMessages as trimTranscripts } from "../../../src/engine/context/trimmed-messages.ts"
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
const line = (length: number) => `[${length} characters are not shown any more]`

/** Results that are longer than a line are told in one once they are old; none of them is so by now. */
const tellings = (of: readonly ModelMessage[]) => ({
  someOld: of,
  allNew: of,
  allOld: of.map(message =>
    message.role === "tool" && message.text.length > 200
      ? { ...message, text: line(message.text.length) }
      : message,
  ),
})

const trimMessages = (of: readonly ModelMessage[], tokensMax: number, newestTokensMin: number | null) =>
  trimTranscripts(tellings(of), roomOf(tokensMax, tokensMax), newestTokensMin)

const textAt = (index: number, tokensMax: number, newestTokensMin: number | null = 0) =>
  trimMessages(messages, tokensMax, newestTokensMin).messages[index]?.text ?? ""

describe("a transcript that is too long", () => {
  test("is left alone when it fits", () => {
    const tokens = estimateTokens(messages)
    expect(trimMessages(messages, tokens, 0)).toEqual({ messages, tokens, shortened: [] })
  })

  test("loses the oldest result first, which is told as an old one", () => {
    expect(textAt(3, 1_800)).toBe(line(4_000))
    expect(textAt(5, 1_800)).toBe("y".repeat(4_000))
    expect(trimMessages(messages, 1_800, 0).shortened).toEqual(["results"])
  })

  test("then what the model said, then the newest result, and never what a person or acode said", () => {
    expect([textAt(2, 1_300), textAt(5, 1_300)]).toEqual(["", "y".repeat(4_000)])
    expect(textAt(5, 300)).toContain("left out")
    expect([textAt(0, 1), textAt(1, 1)]).toEqual(["s".repeat(400), "u".repeat(400)])
    expect(trimMessages(messages, 300, 0).shortened).toEqual(["results", "replies", "newestResult"])
  })

  test("keeps the newest result, or the beginning of it, as long as it is told to", () => {
    expect(textAt(5, 1, null)).toBe("y".repeat(4_000))
    expect(textAt(5, 1, 500)).toMatch(/^y{1880}\n\[2120 more characters are left out/)
    expect(textAt(5, 900, 100).length).toBeGreaterThan(textAt(5, 500, 100).length)
  })

  test("keeps what a result says in a line, such as why a call failed", () => {
    const failed = "modify_file: the search text is not in the file (ACODE-FS-011)"
    const short = messages.with(3, { role: "tool", callId: "1", text: failed })
    expect(trimMessages(short, 1, 0).messages[3]?.text).toBe(failed)
  })

  test("loses the long texts in older calls, of which the files have what became, and in the newest last", () => {
    const write = (id: string) => ({
      id,
      tool: "write_file",
      arguments: { path: "a.ts", content: "c".repeat(4_000), more: [1, null, "d".repeat(900)] },
    })
    const writes: readonly ModelMessage[] = ["1", "2"].flatMap(id => [
      { role: "assistant" as const, text: "", calls: [write(id)] },
      { role: "tool" as const, callId: id, text: "written" },
    ])
    const older = trimMessages(writes, 1_600, 0)
    expect(older.shortened).toEqual(["arguments"])
    expect(older.messages[0]).toMatchObject({
      calls: [
        {
          arguments: {
            path: "a.ts",
            content: `${"c".repeat(100)}[… 3900 characters left out here]`,
            more: [1, null, `${"d".repeat(100)}[… 800 characters left out here]`],
          },
        },
      ],
    })
    expect(older.messages[2]).toEqual(writes[2] as ModelMessage)
    expect(trimMessages(writes, 1, null).messages[2]).toEqual(writes[2] as ModelMessage)
    expect(JSON.stringify(trimMessages(writes, 1, 0).messages[2])).toContain("left out here")
  })

  test("has no reply without a word and without a call", () => {
    const tries: readonly ModelMessage[] = [{ role: "assistant", text: "p".repeat(900), calls: [] }]
    expect(trimMessages(tries, 1, null).messages[0]?.text).toBe("[left out to fit the context]")
  })

  test("stays a valid one: every call keeps its result, in its place", () => {
    const { messages: kept } = trimMessages(messages, 1, 0)
    expect(kept.map(({ role }) => role)).toEqual(messages.map(({ role }) => role))
    expect(kept.flatMap(message => (message.role === "tool" ? [message.callId] : []))).toEqual(["1", "2"])
    expect(kept.flatMap(message => (message.role === "assistant" ? message.calls : []))).toEqual([
      call("1"),
      call("2"),
    ])
  })

  test("tells by its size that it does not fit even so", () => {
    const trimmed = trimMessages(messages, 1, 0)
    expect(trimmed.tokens).toBe(estimateTokens(trimmed.messages))
    expect(trimmed.tokens).toBeGreaterThan(1)
    expect(trimmed.tokens).toBeLessThan(estimateTokens(messages))
  })

  describe("of many results", () => {
    const results = (count: number): readonly ModelMessage[] =>
      Array.from({ length: count }, (_, at): readonly ModelMessage[] => [
        { role: "assistant", text: "", calls: [call(`${at}`)] },
        { role: "tool", callId: `${at}`, text: "x".repeat(1_600) },
      ]).flat()
    const tokensMax = 6_000
    const room = roomOf(tokensMax, tokensMax)
    const cutOf = (trimmed: readonly ModelMessage[]) =>
      trimmed.filter(({ text }) => text === line(1_600)).length

    test("loses several at a time, so that it begins alike for some turns, and never more than a step", () => {
      const counts = Array.from({ length: 30 }, (_, more) => {
        const { messages: kept, tokens } = trimMessages(results(10 + more), tokensMax, null)
        expect(tokens).toBeLessThanOrEqual(tokensMax)
        if (cutOf(kept) > 0) expect(tokens).toBeGreaterThan(tokensMax / 2)
        return cutOf(kept)
      })
      expect([...new Set(counts)]).toEqual([0, 4, 8, 12, 15, 19, 23, 27])
      expect(counts.toSorted((a, b) => a - b)).toEqual(counts)
    })

    test("loses the same ones whether some of them are old by now or not", () => {
      const all = tellings(results(20))
      const fresh = trimTranscripts(all, room, null)
      const someOld = all.allNew.map((message, at) => (at < 10 ? (all.allOld[at] ?? message) : message))
      const aged = trimTranscripts({ ...all, someOld }, room, null)
      expect(aged.messages).toEqual(fresh.messages)
      expect([fresh.shortened.length, aged.shortened.length]).toEqual([8, 3])
    })

    test("loses only what is old where that makes it fit", () => {
      const all = tellings(results(20))
      const someOld = all.allNew.map((message, at) => (at < 30 ? (all.allOld[at] ?? message) : message))
      expect(trimTranscripts({ ...all, someOld }, room, null)).toMatchObject({
        messages: someOld,
        shortened: [],
      })
    })
  })
})
