import { describe, expect, test } from "bun:test"
import { tooLongArguments } from "../../../src/provider/limits.ts"
import { nested } from "../../provider/provider-kit.ts"
import { check } from "../../support/checker/checker.ts"
import { eventually } from "../../support/eventually.ts"
import type { FakeReply, Fault, ModelServerOptions } from "../../support/model-server/contract.ts"
import { bytes, whole } from "../../support/model-server/http.ts"
import { probeAnswer } from "../../support/model-server/probes.ts"
import { refusal } from "../../support/model-server/refusals.ts"
import { says } from "../../support/model-server/replies.ts"
import { requestFacts } from "../../support/model-server/request-facts.ts"
import { scriptedAnswers } from "../../support/model-server/scripted.ts"
import { startModelServer } from "../../support/model-server/server.ts"
import { greeting } from "../../support/script-replies.ts"
import { tcpDoor } from "../../support/tcp-door.ts"
import { httpWorkspace } from "../../support/workspace/http-workspace.ts"

/** The script, but for some requests of the session, which are counted from 0 without those that try out the model. */
function except(
  faults: Readonly<Record<number, () => FakeReply | Fault | null>>,
): ModelServerOptions["answer"] {
  const scripted = scriptedAnswers(greeting())
  let asked = 0
  return (received, index) => {
    if (probeAnswer(received) !== null) return scripted(received, index)
    return faults[asked++]?.() ?? scripted(received, index)
  }
}

describe("a model server that dies in the middle of a session", () => {
  test("lets it rest with exit 4, and go on when it is there again", async () => {
    let hasDied = false
    const dies = () => {
      hasDied = true
      return { acts: [{ waitMs: 60_000 }] }
    }
    await using server = await startModelServer({ protocol: "openai", answer: except({ 2: dies }) })
    await using door = await tcpDoor(server.endpoint)
    using room = httpWorkspace({ endpoint: door.endpoint, model: { provider: "openai", retry_count: 0 } })
    const running = room.ask("--yes=plan")
    await eventually("the request is there", () => hasDied)
    await door.shut()
    const run = await running
    expect([run.exitCode, run.events.at(-1)?.type]).toEqual([4, "session.rested"])
    expect(run.data("session.rested")[0]).toMatchObject({ state: "PAUSED", exitCode: 4 })

    const still = await room.goOn()
    expect([still.exitCode, still.data("turn.finished").at(-1)?.["failure"]]).toEqual([
      4,
      expect.objectContaining({ kind: "unavailable", retryable: true }),
    ])
    await door.open()
    const end = await room.goOn()
    expect([end.exitCode, room.file("greeting.txt")]).toEqual([0, "hello\n"])
    expect(await check(room.workspace)).toEqual([])
  }, 60_000)

  test("before it has begun leaves no session behind", async () => {
    using room = httpWorkspace({ endpoint: "http://127.0.0.1:9", model: { provider: "ollama" } })
    const { exitCode, stdout } = await room.ask("--yes=plan")
    expect([exitCode, JSON.parse(stdout).error.code]).toEqual([4, "ACODE-MODEL-001"])
    expect((await room.plain("session", "list", "--json")).stdout.trim()).toBe("[]")
  })
})

describe("a model server that is busy", () => {
  test("is left alone as long as it asks for, told about, and asked again", async () => {
    const busy = () => {
      const body = bytes(JSON.stringify({ error: { message: "slow down", type: "rate_limit" } }))
      return { acts: [{ send: whole(429, body, { "retry-after": "1" }) }] }
    }
    await using server = await startModelServer({ protocol: "openai", answer: except({ 1: busy }) })
    using room = httpWorkspace({ endpoint: server.endpoint, model: { provider: "openai" } })
    const { exitCode, stdout } = await room.plain("run", "do what is asked", "--yes=plan")
    expect(exitCode).toBe(0)
    expect(stdout).toMatch(/the model did not answer: .*slow down.* \(rateLimited\) — Retry 1\/2/)
    const logs = await room.plain("session", "logs", "--json")
    const events = logs.stdout
      .split("\n")
      .filter(line => line !== "")
      .map(line => JSON.parse(line))
    const failed = events.findIndex(({ type, data }) => type === "turn.finished" && data.failure !== null)
    expect(events[failed].data.failure).toMatchObject({ kind: "rateLimited", retryAfterMs: 1000 })
    const waitedMs = Date.parse(events[failed + 1].at) - Date.parse(events[failed].at)
    expect([events[failed + 1].type, waitedMs >= 1000]).toEqual(["model.requested", true])
  }, 30_000)
})

