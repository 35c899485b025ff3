import { describe, expect, test } from "bun:test"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import {
  cutByServer,
  estimatedTokens,
  leastTokens,
  overWindow,
  refusedAsTooLong,
} from "../../../../src/provider/protocols/ollama/window.ts"
import { repositoryRoot } from "../../../support/acode.ts"
import { requestOf } from "../../provider-kit.ts"

const file = (path: string) => readFileSync(join(repositoryRoot, path), "utf8")

const samples = {
  prose: file("ARCHITECTURE.md"),
  code: file("src/provider/protocols/ollama/server.ts"),
  JSON: JSON.stringify(JSON.parse(file("package.json")), null, 2),
  "deeply nested JSON": JSON.stringify(JSON.parse(file("src/engine/stages/model-schemas.json")), null, 8),
  German: "Die Aufrufe einer abgebrochenen Antwort werden nie ausgeführt, und jeder Fehler wird gemeldet. ",
  Cyrillic: "Вызовы прерванного ответа никогда не выполняются, а каждая ошибка сообщается целиком. ",
  Chinese: "被中断的回复中的调用永远不会被执行，并且每个错误都会被完整地报告。",
}

/**
 * No tokenizer that is in use counts fewer: each takes words, numbers and runs of signs apart as this does, and none
 * has a token of more than a dozen bytes for most words.
 */
