import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { readFileSync } from "node:fs"
import type { AgentRun, ReplyText } from "../support/agent-workspace.ts"
import { check } from "../support/checker.ts"
import { type FileTree, readFileTree } from "../support/file-tree.ts"
import { goldenScript, writeGoldenSession } from "../support/golden-session.ts"
import { type HttpWorkspace, httpWorkspace } from "../support/http-workspace.ts"
import { scriptedAnswers } from "../support/model-server/scripted.ts"
import { startModelServer } from "../support/model-server/server.ts"

const approvals = { approvals: { non_interactive: "rest", timeout_seconds: 0 } }

/** Goes on until it is done, answering with yes whatever is asked. */
async function driven(room: HttpWorkspace, first: Promise<AgentRun>, goOn: () => Promise<AgentRun>) {
  const runs = [await first]
  for (let answers = 0; runs.at(-1)?.exitCode === 10 && answers < 5; answers++) {
    for (const { approvalId } of runs.at(-1)?.data("approval.requested") ?? [])
      expect((await room.acode("approve", String(approvalId))).exitCode).toBe(0)
    runs.push(await goOn())
  }
  return runs
}

function repliesOf({ workspace }: HttpWorkspace): readonly ReplyText[] {
  return (JSON.parse(readFileSync(goldenScript(workspace), "utf8")) as { replies: ReplyText[] }).replies
}

let scripted: FileTree
beforeAll(async () => {
  using room = httpWorkspace({ endpoint: null, more: approvals })
  writeGoldenSession(room.workspace)
  const runs = await driven(room, room.run(), () => room.resume())
  expect(runs.map(({ exitCode }) => exitCode)).toEqual([10, 10, 0])
  scripted = readFileTree(room.workspace.root)
}, 60_000)

const rooms: HttpWorkspace[] = []
afterAll(() => {
  for (const room of rooms) room[Symbol.dispose]()
})

describe.each(["ollama", "openai", "anthropic"] as const)("over HTTP with the protocol %s", protocol => {
  test("the golden session comes to the same files", async () => {
    const room = httpWorkspace({ endpoint: null })
    rooms.push(room)
    writeGoldenSession(room.workspace)
    const answer = scriptedAnswers(repliesOf(room))
    await using server = await startModelServer({ protocol, answer })
    const parameters = { context_window: 65_536 }
    const model = { provider: protocol, parameters }
    room.configure({ endpoint: server.endpoint, model, more: approvals })
    const runs = await driven(room, room.ask(), () => room.goOn())
    expect(runs.map(({ exitCode, stderr }) => [exitCode, stderr.includes("error")])).toEqual([
      [10, false],
      [10, false],
      [0, false],
    ])
    expect(runs[0]?.data("session.started")[0]).toMatchObject({
      agent: { selection: { protocol, endpoint: server.endpoint, executor: { rung: "native" } } },
    })
    expect(readFileTree(room.workspace.root)).toEqual(scripted)
    expect(await check(room.workspace)).toEqual([])
    const asked = runs.flatMap(run => run.data("model.requested"))
    expect(new Set(asked.map(({ model: name, endpoint }) => `${name} ${endpoint}`))).toEqual(
      new Set([`fake ${server.endpoint}`]),
    )
  }, 60_000)
})
