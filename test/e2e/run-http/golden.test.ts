import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { readFileSync } from "node:fs"
import type { AgentRun, ReplyText } from "../../support/agent/agent-workspace.ts"
import { check } from "../../support/checker/checker.ts"
import { goldenScript, writeGoldenSession } from "../../support/crash/golden-session.ts"
import { rungOptions } from "../../support/model-server/rung-options.ts"
import { scriptedAnswers } from "../../support/model-server/scripted.ts"
import { startModelServer } from "../../support/model-server/server.ts"
import { missingSandbox } from "../../support/requirement.ts"
import { type FileTree, readFileTree } from "../../support/workspace/file-tree.ts"
import { type HttpWorkspace, httpWorkspace } from "../../support/workspace/http-workspace.ts"

/** Without a sandbox each command would be asked about. */
const flags = missingSandbox === null ? [] : ["--yes=terminal"]

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

/** What the script says, with the edits made in the way that models are asked for which are no small ones. */
function repliesOf({ workspace }: HttpWorkspace): readonly ReplyText[] {
  const { replies }: { replies: ReplyText[] } = JSON.parse(readFileSync(goldenScript(workspace), "utf8"))
  return replies.map(reply => (Array.isArray(reply["calls"]) ? replacing(reply, reply["calls"]) : reply))
}

function replacing(reply: ReplyText, calls: readonly ScriptCall[]): ReplyText {
  return { ...reply, calls: calls.flatMap(call => edits(call) ?? [call]) }
}

interface ScriptCall {
  readonly tool: string
  readonly args: Readonly<Record<string, unknown>>
}

/** Null for what is no edit, or one of the right kind. */
function edits({ tool, args: { path, content, patch } }: ScriptCall): readonly ScriptCall[] | null {
  if (patch !== undefined)
    return ["a", "b"].map(name => edit(`src/${name}.ts`, `const ${name} = 1`, `const ${name} = 2`))
  if (tool !== "write_file") return null
  return path === "tool.sh"
    ? [edit(path, "exit 0", "exit 1")]
    : [{ tool: "create_file", args: { path, content } }]
}

function edit(path: string, search: string, replace: string): ScriptCall {
  return { tool: "modify_file", args: { path, edits: [{ search, replace }] } }
}

let scripted: FileTree
beforeAll(async () => {
  using room = httpWorkspace({ endpoint: null, more: approvals })
  writeGoldenSession(room.workspace)
  const runs = await driven(room, room.run(...flags), () => room.resume())
  expect(runs.map(({ exitCode }) => exitCode)).toEqual([10, 10, 0])
  scripted = readFileTree(room.workspace.root)
}, 60_000)

const rooms: HttpWorkspace[] = []
afterAll(() => {
  for (const room of rooms) room[Symbol.dispose]()
})

describe.each(["ollama", "openai", "anthropic"] as const)("over HTTP with the protocol %s", protocol => {
  test.each(rungOptions)(
    "the golden session comes to the same files with calls of the kind %s",
    async (rung, can) => {
      const room = httpWorkspace({ endpoint: null })
      rooms.push(room)
      writeGoldenSession(room.workspace)
      const answer = scriptedAnswers(repliesOf(room))
      await using server = await startModelServer({ protocol, answer, ...can })
      const parameters = { context_window: 65_536 }
      const model = { provider: protocol, parameters }
      room.configure({ endpoint: server.endpoint, model, more: approvals })
      const runs = await driven(room, room.ask("--max-turns", "20", ...flags), () => room.goOn())
      expect(runs.map(({ exitCode, stderr }) => [exitCode, stderr.includes("error")])).toEqual([
        [10, false],
        [10, false],
        [0, false],
      ])
      expect(runs[0]?.data("session.started")[0]).toMatchObject({
        agent: {
          selection: { protocol, endpoint: server.endpoint, executor: { rung, editFormat: "replace" } },
        },
      })
      expect(readFileTree(room.workspace.root)).toEqual(scripted)
      expect(await check(room.workspace)).toEqual([])
      const asked = runs.flatMap(run => run.data("model.requested"))
      expect(new Set(asked.map(({ model: name, endpoint }) => `${name} ${endpoint}`))).toEqual(
        new Set([`fake ${server.endpoint}`]),
      )
    },
    60_000,
  )
})
