import { describe, expect, test } from "bun:test"
import { check } from "../../support/checker/checker.ts"
import type { FakeReply, Fault, ModelServerOptions } from "../../support/model-server/contract.ts"
import { bytes, chunked, chunkedHead } from "../../support/model-server/http.ts"
import { probeAnswer } from "../../support/model-server/probes.ts"
import { refusal } from "../../support/model-server/refusals.ts"
import { scriptedAnswers } from "../../support/model-server/scripted.ts"
import { startModelServer } from "../../support/model-server/server.ts"
import { greeting } from "../../support/script-replies.ts"
import { httpWorkspace } from "../../support/workspace/http-workspace.ts"

/** The script, but for the first request of the session and all that repeat it. */
function alwaysFirst(fault: () => FakeReply | Fault): ModelServerOptions["answer"] {
  const scripted = scriptedAnswers(greeting())
  return (received, index) => (probeAnswer(received) === null ? fault() : scripted(received, index))
}

describe("how a model is asked is configured", () => {
  test("keep_alive, temperature, top_p and max_tokens are in every request to Ollama", async () => {
    await using server = await startModelServer({ protocol: "ollama", answer: scriptedAnswers(greeting()) })
    const parameters = { temperature: 0.25, top_p: 0.5, max_tokens: 777 }
    using room = httpWorkspace({
      endpoint: server.endpoint,
      model: { provider: "ollama", keep_alive: "7m", parameters },
    })
    expect((await room.ask("--yes=plan")).exitCode).toBe(0)
    const asked = server.chats.filter(chat => probeAnswer(chat) === null)
    expect(asked.length).toBeGreaterThan(2)
    for (const { body } of asked)
      expect(body).toMatchObject({
        keep_alive: "7m",
        options: { temperature: 0.25, top_p: 0.5, num_predict: 777 },
      })
  })

  test("edit_format, and what opus, sonnet and haiku mean", async () => {
    const models = ["large", "middle", "small"].map(name => ({
      name,
      trainedTokens: 32_768,
      loadedTokens: 32_768,
      parameters: "7.0B",
      tools: true,
    }))
    const answer = scriptedAnswers(greeting())
    await using server = await startModelServer({ protocol: "openai", models, answer })
    using room = httpWorkspace({
      endpoint: server.endpoint,
      model: { provider: "openai", edit_format: "diff", name: "haiku" },
      more: {
        models: {
          planner: "opus",
          executor: "sonnet",
          verifier: "sonnet",
          reviewer: "haiku",
          tiers: { opus: "large", sonnet: "middle", haiku: "small" },
        },
      },
    })
    const run = await room.ask("--yes=plan", "--plan-only")
    expect([run.exitCode, run.data("session.started")]).toMatchObject([
      0,
      [
        {
          agent: {
            selection: {
              planner: { name: "large" },
              executor: { name: "middle", editFormat: "diff" },
              reviewer: { name: "small" },
            },
          },
        },
      ],
    ])
  })
})

describe("how long a model is waited for is configured", () => {
  const hangs = (): Fault => ({ acts: [{ hang: true }] })
  const beginsOnly = (): Fault => {
    const piece = bytes('data: {"choices":[{"delta":{"content":"well"}}]}\n\n')
    return { acts: [{ send: chunkedHead("text/event-stream") }, { send: chunked(piece) }, { hang: true }] }
  }

  test.each([
    ["first_token_timeout_seconds", hangs, {}],
    ["timeout_seconds", hangs, { streaming: false }],
    ["timeout_seconds", beginsOnly, {}],
    // Where nothing but words is asked for: whoever writes a call may be silent as long as before the first word.
    ["token_timeout_seconds", beginsOnly, {}],
  ] as const)("%s", async (key, fault, more) => {
    const can = key === "token_timeout_seconds" ? { native: false, schemas: false } : {}
    await using server = await startModelServer({ protocol: "openai", answer: alwaysFirst(fault), ...can })
    const model = { provider: "openai", retry_count: 0, [key]: 0.5, ...more }
    using room = httpWorkspace({ endpoint: server.endpoint, model })
    const run = await room.ask("--yes=plan")
    expect([run.exitCode, run.data("turn.finished")]).toMatchObject([4, [{ failure: { kind: "timeout" } }]])
    expect(await check(room.workspace)).toEqual([])
  })

  test("step_retry_limit: how often a request that is too long is made again", async () => {
    const kind = { protocol: "openai", flavour: "plain" } as const
    const tooLong = "Please reduce the length of the messages: the context length is exceeded."
    const answer = alwaysFirst(() => ({ acts: [{ send: refusal(kind, 400, tooLong) }] }))
    await using server = await startModelServer({ protocol: "openai", answer })
    using room = httpWorkspace({
      endpoint: server.endpoint,
      model: { provider: "openai" },
      more: { orchestration: { step_retry_limit: 1 } },
      files: { "long.txt": "a line of a file that is to be left out\n".repeat(300) },
    })
    const run = await room.ask("--yes=plan", "--context-files", "long.txt")
    expect([run.exitCode, run.data("session.rested")]).toMatchObject([22, [{ code: "ACODE-ORCH-005" }]])
    expect(server.chats.filter(chat => probeAnswer(chat) === null)).toHaveLength(2)
  })
})

test("ACODE-MODEL-006: a server that is no model server", async () => {
  using server = Bun.serve({ port: 0, fetch: () => new Response("<html>hello</html>") })
  using room = httpWorkspace({
    endpoint: `http://127.0.0.1:${server.port}`,
    model: { provider: "openai" },
  })
  const run = await room.plain("models", "list")
  expect([run.exitCode, run.stderr]).toEqual([4, expect.stringContaining("ACODE-MODEL-006")])
})

test("mode.allow_burst: nobody may send anything elsewhere", async () => {
  using room = httpWorkspace({
    endpoint: null,
    more: { mode: { allow_burst: false } },
    variables: { ANTHROPIC_API_KEY: "sk-ant-not-a-key" },
  })
  const run = await room.plain("run", "x", "--mode", "burst", "--model", "anthropic/some-model")
  expect([run.exitCode, run.stderr]).toEqual([33, expect.stringContaining("ACODE-MODEL-004")])
})
