import { describe, expect, test } from "bun:test"
import type { ReplyText } from "../../support/agent/agent-workspace.ts"
import { check } from "../../support/checker/checker.ts"
import type { ModelServerOptions } from "../../support/model-server/contract.ts"
import { probeAnswer } from "../../support/model-server/probes.ts"
import { requestFacts } from "../../support/model-server/request-facts.ts"
import { scriptedAnswers } from "../../support/model-server/scripted.ts"
import { startModelServer } from "../../support/model-server/server.ts"
import { contains, open, reply } from "../../support/script-replies.ts"
import { httpWorkspace } from "../../support/workspace/http-workspace.ts"

const window = 8192
const stepCount = 10
const instruction = "Every file of this project ends with the word quince."
const contract = "made.txt"

/** As long as a fifth of the window each, so that a step cannot hold what it reads. */
const longFile = (name: string) => `${`the quick brown fox of ${name} jumps over it `.repeat(140)}\n`

const files = {
  "AGENTS.md": `${instruction}\n`,
  ...Object.fromEntries(
    Array.from({ length: stepCount }, (_, index) => [`in${index}.txt`, longFile(`${index}`)]),
  ),
}

function replies(): readonly ReplyText[] {
  const steps = Array.from({ length: stepCount }, (_, index) =>
    open(`s${index}`, "WRITE_FILE", index === 0 ? {} : { depends_on: [`s${index - 1}`] }),
  )
  const plan = reply.plan({
    write: [contract, "out*.txt"],
    acceptance: [contains(contract, "quince")],
    steps,
  })
  const reads = (index: number) =>
    [0, 1, 2, 3].map(more => reply.calls(["read_file", { path: `in${(index + more) % stepCount}.txt` }]))
  const work = steps.flatMap((_, index) => [
    ...reads(index),
    reply.write(index === 0 ? contract : `out${index}.txt`, "quince\n"),
    reply.finish(`made ${index}`),
  ])
  return [plan, ...work, reply.review("approve")]
}

/** What a request tells of each step of the plan. */
function planOf(body: string): readonly string[] {
  return [...body.matchAll(/t1\/s\d+ [^:\\]*: (done|this step|pending)/g)].map(([, status]) => status ?? "")
}

function progress(step: number): readonly string[] {
  return Array.from({ length: stepCount }, (_, at) =>
    at < step ? "done" : at === step ? "this step" : "pending",
  )
}

describe("a model with a window of 8,192 tokens", () => {
  test.each(["ollama", "openai"] as const)(
    "works through ten steps over %s, and each request holds what it must not lose",
    async protocol => {
      const answer = scriptedAnswers(replies(), { usage: "counted" })
      const models = [
        { name: "small", trainedTokens: 32_768, loadedTokens: window, parameters: "7.0B", tools: true },
      ]
      const flavour = "lmstudio" as const
      await using server = await startModelServer({ protocol, flavour, answer, models, window })
      // Ollama would be asked for more otherwise.
      const model = { provider: protocol, parameters: { context_window: window } }
      using room = httpWorkspace({ endpoint: server.endpoint, files, model })
      const run = await room.ask("--yes=plan,file_write", "--context-files", "in0.txt")
      expect([run.exitCode, run.data("session.rested")]).toEqual([0, []])
      expect(run.data("step.finished").map(({ success }) => success)).toEqual(Array(stepCount).fill(true))
      // It could not have been done without leaving something out, which is in the log.
      expect(run.data("context.trimmed").length).toBeGreaterThan(0)
      const asked = server.chats.filter(chat => probeAnswer(chat) === null)
      expect(asked.length).toBe(1 + stepCount * 6 + 1)
      for (const [index, { body }] of asked.entries()) {
        const text = JSON.stringify(body)
        expect(text, `request ${index}`).toContain("do what is asked")
        expect(text, `request ${index}`).toContain(instruction)
        if (index > 0) expect(text, `request ${index}`).toContain(contract)
        if (index > 0 && index <= stepCount * 6)
          expect(planOf(text), `request ${index}`).toEqual(progress(Math.floor((index - 1) / 6)))
        expect(requestFacts(protocol, body).promptTokens).toBeLessThanOrEqual(window)
      }
      expect(await check(room.workspace)).toEqual([])
    },
    60_000,
  )

  test("cannot hold a request that is longer by itself, which is told", async () => {
    await using server = await startModelServer({ protocol: "ollama", answer: scriptedAnswers(replies()) })
    using room = httpWorkspace({
      endpoint: server.endpoint,
      files: { "AGENTS.md": instruction },
      model: { parameters: { context_window: 1024, max_tokens: 512 } },
    })
    const run = await room.ask("--yes=plan")
    expect([run.exitCode, String(run.data("session.rested")[0]?.["reason"])]).toEqual([
      22,
      expect.stringContaining("tokens"),
    ])
    // What a person is told to do helps: the window is pinned anew when the model is chosen again.
    const told = "config set model.parameters.context_window 2048`, then `acode resume --model ollama/fake`"
    expect(JSON.stringify(run.data("escalation.raised"))).toContain(told)
    expect((await room.plain("config", "set", "model.parameters.context_window", "16384")).exitCode).toBe(0)
    const more = await room.goOn("--model", "ollama/fake")
    expect(more.data("plan.proposed")).toHaveLength(1)
    expect(JSON.stringify(server.chats.at(-1)?.body)).toContain('"num_ctx":16384')
  }, 30_000)
})

