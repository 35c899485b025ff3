import { describe, expect, test } from "bun:test"
import {
  AnthropicClaudeClient,
  type ClaudeRequest,
  cancellableSleep,
  DEFAULT_MODEL_MAP,
  ExecutionError,
  type ExecutionErrorCode,
  MockClaudeClient,
  type ModelRequest,
  type Provider,
  providerClient,
} from "../../src/library.ts"
import type { FakeReply, Fault } from "../support/model-server/contract.ts"
import { refusal } from "../support/model-server/refusals.ts"
import { says } from "../support/model-server/replies.ts"
import { startModelServer } from "../support/model-server/server.ts"
import { testWhere } from "../support/requirement.ts"
import { closedPort } from "./closed-port.ts"

const request = (changes: Partial<ClaudeRequest> = {}): ClaudeRequest => ({
  systemPrompt: "You write.",
  userMessage: "Write.",
  model: "claude-fake",
  maxTokens: 100,
  ...changes,
})

const errorOf = async (work: Promise<unknown>): Promise<ExecutionError> => {
  const thrown = await work.then(
    () => null,
    (error: unknown) => error,
  )
  if (thrown instanceof ExecutionError) return thrown
  throw new Error(`not an ExecutionError: ${thrown}`)
}

const abortedSignal = () => AbortSignal.abort()

describe("DET-05: the client for tests", () => {
  test("answers what it was told to", async () => {
    const reply = { content: "x", inputTokens: 1, outputTokens: 2, stopReason: "end_turn" as const }
    expect(await new MockClaudeClient(() => reply).complete(request())).toEqual(reply)
  })

  test("keeps the requests", async () => {
    const client = new MockClaudeClient()
    await client.complete(request({ userMessage: "one" }))
    expect(client.calls).toEqual([request({ userMessage: "one" })])
  })

  test("answers something where nobody told it what", async () => {
    expect(await new MockClaudeClient().complete(request())).toEqual({
      content: "Mock output for task",
      inputTokens: 100,
      outputTokens: 200,
      stopReason: "end_turn",
    })
  })

  test("answers by the request where it was given a generator", async () => {
    const client = new MockClaudeClient(({ userMessage }) => ({
      content: userMessage.toUpperCase(),
      inputTokens: 1,
      outputTokens: 1,
      stopReason: "end_turn",
    }))
    expect((await client.complete(request({ userMessage: "abc" }))).content).toBe("ABC")
  })

  test("fails once after setError, as often as it was told to, or not at all after clearError", async () => {
    const client = new MockClaudeClient()
    const error = new ExecutionError("slow down", "API_RATE_LIMITED", "")
    client.setError(error)
    expect(await errorOf(client.complete(request()))).toBe(error)
    await client.complete(request())
    client.setError(error, 2)
    for (let times = 0; times < 2; times++) expect(await errorOf(client.complete(request()))).toBe(error)
    await client.complete(request())
    client.setError(error)
    client.clearError()
    await client.complete(request())
    expect(client.calls).toHaveLength(6)
  })

  test("waits as long as setDelay says, and stops as soon as it is aborted", async () => {
    const client = new MockClaudeClient()
    client.setDelay(20)
    let isAnswered = false
    const answered = client.complete(request()).then(() => {
      isAnswered = true
    })
    await new Promise(resolve => setImmediate(resolve))
    expect(isAnswered).toBe(false)
    await answered
    client.setDelay(3_600_000)
    const controller = new AbortController()
    const work = errorOf(client.complete(request({ signal: controller.signal })))
    controller.abort()
    expect((await work).code).toBe("ABORTED")
    expect(client.calls).toHaveLength(2)
  })

  test("refuses a request that is aborted already, and keeps it all the same", async () => {
    const client = new MockClaudeClient()
    expect((await errorOf(client.complete(request({ signal: abortedSignal() })))).code).toBe("ABORTED")
    expect(client.calls).toHaveLength(1)
  })
})

test("a sleep leaves no listener behind, however it ends", async () => {
  const controller = new AbortController()
  const { signal } = controller
  let listeners = 0
  const add = signal.addEventListener.bind(signal)
  const remove = signal.removeEventListener.bind(signal)
  signal.addEventListener = (...args: Parameters<typeof add>) => {
    listeners += 1
    add(...args)
  }
  signal.removeEventListener = (...args: Parameters<typeof remove>) => {
    listeners -= 1
    remove(...args)
  }
  await cancellableSleep(1, signal)
  expect(listeners).toBe(0)
  const sleeping = errorOf(cancellableSleep(3_600_000, signal))
  controller.abort()
  expect((await sleeping).code).toBe("ABORTED")
  expect((await errorOf(cancellableSleep(3_600_000, signal))).code).toBe("ABORTED")
})

