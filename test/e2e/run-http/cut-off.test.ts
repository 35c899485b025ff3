import { describe, expect, test } from "bun:test"
import type { Json } from "../../../src/base/canonical.ts"
import type { FakeReply, ModelServerOptions } from "../../support/model-server/contract.ts"
import { at } from "../../support/model-server/json.ts"
import { probeAnswer } from "../../support/model-server/probes.ts"
import { scriptedAnswers } from "../../support/model-server/scripted.ts"
import { startModelServer } from "../../support/model-server/server.ts"
import { greeting } from "../../support/script-replies.ts"
import { httpWorkspace } from "../../support/workspace/http-workspace.ts"

const models = [
  { name: "thinker", trainedTokens: 32_768, loadedTokens: 32_768, parameters: "8.0B", tools: true },
]
const parameters = { context_window: 32_768 }

/** A model that thinks until it may say no more. */
function thinking(output: number): FakeReply {
  return { text: "", calls: [], usage: { input: 900, output }, end: "length" }
}

/** Cuts off the first replies, as many as are said. */
function cuttingOff(count: number): ModelServerOptions["answer"] {
  const answer = scriptedAnswers(greeting())
  let left = count
  return (received, index) => {
    if (probeAnswer(received) !== null || left === 0) return answer(received, index)
    left -= 1
    return thinking(allowedTokens(received.body))
  }
}

function allowedTokens(body: Json): number {
  return Number(at(body, "max_tokens") ?? at(body, "options", "num_predict"))
}

describe("a reply that is cut off", () => {
  test.each(["ollama", "openai", "anthropic"] as const)(
    "is asked for again over %s with room for twice as much",
    async protocol => {
      await using server = await startModelServer({ protocol, models, answer: cuttingOff(2) })
      using room = httpWorkspace({ endpoint: server.endpoint, model: { provider: protocol, parameters } })
      const run = await room.ask("--yes=plan,file_write")
      expect([run.exitCode, run.data("session.rested")]).toEqual([0, []])
      const cutOff = run.data("turn.finished").map(({ stage, isCutOff }) => [stage, isCutOff === true])
      expect(cutOff.slice(0, 4)).toEqual([
        ["planner", true],
        ["planner", true],
        ["planner", false],
        ["executor", false],
      ])
      const asked = server.chats.filter(chat => probeAnswer(chat) === null)
      const allowed = asked.map(({ body }) => allowedTokens(body))
      expect(allowed.slice(0, 4)).toEqual([4_096, 8_192, 16_384, 4_096])
    },
    30_000,
  )

  test("again and again rests and says what can be changed", async () => {
    await using server = await startModelServer({ protocol: "openai", models, answer: cuttingOff(99) })
    using room = httpWorkspace({ endpoint: server.endpoint, model: { provider: "openai", parameters } })
    const run = await room.ask("--yes=plan,file_write")
    expect(run.exitCode).toBe(22)
    const [escalation] = run.data("escalation.raised")
    expect(escalation?.["advice"]).toBe(
      "its answers, thinking included, are longer than 16384 tokens; this is half of its window: let the server " +
        "load the model with a larger window (and `acode config set model.parameters.context_window 65536`, if the " +
        "server does not report its window), then `acode resume --model openai/thinker`",
    )
  })
})
