import { describe, expect, test } from "bun:test"
import type { FakeModel } from "../../support/model-server/contract.ts"
import { probeAnswer } from "../../support/model-server/probes.ts"
import { says } from "../../support/model-server/replies.ts"
import { scriptedAnswers } from "../../support/model-server/scripted.ts"
import { startModelServer } from "../../support/model-server/server.ts"
import { greeting } from "../../support/script-replies.ts"
import { httpWorkspace } from "../../support/workspace/http-workspace.ts"

const model = (name: string, loadedTokens: number | null): FakeModel => ({
  name,
  loadedTokens,
  trainedTokens: 32_768,
  parameters: "8.0B",
  tools: true,
})

const willing = (asked: Parameters<typeof probeAnswer>[0]) => probeAnswer(asked) ?? says("hi")

describe("acode models", () => {
  test("lists what the server has and marks what is taken", async () => {
    const models = [model("first", null), model("second", 4096)]
    await using server = await startModelServer({ protocol: "ollama", models, answer: willing })
    using room = httpWorkspace({ endpoint: server.endpoint })
    const { exitCode, stdout } = await room.plain("models", "list")
    expect(exitCode).toBe(0)
    expect(stdout.split("\n")).toEqual([
      `ollama at ${server.endpoint}`,
      "  first   8.0B, Q4_0, 5.1 GB",
      "* second  8.0B, Q4_0, 5.1 GB, loaded",
      "",
    ])
    const json = JSON.parse((await room.plain("models", "list", "--json")).stdout)
    expect(json).toMatchObject([
      { id: "first", endpoint: server.endpoint, protocol: "ollama", isChosen: false, isLoaded: false },
      { id: "second", name: "second", isChosen: true, externalCalls: { calls: [], omittedCount: 0 } },
    ])
  })

  test("tries one out, in words and as JSON", async () => {
    await using server = await startModelServer({ protocol: "openai", native: false, answer: willing })
    using room = httpWorkspace({ endpoint: server.endpoint })
    const { exitCode, stdout, stderr } = await room.plain("models", "probe")
    expect([exitCode, stderr]).toEqual([0, expect.stringContaining("probing what fake can do")])
    expect(stdout).toMatch(/^model {3}fake at http:\/\/127\.0\.0\.1:\d+, openai$/m)
    expect(stdout).toMatch(/^tools {3}constrained$/m)
    expect(stdout).toMatch(/^window {2}8192 tokens, of which a reply takes at most 4096$/m)
    expect(stdout).toMatch(/^answer {2}begins after \d+ ms$/m)
    expect(stdout).toContain("window: 8192 tokens (")
    const json = JSON.parse((await room.plain("models", "probe", "fake", "--json")).stdout)
    expect(json).toMatchObject({ id: "fake", rung: "constrained", windowTokens: 8192, editFormat: "whole" })
  })

  test("says which one is not there", async () => {
    await using server = await startModelServer({ protocol: "openai", answer: willing })
    using room = httpWorkspace({ endpoint: server.endpoint })
    for (const args of [
      ["models", "probe", "none"],
      ["run", "x", "--model", "none"],
    ]) {
      const { exitCode, stderr } = await room.plain(...args)
      expect(exitCode).toBe(4)
      expect(stderr).toContain("ACODE-MODEL-007: the server has no model none; it has fake")
    }
  })

  test("of nobody are told with exit 4, and doctor only warns", async () => {
    using room = httpWorkspace({ endpoint: "http://127.0.0.1:9" })
    const list = await room.plain("models", "list")
    expect([list.exitCode, list.stderr]).toEqual([4, expect.stringContaining("ACODE-MODEL-001")])
    const doctor = await room.plain("doctor", "--json")
    const findings = JSON.parse(doctor.stdout) as readonly { id: string; status: string }[]
    expect(findings.find(({ id }) => id === "model")).toMatchObject({
      status: "warning",
      message: expect.stringContaining("ACODE-MODEL-001"),
    })
  })
})

describe("what a session took", () => {
  const usage = { usage: { input: 1000, output: 200 } }

  test("is told at its end and afterwards, with what it cost", async () => {
    const answer = scriptedAnswers(greeting().map(each => ({ ...each, ...usage })))
    await using server = await startModelServer({ protocol: "anthropic", answer })
    const prices = { input: 3, output: 15 }
    using room = httpWorkspace({ endpoint: server.endpoint, model: { provider: "anthropic", prices } })
    const run = await room.plain("run", "do what is asked", "--yes=plan", "--show-model-progress")
    expect(run.exitCode).toBe(0)
    expect(run.stdout).toContain(`  model fake (native calls, window 8192) at ${server.endpoint}, anthropic`)
    expect(run.stdout).toContain("tokens 4000 in, 800 out in 4 requests, cost 0.0240")
    expect(run.stdout).toContain("planner 1000 in, 200 out · executor 2000 in, 400 out · reviewer 1000 in")
    // What the model writes is shown beside the answer while it writes it.
    expect(run.stderr).toContain('"decision":"approve"')
    const shown = await room.plain("session", "show")
    expect(shown.stdout).toContain("  tokens 4000 in, 800 out in 4 requests, cost 0.0240")
    expect(shown.stdout).toContain("model fake (native calls")
    const json = JSON.parse((await room.plain("session", "show", "--json")).stdout)
    expect(json.tokens).toEqual({ requests: 4, input: 4000, output: 800, cost: 0.024 })
    expect(json.pipeline.usage.executor).toEqual({ requests: 2, input: 2000, output: 400 })
    expect(json.pipeline.models).toMatchObject({ endpoint: server.endpoint, consentBy: null })
    expect(json.pipeline.externalCalls.calls).toEqual([])
    expect(shown.stdout).not.toContain("external calls")
    expect((await room.plain("session", "logs", "--json")).stdout).not.toContain("externalCalls")
  }, 30_000)

  test("is what the session has taken in all, also in earlier processes", async () => {
    const answer = scriptedAnswers(greeting().map(each => ({ ...each, ...usage })))
    await using server = await startModelServer({ protocol: "openai", answer })
    using room = httpWorkspace({ endpoint: server.endpoint, model: { provider: "openai" } })
    expect((await room.plain("run", "do it", "--plan-only", "--yes=plan")).stdout).toContain("tokens 1000 in")
    const end = await room.plain("resume")
    expect([end.exitCode, end.stdout]).toEqual([0, expect.stringContaining("tokens 4000 in, 800 out in 4")])
    expect(end.stdout).not.toContain("cost")
  }, 30_000)
})