describe("DET-05: the client of Anthropic's API", () => {
  const server = (answer: FakeReply | Fault, key = "sk-test") =>
    startModelServer({ protocol: "anthropic", key, answer: () => answer })
  const refuses = (status: number): Fault => ({
    acts: [{ send: refusal({ protocol: "anthropic", flavour: "plain" }, status, "no") }],
  })
  const client = (baseUrl: string, apiKey = "sk-test") =>
    new AnthropicClaudeClient({ apiKey, baseUrl, defaultMaxTokens: 4096 })

  test("sends one message that is not streamed, and gives the text and the tokens", async () => {
    await using fake = await server(says("Hello", { usage: { input: 7, output: 3 } }))
    expect(await client(fake.endpoint).complete(request())).toEqual({
      content: "Hello",
      inputTokens: 7,
      outputTokens: 3,
      stopReason: "end_turn",
    })
    expect(fake.chats.map(({ body }) => body)).toMatchObject([
      {
        model: "claude-fake",
        max_tokens: 100,
        stream: false,
        system: "You write.",
        messages: [{ role: "user", content: [{ type: "text", text: "Write." }] }],
      },
    ])
  })

  test("leaves out the system prompt where it is empty, and takes its own limit where none is named", async () => {
    await using fake = await server(says("x"))
    await client(fake.endpoint).complete(request({ systemPrompt: "", maxTokens: 0 }))
    expect(fake.chats[0]?.body).not.toHaveProperty("system")
    expect(fake.chats[0]?.body).toMatchObject({ max_tokens: 4096 })
  })

  test("says that a reply was cut off, refused, or empty", async () => {
    await using cut = await server(says("half", { end: "length" }))
    expect((await client(cut.endpoint).complete(request())).stopReason).toBe("max_tokens")
    await using refused = await server(says("I cannot", { end: "refused" }))
    expect((await errorOf(client(refused.endpoint).complete(request()))).code).toBe("RESPONSE_REFUSED")
    await using empty = await server(says(""))
    expect((await errorOf(client(empty.endpoint).complete(request()))).code).toBe("RESPONSE_EMPTY")
    await using odd = await server(says("x", { end: { unknown: "pause_for_thought" } }))
    expect((await errorOf(client(odd.endpoint).complete(request()))).code).toBe("API_ERROR")
  })

  test("names each way to fail, and asks nothing twice", async () => {
    const codes: Readonly<Record<number, ExecutionErrorCode>> = {
      400: "API_BAD_REQUEST",
      401: "API_AUTH",
      403: "API_AUTH",
      404: "API_NOT_FOUND",
      408: "API_TIMEOUT",
      413: "API_BAD_REQUEST",
      429: "API_RATE_LIMITED",
      500: "API_ERROR",
      529: "API_OVERLOADED",
    }
    for (const [typed, code] of Object.entries(codes)) {
      const status = Number(typed)
      await using fake = await server(refuses(status))
      const error = await errorOf(client(fake.endpoint).complete(request()))
      expect({ status, code: error.code, asked: fake.chats.length }).toEqual({ status, code, asked: 1 })
    }
  })

  test("a connection that cannot be made or breaks off is a timeout", async () => {
    expect((await errorOf(client(await closedPort()).complete(request()))).code).toBe("API_TIMEOUT")
    await using fake = await server({ acts: [{ reset: true }] })
    expect((await errorOf(client(fake.endpoint).complete(request()))).code).toBe("API_TIMEOUT")
  })

  test("is aborted before and during a request", async () => {
    await using fake = await server({ acts: [{ hang: true }] })
    const early = errorOf(client(fake.endpoint).complete(request({ signal: abortedSignal() })))
    expect((await early).code).toBe("ABORTED")
    expect(fake.requests).toHaveLength(0)
    const controller = new AbortController()
    const late = errorOf(client(fake.endpoint).complete(request({ signal: controller.signal })))
    controller.abort()
    expect((await late).code).toBe("ABORTED")
  })

  test("never repeats its key", async () => {
    const key = "sk-ant-a-key-that-is-secret"
    await using fake = await server(refuses(401), "another")
    const error = await errorOf(client(fake.endpoint, key).complete(request()))
    expect(`${error.message} ${error.stack}`).not.toContain(key)
    const unusable = await errorOf(client("ftp://x", key).complete(request()))
    expect(unusable.code).toBe("API_BAD_REQUEST")
  })

  const key = process.env["ANTHROPIC_API_KEY"] ?? ""
  testWhere(key === "" ? "ANTHROPIC_API_KEY is not set" : null)("answers a trivial prompt", async () => {
    const live = new AnthropicClaudeClient({ apiKey: key, defaultMaxTokens: 50 })
    const reply = await live.complete(
      request({ model: DEFAULT_MODEL_MAP.haiku, userMessage: "Answer with the word yes." }),
    )
    expect(reply.content.toLowerCase()).toContain("yes")
    expect(reply.inputTokens).toBeGreaterThan(0)
  })
})

describe("a client of a provider that a program brings", () => {
  const asked: ModelRequest[] = []
  const provider = (failure: "auth" | null): Provider => ({
    name: "own",
    ask: async function* (received) {
      asked.push(received)
      yield { kind: "text", text: "one " }
      yield { kind: "text", text: "reply" }
      yield { kind: "usage", input: 3, output: 2 }
      if (failure === null) yield { kind: "end", reason: "length" }
      else
        yield {
          kind: "failure",
          failure: { kind: failure, message: "no key", retryable: false, retryAfterMs: null },
        }
    },
  })

  test("asks it for each request in order, and returns what it says", async () => {
    const client = providerClient(provider(null))
    const reply = { content: "one reply", inputTokens: 3, outputTokens: 2, stopReason: "max_tokens" as const }
    expect([await client.complete(request()), await client.complete(request())]).toEqual([reply, reply])
    expect(
      asked.map(({ replyIndex, model, outputTokensMax }) => [replyIndex, model, outputTokensMax]),
    ).toEqual([
      [0, "claude-fake", 100],
      [1, "claude-fake", 100],
    ])
  })

  test("turns its failures into errors, with the code of those who know fewer codes", async () => {
    const error = await errorOf(providerClient(provider("auth")).complete(request()))
    expect([error.code, error.seedCode]).toEqual(["API_AUTH", "API_ERROR"])
    expect(new ExecutionError("m", "API_TIMEOUT", "").seedCode).toBe("API_TIMEOUT")
  })
})
