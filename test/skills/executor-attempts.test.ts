import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import { chmodSync } from "node:fs"
import { join } from "node:path"
import {
  AgentExecutor,
  AnthropicClaudeClient,
  type ClaudeClient,
  createDefaultConfig,
  ExecutionError,
  type ExecutionErrorCode,
  MockClaudeClient,
  openSkillWorkspace,
} from "../../src/library.ts"
import { exampleTask } from "../domain/skill/task-fixture.ts"
import { check } from "../support/checker/checker.ts"
import type { FakeReply, Fault } from "../support/model-server/contract.ts"
import { refusal } from "../support/model-server/refusals.ts"
import { says } from "../support/model-server/replies.ts"
import { startModelServer } from "../support/model-server/server.ts"
import { type ExecutorRoom, executorRoom, replying } from "./executor-room.ts"

let room: ExecutorRoom
beforeEach(() => {
  room = executorRoom()
})
afterEach(async () => {
  await room.workspace.close()
  // Whatever a test did, what it recorded is sound.
  expect(await check(room.temp)).toEqual([])
  await room[Symbol.asyncDispose]()
})

const { output } = exampleTask()
const failing = (code: ExecutionErrorCode, times: number, message = "no") => {
  const client = new MockClaudeClient()
  client.setError(new ExecutionError(message, code, ""), times)
  return client
}
const aborted = () => AbortSignal.abort()

describe("DET-08: an abort", () => {
  test("before the start asks and changes nothing", async () => {
    const client = replying("x")
    const task = room.task()
    const result = await room.execute(client, task, { signal: aborted() })
    expect([result.error?.code, client.calls.length, room.stored().status]).toEqual(["ABORTED", 0, "pending"])
  })

  test("during the request cancels the task", async () => {
    const controller = new AbortController()
    const client = new MockClaudeClient(() => {
      throw new Error("it never answers")
    })
    client.setDelay(3_600_000)
    const work = room.execute(client, room.task(), { signal: controller.signal })
    while (client.calls.length === 0) await new Promise(resolve => setImmediate(resolve))
    controller.abort()
    const result = await work
    expect([result.error?.code, room.stored().status, room.file(output.path)]).toEqual([
      "ABORTED",
      "cancelled",
      null,
    ])
  })

  test("between two attempts asks no more", async () => {
    const controller = new AbortController()
    const client = failing("API_OVERLOADED", 9)
    const timing = {
      monotonicMs: () => 0,
      jitter: () => 1,
      sleep: async () => {
        controller.abort()
        throw new ExecutionError("aborted", "ABORTED", "")
      },
    }
    const executor = new AgentExecutor(client, room.workspace, createDefaultConfig(), timing)
    const result = await executor.execute(room.task(), { signal: controller.signal })
    expect([result.error?.code, client.calls.length, room.stored().status]).toEqual([
      "ABORTED",
      1,
      "cancelled",
    ])
  })
})

describe("DET-08: retries", () => {
  test.each(["API_ERROR", "API_RATE_LIMITED", "API_OVERLOADED", "API_TIMEOUT"] as const)(
    "%s is asked again, twice as late each time, and then fails",
    async code => {
      const client = failing(code, 9)
      const result = await room.execute(client, room.task(), { config: { maxRetries: 3 } })
      expect([result.error?.code, client.calls.length, room.stored().status]).toEqual([code, 4, "failed"])
      expect(room.waits).toEqual([1000, 2000, 4000])
    },
  )

  test.each([
    "API_AUTH",
    "API_NOT_FOUND",
    "API_BAD_REQUEST",
    "RESPONSE_EMPTY",
    "RESPONSE_REFUSED",
    "UNKNOWN",
  ] as const)("%s is not", async code => {
    const client = failing(code, 9)
    const result = await room.execute(client, room.task())
    expect([result.error?.code, client.calls.length, room.waits]).toEqual([code, 1, []])
  })

  test("the second attempt may do", async () => {
    const result = await room.execute(failing("API_OVERLOADED", 1), room.task())
    expect([result.status, room.waits]).toEqual(["completed", [1000]])
  })

  test("a server is left alone for as long as it asks, and not waited for beyond a minute", async () => {
    const client = new MockClaudeClient()
    const limited = (retryAfterMs: number) =>
      new ExecutionError("later", "API_RATE_LIMITED", "", undefined, {
        retryAfterMs,
        inputTokens: 5,
        outputTokens: 0,
      })
    client.setError(limited(7_000))
    const result = await room.execute(client, room.task())
    expect([room.waits, result.tokensUsed.input]).toEqual([[7_000], 105])
    client.setError(limited(61_000))
    expect((await room.execute(client, room.task())).error?.code).toBe("API_RATE_LIMITED")
  })

  test("jitter takes a part of each delay", async () => {
    await room.execute(failing("API_OVERLOADED", 9), room.task(), { config: { retryJitter: true } })
    expect(room.waits).toEqual([500, 1000])
  })

  test("an attempt that takes too long is a timeout and is asked again; whatever a client throws is told", async () => {
    const slow = new MockClaudeClient()
    slow.setDelay(3_600_000)
    const result = await room.execute(slow, room.task(), { agentConfig: { timeoutMs: 5, maxRetries: 1 } })
    expect([result.error?.code, slow.calls.length]).toEqual(["API_TIMEOUT", 2])
    const deaf: ClaudeClient = { complete: () => new Promise(() => undefined) }
    const never = await room.execute(deaf, room.task(), { agentConfig: { timeoutMs: 5, maxRetries: 0 } })
    expect(never.error?.code).toBe("API_TIMEOUT")
    const broken: ClaudeClient = { complete: () => Promise.reject(new TypeError("x is undefined")) }
    const bug = await room.execute(broken, room.task())
    expect([bug.error?.code, room.stored().status]).toEqual(["UNKNOWN", "failed"])
  })
})