describe("a model that calls more than can be called", () => {
  test.each(["ollama", "openai", "anthropic"] as const)(
    "over %s is told exactly that and asked again, and the rest of its calls is made once",
    async protocol => {
      const written = ["x".repeat(2_100_000), "early\n"]
      const calls = written.map((content, index) => ({
        id: `w${index}`,
        tool: "write_file",
        arguments: { path: "greeting.txt", content },
      }))
      const overdoes = () => says("", { calls, end: "calls" })
      await using server = await startModelServer({ protocol, answer: except({ 1: overdoes }) })
      using room = httpWorkspace({ endpoint: server.endpoint, model: { provider: protocol } })
      const run = await room.ask("--yes=plan")
      expect([run.exitCode, room.file("greeting.txt")]).toEqual([0, "hello\n"])
      expect(run.data("tool_call.settled").map(({ outcome }) => outcome)).toEqual(["succeeded", "succeeded"])
      const turns = run.data("turn.finished")
      expect(turns.map(({ failure }) => failure)).toEqual(turns.map(() => null))
      expect(turns.map(({ problems }) => problems)).toEqual([
        [],
        [tooLongArguments("write_file")],
        [],
        [],
        [],
      ])
      expect(JSON.stringify(server.chats.map(({ body }) => body))).toContain(tooLongArguments("write_file"))
      expect(await check(room.workspace)).toEqual([])
    },
    30_000,
  )
})

describe("a model that calls a tool with what nobody can read", () => {
  test.each([
    ["ollama", true],
    ["ollama", false],
    ["openai", true],
    ["anthropic", true],
    ["anthropic", false],
  ] as const)(
    "over %s (streaming: %p) is told what it is, instead of asked the same again",
    async (provider, streaming) => {
      const call = { id: "w", tool: "write_file", arguments: { path: "x.txt", content: nested(100) } }
      const overdoes = () => says("", { calls: [call], end: "calls" })
      await using server = await startModelServer({ protocol: provider, answer: except({ 1: overdoes }) })
      using room = httpWorkspace({ endpoint: server.endpoint, model: { provider, streaming } })
      const run = await room.ask("--yes=plan")
      expect([run.exitCode, room.file("x.txt")]).toEqual([0, null])
      const [, second] = run.data("turn.finished")
      expect(second).toMatchObject({
        failure: null,
        problems: [
          "the arguments of the call of write_file cannot be used: one is nested more than 64 levels deep",
        ],
      })
    },
    30_000,
  )
})

describe("acode that is killed while a model answers", () => {
  test.each([
    ["before a plan", 0],
    ["before a call", 1],
    ["after a call", 2],
  ])(
    "%s asks again, and does nothing twice",
    async (_when, at) => {
      let isAsked = false
      const hangs = () => {
        isAsked = true
        return { acts: [{ waitMs: 60_000 }] }
      }
      await using server = await startModelServer({ protocol: "ollama", answer: except({ [at]: hangs }) })
      using room = httpWorkspace({ endpoint: server.endpoint })
      {
        await using running = room.begin("--yes=plan")
        await eventually("the request is there", () => isAsked)
        running.kill("SIGKILL")
        expect((await running.ended).signal).toBe("SIGKILL")
      }
      const end = await room.goOn()
      expect([end.exitCode, room.file("greeting.txt")]).toEqual([0, "hello\n"])
      expect(end.data("session.resumed")[0]).toMatchObject({
        settings: { selection: { endpoint: server.endpoint, executor: { name: "fake" } } },
      })
      expect(await check(room.workspace)).toEqual([])
      const logs = (await room.plain("session", "logs", "--json")).stdout
      const count = (type: string) => logs.split(`"type":"${type}"`).length - 1
      expect([count("model.requested"), count("turn.finished"), count("tool_call.started")]).toEqual([
        5, 4, 1,
      ])
    },
    30_000,
  )
})

describe("a model server that was started again without tools", () => {
  test("is told with how to try the model out again, and the next choice of it does", async () => {
    const scripted = scriptedAnswers(greeting())
    let native = true
    const answer: ModelServerOptions["answer"] = (received, index) => {
      const { tools } = requestFacts("openai", received.body)
      if (native || tools.length === 0) return scripted(received, index)
      const words = "tools param requires --jinja flag"
      return { acts: [{ send: refusal({ protocol: "openai", flavour: "llamacpp" }, 500, words) }] }
    }
    await using server = await startModelServer({
      protocol: "openai",
      answer,
      get native() {
        return native
      },
    })
    using room = httpWorkspace({ endpoint: server.endpoint, model: { provider: "openai" } })
    expect((await room.plain("models", "probe")).exitCode).toBe(0)
    native = false
    const run = await room.ask("--yes=plan")
    expect(run.exitCode).toBe(4)
    const [told] = run.data("escalation.raised")
    expect(String(told?.["reason"])).toContain("the server does not accept tools for this model")
    expect(String(told?.["advice"])).toContain(
      "`acode models probe openai/fake`, then `acode resume --model openai/fake`",
    )
    // What was recorded holds; who names the model again has it tried out again.
    expect((await room.goOn()).exitCode).toBe(4)
    const end = await room.goOn("--model", "openai/fake")
    expect([end.exitCode, room.file("greeting.txt")]).toEqual([0, "hello\n"])
    expect(await check(room.workspace)).toEqual([])
  }, 60_000)
})
