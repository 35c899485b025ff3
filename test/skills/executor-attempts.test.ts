import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import { chmodSync } from "node:fs"
import { join } from "node:path"
import {
  AgentExecutor,
  type ClaudeClient,
  createDefaultConfig,
  ExecutionError,
  MockClaudeClient,
  openSkillWorkspace,
} from "../../src/library.ts"
import { exampleTask } from "../domain/skill/task-fixture.ts"
import { check } from "../support/checker/checker.ts"
import { eventually } from "../support/eventually.ts"
import { type ExecutorRoom, executorRoom } from "./executor-room.ts"
import { type ClientKind, clientKinds } from "./tested-clients.ts"

let room: ExecutorRoom
function inRoom(kind: ClientKind): void {
  beforeEach(async () => {
    room = await executorRoom(kind)
  })
  afterEach(async () => {
    await room.workspace.close()
    // Whatever a test did, what it recorded is sound.
    expect(await check(room.temp)).toEqual([])
    await room[Symbol.asyncDispose]()
  })
}

const { output } = exampleTask()

describe.each(clientKinds)("with %s", kind => {
  inRoom(kind)

  describe("DET-08: an abort", () => {
    test("before the start asks and changes nothing", async () => {
      const client = room.replying("x")
      const result = await room.execute(client, room.task(), { signal: AbortSignal.abort() })
      expect([result.error?.code, client.calls.length, room.stored().status]).toEqual([
        "ABORTED",
        0,
        "pending",
      ])
    })

    test("during the request cancels the task", async () => {
      const controller = new AbortController()
      const client = room.silent()
      const work = room.execute(client, room.task(), { signal: controller.signal })
      await eventually("the model is asked", () => client.calls.length > 0 || null)
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
      const client = room.failing("API_OVERLOADED", 9)
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
        const client = room.failing(code, 9)
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
    ] as const)("%s is not", async code => {
      const client = room.failing(code, 9)
      const result = await room.execute(client, room.task())
      expect([result.error?.code, client.calls.length, room.waits]).toEqual([code, 1, []])
      expect(room.stored().status).toBe("failed")
    })

    test("the second attempt may do", async () => {
      const result = await room.execute(room.failing("API_OVERLOADED", 1), room.task())
      expect([result.status, room.waits, room.file(output.path)]).toEqual([
        "completed",
        [1000],
        "Mock output for task",
      ])
    })

    test("there are as many as the task is given, or none", async () => {
      const client = room.failing("API_OVERLOADED", 9)
      await room.execute(client, room.task(), { agentConfig: { maxRetries: 1 } })
      expect(client.calls).toHaveLength(2)
      const once = room.failing("API_OVERLOADED", 9)
      await room.execute(once, room.task(), { agentConfig: { maxRetries: 0 } })
      expect([once.calls.length, room.waits]).toEqual([1, [1000]])
    })

    test("jitter takes a part of each delay", async () => {
      await room.execute(room.failing("API_OVERLOADED", 9), room.task(), { config: { retryJitter: true } })
      expect(room.waits).toEqual([500, 1000])
    })

    test("an attempt that takes too long is a timeout, and is asked again", async () => {
      const slow = room.silent()
      const result = await room.execute(slow, room.task(), { agentConfig: { timeoutMs: 50, maxRetries: 1 } })
      expect([result.error?.code, room.waits, room.stored().status]).toEqual([
        "API_TIMEOUT",
        [1000],
        "failed",
      ])
      expect(result.error?.message).toBe("the model did not answer within 0.05 s")
    })
  })

  describe("DET-08: configuration", () => {
    test("the tier of the call, of the task, or the usual one chooses the model", async () => {
      const client = room.replying("x")
      const modelMap = { opus: "big", sonnet: "middle", haiku: "small" }
      const config = { modelMap, defaultMaxTokens: 77 }
      await room.execute(client, room.task(), { config })
      await room.execute(client, room.task({ metadata: { model_tier: "opus" } }), { config })
      await room.execute(client, room.task({ metadata: { model_tier: "opus" } }), {
        config,
        agentConfig: { modelTier: "haiku" },
      })
      expect(client.calls.map(({ model, maxTokens }) => [model, maxTokens])).toEqual([
        ...[
          ["middle", 77],
          ["big", 77],
          ["small", 77],
        ],
      ])
    })
  })
})