describe("DET-08: configuration", () => {
  test("the tier of the call, of the task, or the usual one chooses the model", async () => {
    const client = replying("x")
    const modelMap = { opus: "big", sonnet: "middle", haiku: "small" }
    const config = { modelMap, defaultMaxTokens: 77 }
    await room.execute(client, room.task(), { config })
    await room.execute(client, room.task({ metadata: { model_tier: "opus" } }), { config })
    await room.execute(client, room.task({ metadata: { model_tier: "opus" } }), {
      ...{ config, agentConfig: { modelTier: "haiku" } },
    })
    expect(client.calls.map(({ model, maxTokens }) => [model, maxTokens])).toEqual([
      ...[
        ["middle", 77],
        ["big", 77],
        ["small", 77],
      ],
    ])
  })

  test("the usual one has the usual values, and takes others one by one", () => {
    expect(createDefaultConfig({ maxRetries: 5 })).toEqual({
      ...{ defaultModelTier: "sonnet", defaultTimeoutMs: 120_000, defaultMaxTokens: 4096, maxRetries: 5 },
      ...{ retryDelayMs: 1000, retryJitter: false, strictContext: false },
      modelMap: {
        ...{
          opus: "claude-opus-4-6",
          sonnet: "claude-sonnet-4-5-20250929",
          haiku: "claude-haiku-4-5-20251001",
        },
      },
      retryableErrors: ["API_ERROR", "API_RATE_LIMITED", "API_OVERLOADED", "API_TIMEOUT"],
      foundationSkill: "product-marketing-context",
    })
  })

  test("a workspace that is no directory, or may not be written, makes a result and no exception", async () => {
    const client = replying("x")
    const nowhere = new AgentExecutor(client, openSkillWorkspace("/nonexistent/x"), createDefaultConfig())
    const result = await nowhere.execute(exampleTask())
    expect([result.status, client.calls.length]).toEqual(["failed", 0])
    const task = room.task()
    chmodSync(join(room.temp.root, "tasks"), 0o500)
    expect(["completed", "failed"]).toContain((await room.execute(client, task)).status)
    chmodSync(join(room.temp.root, "tasks"), 0o700)
  })
})

describe("DET-08 with a server that speaks the Messages API", () => {
  const kind = { protocol: "anthropic", flavour: "plain" } as const
  const refuses = (status: number): Fault => ({ acts: [{ send: refusal(kind, status, "no") }] })
  const run = async (answers: readonly (FakeReply | Fault)[]) => {
    await using server = await startModelServer({
      ...{ protocol: "anthropic", key: "sk-test" },
      answer: (_, index) => answers[Math.min(index, answers.length - 1)] ?? says("nothing"),
    })
    const client = new AnthropicClaudeClient({
      apiKey: "sk-test",
      baseUrl: server.endpoint,
      defaultMaxTokens: 99,
    })
    const result = await room.execute(client, room.task())
    return { result, asked: server.chats.length, status: room.stored().status }
  }

  test("a reply becomes the output, with the tokens the server counted", async () => {
    const { result, status } = await run([says("# Page", { usage: { input: 11, output: 4 } })])
    expect([status, result.tokensUsed, room.file(output.path)]).toEqual([
      ...["completed", { input: 11, output: 4, total: 15 }, "# Page"],
    ])
  })

  test.each([
    [429, "API_RATE_LIMITED", 3],
    [529, "API_OVERLOADED", 3],
    [500, "API_ERROR", 3],
    [408, "API_TIMEOUT", 3],
    [401, "API_AUTH", 1],
    [404, "API_NOT_FOUND", 1],
  ] as const)("a status of %d fails as %s after %d requests", async (status, code, asked) => {
    const ended = await run([refuses(status)])
    expect([ended.result.error?.code, ended.asked, ended.status]).toEqual([code, asked, "failed"])
  })

  test("it answers the second time, refuses, is cut off, or says nothing", async () => {
    expect((await run([refuses(529), says("late")])).result.status).toBe("completed")
    expect((await run([says("no", { end: "refused" })])).result.error?.code).toBe("RESPONSE_REFUSED")
    expect((await run([says("half", { end: "length" })])).result.error?.code).toBe("RESPONSE_TRUNCATED")
    expect((await run([says(" ")])).result.error?.code).toBe("RESPONSE_EMPTY")
  })
})
