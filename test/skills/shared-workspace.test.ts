import { expect, test } from "bun:test"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { taskText } from "../../src/domain/skill/task-text.ts"
import {
  AgentExecutor,
  createDefaultConfig,
  MockClaudeClient,
  openSkillWorkspace,
} from "../../src/library.ts"
import { collect } from "../../src/provider/reply.ts"
import { createScripted } from "../../src/provider/script/scripted.ts"
import { exampleTask } from "../domain/skill/task-fixture.ts"
import { scriptOf } from "../provider/provider-kit.ts"
import { agentRoom } from "../support/agent/agent-room.ts"
import { check } from "../support/checker/checker.ts"
import { eventually } from "../support/eventually.ts"
import { allRows } from "../support/plan/plan-report.ts"
import { greeting } from "../support/script-replies.ts"

const task = exampleTask({ id: "one", to: "plain", output: { path: "out/one.md", format: "markdown" } })
const files = {
  ".agents/skills/plain/SKILL.md": "---\nname: plain\ndescription: d\n---\nDo it.\n",
  "context/product-marketing-context.md": "We sell.",
  "tasks/one.md": taskText(task),
}

test("a task that is answered while a run has the workspace is written after the run, which stays verified", async () => {
  using room = await agentRoom(greeting(), { files })
  await using tasks = openSkillWorkspace(room.workspace.root, { variables: room.environment })
  const reply = Promise.withResolvers<void>()
  const client = new MockClaudeClient()
  const gated = {
    complete: (request: Parameters<typeof client.complete>[0]) =>
      reply.promise.then(() => client.complete(request)),
  }
  const executed = new AgentExecutor(gated, tasks, createDefaultConfig()).execute(task)
  const status = () =>
    /^status: (\w+)$/m.exec(readFileSync(join(room.workspace.root, "tasks/one.md"), "utf8"))?.[1]
  await eventually("the task is in progress", () => status() === "in_progress" || null)

  const working = Promise.withResolvers<void>()
  const hasAsked = Promise.withResolvers<void>()
  const scripted = createScripted(scriptOf(JSON.parse(JSON.stringify(greeting()))))
  const run = room.drive({
    ask: async (request, signal) => {
      if (request.stage === "executor") {
        hasAsked.resolve()
        await working.promise
      }
      return collect(scripted.ask(request, signal), signal)
    },
  })
  await hasAsked.promise
  reply.resolve()
  const isReplied = () => allRows(room.workspace).some(({ type }) => type === "task.replied")
  await eventually("the reply is recorded", () => isReplied() || null)
  expect(status()).toBe("in_progress")
  working.resolve()
  expect(await run).toMatchObject({ exitCode: 0, unverified: false })
  expect(await executed).toMatchObject({ status: "completed", outputPath: "out/one.md" })
  await tasks.close()

  const rows = allRows(room.workspace)
  const ended = rows.find(({ type, stream }) => type === "session.finished" && stream === room.sessionId)
  const written = rows.filter(({ type, stream }) => type === "tool_call.settled" && stream !== room.sessionId)
  // The claim came before the run, the output and the last status behind it.
  expect(written.map(({ position }) => position > (ended?.position ?? 0))).toEqual([false, true, true])
  expect(await check(room.workspace)).toEqual([])
})
