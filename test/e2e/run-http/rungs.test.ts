import { describe, expect, test } from "bun:test"
import type { EditFormat } from "../../../src/domain/model-choice.ts"
import type { ReplyText } from "../../support/agent/agent-workspace.ts"
import { check } from "../../support/checker/checker.ts"
import type { ModelServerOptions } from "../../support/model-server/contract.ts"
import { refusal } from "../../support/model-server/refusals.ts"
import { requestFacts } from "../../support/model-server/request-facts.ts"
import { rungOptions } from "../../support/model-server/rung-options.ts"
import { scriptedAnswers } from "../../support/model-server/scripted.ts"
import { startModelServer } from "../../support/model-server/server.ts"
import { contains, greeting, open, reply } from "../../support/script-replies.ts"
import { httpWorkspace } from "../../support/workspace/http-workspace.ts"

const first = { write: ["greeting.txt"], acceptance: [contains("greeting.txt", "hello")] }
const second = {
  id: "t2",
  write: ["other.txt"],
  acceptance: [contains("other.txt", "more")],
  more: { depends_on: ["t1"] },
  steps: [open("s1", "CREATE_FILE")],
}

/** An edit as a model of this format is to make it. */
function edit(format: EditFormat, search: string, replace: string): ReplyText {
  if (format === "whole") return reply.write("greeting.txt", `${replace}\n`)
  return reply.calls(["modify_file", { path: "greeting.txt", edits: [{ search, replace }] }])
}

/** The planner reads before it plans. */
const reading = (args: Readonly<Record<string, unknown>>): ReplyText => ({
  stage: "planner",
  calls: [{ tool: "read_file", args }],
})

/** A call that is refused, a verification that fails once, a review that wants more, and another plan. */
function replies(format: EditFormat): readonly ReplyText[] {
  return [
    reading({ path: "notes.txt" }),
    reading({ path: ".env" }),
    reply.plan(first),
    reply.calls(["read_file", { path: ".env" }]),
    reply.write("greeting.txt", "bye\n"),
    reply.finish("wrote it"),
    edit(format, "bye", "hello"),
    reply.finish("mended it"),
    reply.review("replan", "another file is needed"),
    reply.plan(first, second),
    reply.calls(["create_file", { path: "other.txt", content: "more\n" }]),
    reply.finish("wrote the other"),
    reply.review("approve", "all of it is there"),
  ]
}

describe.each(["ollama", "openai", "anthropic"] as const)("over HTTP with the protocol %s", protocol => {
  test.each(rungOptions)(
    "a session with calls of the kind %s goes through a refusal, a cycle and another plan",
    async (rung, can) => {
      const format = protocol === "anthropic" ? "replace" : "whole"
      const answer = scriptedAnswers(replies(format), { usage: "counted" })
      const models = [
        { name: "small", trainedTokens: 32_768, loadedTokens: 16_384, parameters: "1.5B", tools: true },
      ]
      await using server = await startModelServer({ protocol, answer, models, ...can })
      using room = httpWorkspace({
        endpoint: server.endpoint,
        files: { ".env": "SECRET=1\n", "notes.txt": "say hello\n" },
        model: { provider: protocol },
      })
      const run = await room.ask("--yes=plan,file_write")
      expect(run.stderr).not.toContain("error")
      expect([run.exitCode, run.data("session.finished")[0]?.["state"]]).toEqual([0, "COMPLETED"])
      expect([room.file("greeting.txt"), room.file("other.txt")]).toEqual(["hello\n", "more\n"])
      expect(run.data("session.started")[0]).toMatchObject({
        agent: { selection: { protocol, executor: { name: "small", rung, editFormat: format } } },
      })
      expect(run.data("cycle.started").map(({ from, to }) => `${from} ${to}`)).toEqual([
        "verifier executor",
        "reviewer planner",
      ])
      const outcomes = run.data("tool_call.settled").map(({ outcome }) => outcome)
      expect(outcomes.slice(0, 3)).toEqual(["succeeded", "denied", "denied"])
      const usage = run.data("turn.finished").map(turn => turn["usage"] as { input: number; output: number })
      for (const { input, output } of usage) expect([input > 0, output > 0]).toEqual([true, true])
      expect(await check(room.workspace)).toEqual([])
    },
    60_000,
  )
})

describe.each(["ollama", "openai"] as const)("over HTTP with the protocol %s", protocol => {
  test.each(rungOptions)(
    "a model made for diffs edits by them with calls of the kind %s, and may write whole files once one did not fit",
    async (_, can) => {
      const patch = (...lines: readonly string[]) =>
        reply.calls(["modify_file", { path: "greeting.txt", patch: ["@@", ...lines, ""].join("\n") }])
      const task = {
        write: ["greeting.txt"],
        acceptance: [contains("greeting.txt", "hello")],
        steps: [open("s1", "MODIFY_FILE")],
      }
      const changes = [patch(" dear", "-you", "+me"), patch("-bye", "+hello", " you")]
      const answer = scriptedAnswers([
        ...[reply.plan(task), ...changes, reply.finish("changed it"), reply.review("approve")],
      ])
      const models = [
        {
          name: "gpt-oss:20b",
          trainedTokens: 32_768,
          loadedTokens: 16_384,
          parameters: "20.9B",
          tools: true,
        },
      ]
      await using server = await startModelServer({ protocol, answer, models, ...can })
      const files = { "greeting.txt": "bye\nyou\n" }
      using room = httpWorkspace({ endpoint: server.endpoint, files, model: { provider: protocol } })
      const run = await room.ask("--yes=plan,file_write")
      expect([run.exitCode, room.file("greeting.txt")]).toEqual([0, "hello\nyou\n"])
      expect(run.data("session.started")[0]).toMatchObject({
        agent: { selection: { executor: { name: "gpt-oss:20b", editFormat: "diff" } } },
      })
      expect(run.data("tool_call.settled").map(({ outcome }) => outcome)).toEqual(["failed", "succeeded"])
      const asked = server.requests.map(({ body }) => JSON.stringify(body)).filter(isOfExecutor)
      expect(asked.map(body => body.includes("[write_file is offered from now on"))).toEqual([
        false,
        true,
        true,
      ])
    },
    30_000,
  )
})

/** The one that is told to do a step. */
const isOfExecutor = (body: string) => body.includes("Do step s1.")

test.each(["plain", "llamacpp", "vllm", "lmstudio"] as const)(
  "a server like %s that calls tools and refuses every schema is told the shapes, and a session goes through",
  async flavour => {
    const scripted = scriptedAnswers(greeting())
    const answer: ModelServerOptions["answer"] = (received, index) => {
      if (requestFacts("openai", received.body).schema === null) return scripted(received, index)
      const words = "'response_format.type' must be 'text' or 'json_object'"
      return { acts: [{ send: refusal({ protocol: "openai", flavour }, 400, words) }] }
    }
    await using server = await startModelServer({ protocol: "openai", flavour, answer })
    using room = httpWorkspace({ endpoint: server.endpoint, model: { provider: "openai" } })
    const run = await room.ask("--yes=plan")
    expect([run.exitCode, room.file("greeting.txt")]).toEqual([0, "hello\n"])
    expect(run.data("session.started")[0]).toMatchObject({
      agent: { selection: { executor: { rung: "native" } } },
    })
    expect(await check(room.workspace)).toEqual([])
  },
  30_000,
)
