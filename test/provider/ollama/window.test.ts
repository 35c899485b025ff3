import { describe, expect, test } from "bun:test"
import {
  cutByServer,
  estimatedTokens,
  overWindow,
  refusedAsTooLong,
} from "../../../src/provider/ollama/window.ts"
import { requestOf } from "../provider-kit.ts"

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

test("what the server says itself about the length is told with the advice", () => {
  const { kind, message } = refusedAsTooLong("the input length exceeds the context length", 4096)
  expect(kind).toBe("contextTooLong")
  expect(message).toMatch(/input length exceeds.*num_ctx is 4096.*--max-context-tokens/)
})