describe("with a client of a program's own", () => {
  inRoom("the client for tests")

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

  test("one that throws before it returns a promise is asked again like any other", async () => {
    let asked = 0
    const client: ClaudeClient = {
      complete: () => {
        asked += 1
        throw new ExecutionError("busy", "API_OVERLOADED", "")
      },
    }
    const { error } = await room.execute(client, room.task())
    expect([error?.code, asked, room.waits]).toEqual(["API_OVERLOADED", 3, [1000, 2000]])
  })

  test.each([Number.POSITIVE_INFINITY, 2 ** 40])("a timeout of %d ms is none", async timeoutMs => {
    const reply = { content: "late", inputTokens: 1, outputTokens: 1, stopReason: "end_turn" as const }
    // A timer that overflows fires in a millisecond.
    const client: ClaudeClient = { complete: () => Bun.sleep(20).then(() => reply) }
    const agentConfig = { timeoutMs, maxRetries: 0 }
    expect(await room.execute(client, room.task(), { agentConfig })).toMatchObject({ status: "completed" })
  })

  test("one that never settles is timed out, and whatever one throws is told and not asked again", async () => {
    const deaf: ClaudeClient = { complete: () => new Promise(() => undefined) }
    const never = await room.execute(deaf, room.task(), { agentConfig: { timeoutMs: 5, maxRetries: 0 } })
    expect(never.error?.code).toBe("API_TIMEOUT")
    let asked = 0
    const broken: ClaudeClient = {
      complete: () => {
        asked += 1
        return Promise.reject(new TypeError("x is undefined"))
      },
    }
    const bug = await room.execute(broken, room.task())
    expect([bug.error?.code, room.stored().status, asked, room.waits]).toEqual(["UNKNOWN", "failed", 1, []])
  })

  test("the duration is the time from the first step to the last, waits included", async () => {
    let nowMs = 1_000
    const timing = {
      monotonicMs: () => nowMs,
      jitter: () => 1,
      sleep: async (ms: number) => {
        nowMs += ms
      },
    }
    const client = room.failing("API_OVERLOADED", 2)
    const slow: ClaudeClient = {
      complete: request => {
        nowMs += 250
        return client.complete(request)
      },
    }
    const result = await new AgentExecutor(slow, room.workspace, createDefaultConfig(), timing).execute(
      room.task(),
    )
    expect([result.status, result.durationMs]).toEqual(["completed", 3 * 250 + 1000 + 2000])
    const failed = await new AgentExecutor(
      room.failing("API_AUTH", 1),
      room.workspace,
      createDefaultConfig(),
      {
        ...timing,
        monotonicMs: () => (nowMs += 10),
      },
    ).execute(room.task())
    expect([failed.status, failed.durationMs > 0]).toEqual(["failed", true])
  })
})

test("the usual configuration has the usual values, and takes others one by one", () => {
  expect(createDefaultConfig({ maxRetries: 5 })).toEqual({
    defaultModelTier: "sonnet",
    defaultTimeoutMs: 120_000,
    defaultMaxTokens: 4096,
    maxRetries: 5,
    retryDelayMs: 1000,
    retryJitter: false,
    strictContext: false,
    modelMap: {
      opus: "claude-opus-4-6",
      sonnet: "claude-sonnet-4-5-20250929",
      haiku: "claude-haiku-4-5-20251001",
    },
    retryableErrors: ["API_ERROR", "API_RATE_LIMITED", "API_OVERLOADED", "API_TIMEOUT"],
    foundationSkill: "product-marketing-context",
  })
})

describe("a workspace that cannot be used makes a result and no exception", () => {
  inRoom("the client for tests")

  test("one that is no directory, or may not be written", async () => {
    const client = room.replying("x")
    const nowhere = new AgentExecutor(client, openSkillWorkspace("/nonexistent/x"), createDefaultConfig())
    const result = await nowhere.execute(exampleTask())
    expect([result.status, client.calls.length]).toEqual(["failed", 0])
    const task = room.task()
    chmodSync(join(room.temp.root, "tasks"), 0o500)
    expect(["completed", "failed"]).toContain((await room.execute(client, task)).status)
    chmodSync(join(room.temp.root, "tasks"), 0o700)
  })
})
