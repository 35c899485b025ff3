import { expect, test } from "bun:test"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { taskText } from "../../../src/domain/skill/task-text.ts"
import { exampleTask } from "../../domain/skill/task-fixture.ts"
import { check } from "../../support/checker/checker.ts"
import { says } from "../../support/model-server/replies.ts"
import { startModelServer } from "../../support/model-server/server.ts"
import { taskWorkspace } from "../../support/task-workspace.ts"

const skills = {
  workspace: "work",
  default_tier: "opus",
  timeout_seconds: 20,
  max_tokens: 128,
  retry_count: 1,
  retry_delay_ms: 1,
  retry_jitter: true,
  retryable: ["API_ERROR"],
  squads: [{ name: "content", skills: ["plain"] }],
  foundation: "other",
  context: "context/product.md",
  strict_context: true,
  max_parallel: 2,
}

test("every setting of the skills lane holds for its tasks", async () => {
  using room = taskWorkspace()
  await using server = await startModelServer({ protocol: "ollama", answer: () => says("from a server") })
  const model = { endpoint: server.endpoint }
  const config = { schema_version: "1", model, models: { tiers: { opus: "fake" } }, skills }
  room.temp.write("../config/acode/config.yml", JSON.stringify(config))
  const output = "outputs/content/plain/one.md"
  const written = join(room.temp.root, "work", output)
  const task = exampleTask({ id: "one", to: "plain", output: { path: output, format: "markdown" } })
  room.temp.write("work/tasks/one.md", taskText({ ...task, status: "pending" }))

  const listed = await room.acode(["agent", "list", "--skill", "plain", "--limit", "5", "--json"])
  expect(JSON.parse(listed.stdout)).toMatchObject([{ id: "one" }])
  const refused = await room.acode(["agent", "run", "one"])
  expect(refused).toMatchObject({ exitCode: 30, stdout: expect.stringContaining("CONTEXT_NOT_FOUND") })
  expect(server.chats).toHaveLength(0)
  expect((await room.acode(["session", "show", "--json"])).stdout).toContain("ACODE-SKILL-003")

  room.temp.write("work/context/product.md", "We sell bread.")
  expect((await room.acode(["agent", "reset", "one", "--reason", "the context is there"])).exitCode).toBe(0)
  const run = await room.acode(["agent", "run", "--pending", "--limit", "1"])
  expect({ exitCode: run.exitCode, text: run.stdout }).toMatchObject({ exitCode: 0 })
  expect(readFileSync(written, "utf8")).toBe("from a server")
  const [asked] = server.chats
  expect(asked?.body).toMatchObject({ model: "fake", options: { num_predict: 128 } })
  expect(JSON.stringify(asked?.body)).toContain("We sell bread.")
  expect(await check(room.temp)).toEqual([])
})

test("the flags of a pipeline choose the model, bound a reply, and keep what was replied", async () => {
  using room = taskWorkspace()
  await using server = await startModelServer({ protocol: "ollama", answer: () => says("from a server") })
  const config = { schema_version: "1", model: { endpoint: server.endpoint } }
  room.temp.write("../config/acode/config.yml", JSON.stringify(config))
  const file = room.temp.write("p.yml", "id: p\ngoal: g\nsteps:\n  - { type: sequential, skill: plain }\n")
  const recording = join(room.temp.outside, "recording.jsonl")
  const limits = ["--timeout", "20", "--max-tokens", "64", "--mode", "local-only"]
  const first = await room.acode([
    ...["agent", "pipeline", file, "--model", "fake"],
    ...limits,
    ...["--record", recording],
  ])
  expect({ exitCode: first.exitCode, text: first.stdout }).toMatchObject({ exitCode: 0 })
  expect(existsSync(recording)).toBe(true)
  expect(server.chats.at(-1)?.body).toMatchObject({ model: "fake", options: { num_predict: 64 } })
  const requests = server.chats.length
  const again = await room.acode(["agent", "pipeline", file, "--tier", "haiku", "--replay", recording])
  expect({ exitCode: again.exitCode, text: again.stdout }).toMatchObject({ exitCode: 0 })
  expect(server.chats).toHaveLength(requests)
  room.task("one")
  expect((await room.acode(["agent", "run", "one", "--model", "fake"])).exitCode).toBe(0)
  expect(await check(room.temp)).toEqual([])
})