function fewestTokens(text: string): number {
  const parts =
    text.match(/[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+/gu) ?? []
  return parts.reduce(
    (sum, part) => sum + (/\p{L}/u.test(part) ? Math.ceil(Buffer.byteLength(part) / 12) : 1),
    0,
  )
}

describe("the estimate of a request", () => {
  test("is a quarter of its characters, with the calls and the tools", () => {
    const plain = requestOf({ messages: [{ role: "user", text: "x".repeat(400) }] })
    expect(estimatedTokens(plain)).toBe(100)
    const calls = [{ id: "1", tool: "run", arguments: { command: "y".repeat(100) } }]
    const withCalls = requestOf({ messages: [{ role: "assistant", text: "x".repeat(400), calls }] })
    expect(estimatedTokens(withCalls)).toBe(Math.ceil((400 + JSON.stringify(calls).length) / 4))
    const tools = [{ name: "run", description: "z".repeat(200), parameters: {} }]
    expect(estimatedTokens({ ...plain, tools })).toBe(Math.ceil((400 + JSON.stringify(tools).length) / 4))
  })

  test("does not count the schema of the answer", () => {
    const format = { name: "plan", schema: { description: "x".repeat(1000) } }
    expect(estimatedTokens(requestOf({ format }))).toBe(estimatedTokens(requestOf()))
  })
})

describe("what a server has to read in any case", () => {
  const words = (count: number) => "some words ".repeat(count)

  test("is the text, without the tools and the schema", () => {
    const tools = [{ name: "run", description: words(100), parameters: {} }]
    const format = { name: "plan", schema: { description: words(100) } }
    const messages = [{ role: "user", text: words(40) }] as const
    expect(leastTokens(requestOf({ messages, tools, format }))).toBe(110)
  })

  test("is the shorter one of the words and the calls of an answer, for a template may leave out either", () => {
    const calls = [{ id: "1", tool: "write_file", arguments: { content: words(40) } }]
    const called = Math.ceil(JSON.stringify(calls).length / 4)
    const answer = (text: string) => requestOf({ messages: [{ role: "assistant", text, calls }] })
    expect(leastTokens(answer(""))).toBe(called)
    expect(leastTokens(answer("I write"))).toBe(2)
    expect(leastTokens(answer(words(400)))).toBe(called)
  })

  test("is little where one character fills a line", () => {
    const lines = `${"=".repeat(400)}\n${" ".repeat(400)}x\n`
    expect(leastTokens(requestOf({ messages: [{ role: "tool", callId: "1", text: lines }] }))).toBe(3)
  })
})

describe("a request that is not sent", () => {
  test("is one that cannot fit however well its text suits the tokenizer", () => {
    expect(overWindow(20_000, 8192)).toMatchObject({ kind: "contextTooLong", retryable: false })
    expect(overWindow(20_000, 8192)?.message).toMatch(/20000 tokens.*num_ctx is 8192.*--max-context-tokens/)
  })

  test("is never one that may fit, nor one to a window that is not known", () => {
    expect(overWindow(8000, 8192)).toBeNull()
    expect(overWindow(11_000, 8192)).toBeNull()
    expect(overWindow(1_000_000, null)).toBeNull()
  })
})

describe("a request that the server cut", () => {
  const window = 8192

  test.each([
    ["to the whole window", 9000, 8192],
    ["to the window less one", 9000, 8191],
    ["to half of it, as servers with llama-server do", 9000, 4098],
    ["to its last message", 9000, 120],
    ["although our estimate was just below the window", 7000, 4098],
  ])("is found out: %s", (_how, estimated, counted) => {
    const failure = cutByServer(estimated, counted, window)
    expect(failure).toMatchObject({ kind: "contextTooLong", retryable: false })
    expect(failure?.message).toContain(String(counted))
    expect(failure?.message).toContain("num_ctx is 8192")
    expect(failure?.message).toContain("--max-context-tokens")
  })

  test("is found out also when the window is smaller than the one asked for, or not known", () => {
    expect(cutByServer(30_000, 4096, 131_072)).toMatchObject({ kind: "contextTooLong" })
    expect(cutByServer(30_000, 2050, null)?.message).toContain("num_ctx is the server's own")
  })

  test.each([
    ["to a third, in the middle of the window", 12_000, 4090, 16_384],
    ["to a third, far below the window", 6000, 2040, 16_384],
    ["to a half, where nobody knows the window", 4100, 2050, null],
  ])("is found out wherever the window is: %s", (_how, estimated, counted, windowTokens) => {
    expect(cutByServer(estimated, counted, windowTokens)).toMatchObject({ kind: "contextTooLong" })
  })

  test("is not suspected where only what a template may leave out is missing", () => {
    expect(cutByServer(6000, 2040, 16_384, 2500)).toBeNull()
    expect(cutByServer(6000, 1300, 16_384, 2500)).toMatchObject({ kind: "contextTooLong" })
    expect(cutByServer(6000, 500, 16_384, 2000)).toBeNull()
  })

  test.each(Object.entries(samples))("is not suspected in %s, as tokenizers count it", (_what, sample) => {
    const text = sample.repeat(Math.ceil(40_000 / sample.length))
    const messages = [{ role: "user", text }] as const
    const request = requestOf({ messages })
    expect(leastTokens(request)).toBeGreaterThan(2048)
    expect(cutByServer(estimatedTokens(request), fewestTokens(text), null, leastTokens(request))).toBeNull()
  })

  test.each([
    ["a short request that the server counts as shorter", 400, 90],
    ["a request far from the window", 2000, 1100],
    ["one of prose, which makes fewer tokens than the estimate", 7000, 5000],
    ["one of code, which makes more", 5000, 7500],
    ["one whose count is missing, because it was in the cache", 7000, null],
    ["one whose count is nothing", 7000, 0],
  ])("is not suspected in %s", (_what, estimated, counted) => {
    expect(cutByServer(estimated, counted, window)).toBeNull()
  })

  test("is not judged by a near miss when the window is not known", () => {
    expect(cutByServer(7000, 4098, null)).toBeNull()
  })
})

test("what the server says itself about the length is reported with the advice", () => {
  const { kind, message } = refusedAsTooLong("the input length exceeds the context length", 4096)
  expect(kind).toBe("contextTooLong")
  expect(message).toMatch(/input length exceeds.*num_ctx is 4096.*--max-context-tokens/)
})