describe("two models that count differently", () => {
  test("are each asked by their own count", async () => {
    const steps = [open("s1", "WRITE_FILE")]
    const scripted = scriptedAnswers([
      reply.plan({ write: [contract], acceptance: [contains(contract, "quince")], steps }),
      reply.write(contract, "quince\n"),
      ...[reply.finish(), reply.review("approve")],
    ])
    const answer: ModelServerOptions["answer"] = (received, index) => {
      const given = scripted(received, index)
      const { model, promptTokens } = requestFacts("openai", received.body)
      if ("acts" in given || model !== "wordy") return given
      return { ...given, usage: { input: promptTokens * 3, output: 10 } }
    }
    const models = ["wordy", "terse"].map(name => ({
      name,
      trainedTokens: 32_768,
      loadedTokens: 16_384,
      parameters: "7.0B",
      tools: true,
    }))
    await using server = await startModelServer({ protocol: "openai", flavour: "lmstudio", answer, models })
    const roles = { planner: "wordy", executor: "terse", verifier: "terse", reviewer: "terse" }
    const more = { models: roles }
    using room = httpWorkspace({ endpoint: server.endpoint, files, model: { provider: "openai" }, more })
    const run = await room.ask("--yes=plan,file_write", "--context-files", "in[0-2].txt")
    expect(run.exitCode).toBe(0)
    // Three times as long it would have had no room for the files.
    expect(run.data("context.trimmed")).toEqual([])
  }, 30_000)
})

describe("a session that may take only so many tokens", () => {
  test("rests before it takes more, and goes on with more", async () => {
    const usage = { usage: { input: 1_500, output: 100 } }
    const answer = scriptedAnswers(replies().map(each => ({ ...each, ...usage })))
    await using server = await startModelServer({ protocol: "openai", answer })
    using room = httpWorkspace({ endpoint: server.endpoint, files, model: { provider: "openai" } })
    const run = await room.ask("--yes=plan,file_write", "--max-tokens", "5000")
    const turns = run.data("turn.finished").length
    expect([run.exitCode, turns > 0 && turns * 1_600 <= 5_000]).toEqual([22, true])
    // No reply may be longer than what was left when it was asked for.
    const asked = server.chats.map(({ body }) => Number(/"max_tokens":(\d+)/.exec(JSON.stringify(body))?.[1]))
    expect(asked.slice(-turns).map((tokens, index) => tokens + index * 1_600 < 5_000)).toEqual(
      Array(turns).fill(true),
    )
    const more = await room.goOn("--max-tokens", "7000")
    expect([more.exitCode, more.data("turn.finished").length > 0]).toEqual([22, true])
  }, 30_000)
})
