import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { check } from "../checker/checker.ts"
import type { FakeServer, Received } from "../model-server/contract.ts"
import { says } from "../model-server/replies.ts"
import { startModelServer } from "../model-server/server.ts"
import { allRows } from "../plan/plan-report.ts"
import { type TaskWorkspace, taskViolations, taskWorkspace } from "../task-workspace.ts"

/** Two skills at once behind a third one; the output of `other` is revised once. */
const pipelineText = JSON.stringify({
  id: "launch",
  goal: "Launch",
  requirements: "Say it.",
  steps: [
    { type: "sequential", skill: "plain" },
    { type: "parallel", skills: ["other", "third"] },
    { type: "review", reviewer: "director" },
  ],
})

export interface PipelineRoom extends AsyncDisposable {
  readonly room: TaskWorkspace
  readonly server: FakeServer
  /** The path of the pipeline. */
  readonly file: string
}

/** A workspace with a pipeline, and a server that answers by what it is asked, in whatever order that is. */
export async function pipelineRoom(
  answer: (received: Received, index: number) => string = answerFor,
): Promise<PipelineRoom> {
  const room = taskWorkspace()
  const server = await startModelServer({
    protocol: "ollama",
    answer: (received, index) => says(answer(received, index)),
  })
  const config = { schema_version: "1", model: { endpoint: server.endpoint, name: "fake" } }
  room.temp.write("../config/acode/config.yml", JSON.stringify(config))
  const file = join(room.temp.outside, "launch.json")
  writeFileSync(file, pipelineText)
  return {
    room,
    server,
    file,
    [Symbol.asyncDispose]: async () => {
      await server[Symbol.asyncDispose]()
      room[Symbol.dispose]()
    },
  }
}

function answerFor({ body }: Received): string {
  const text = JSON.stringify(body)
  if (text.includes("You direct the work"))
    return text.includes("first words of other")
      ? '{"verdict": "APPROVE", "summary": "short", "findings": [{"severity": "major", "description": "longer"}]}'
      : '{"verdict": "APPROVE", "summary": "fine"}'
  const skill = /You do (\w+)\./.exec(text)?.[1] ?? "nobody"
  return `${text.includes("## Revision Context") ? "better" : "first"} words of ${skill}`
}

/** Null when there is no such point, else what is not as it must be after the pipeline was taken to its end. */
export async function crashedPipeline(
  point: number,
  again: number | null,
): Promise<readonly string[] | null> {
  await using made = await pipelineRoom()
  const { room } = made
  const first = await continuePipeline(made, point)
  if (first.signal !== "SIGKILL") return null
  if (again !== null) await continuePipeline(made, again)
  const last = await continuePipeline(made, null)
  const place = `killed at ${point}${again === null ? "" : ` and at ${again} of the recovery`}`
  const found = [
    ...(last.exitCode === 0 ? [] : [`it ended with ${last.exitCode}: ${last.stdout} ${last.stderr}`]),
    ...pipelineViolations(room),
    ...taskViolations(room.temp),
    ...(await check(room.temp)),
  ]
  return found.map(each => `${place}: ${each}`)
}

/**
 * Runs the command that a person would type: the one that was killed once more, unless it had finished. A
 * process that dies again is one that the next `agent run` has started.
 */
function continuePipeline(
  { room, file }: PipelineRoom,
  failpoint: number | null,
): ReturnType<TaskWorkspace["acode"]> {
  const recorded = new Set(allRows(room.temp).map(({ type }) => type))
  const isOver = recorded.has("session.finished")
  const isRun = isOver || (recorded.has("pipeline.planned") && failpoint !== null)
  const args = isRun ? ["agent", "run", "--pending"] : ["agent", "pipeline", file]
  return room.acode(args, failpoint === null ? {} : { ACODE_FAILPOINT: String(failpoint) })
}

/** Three tasks, each as it has to be, and one session that completed. */
export function pipelineViolations({ temp, stored }: TaskWorkspace): string[] {
  const found = readdirSync(join(temp.root, "tasks")).map(name => stored(name.slice(0, -3)))
  const ends = allRows(temp).filter(({ type }) => type === "session.finished")
  const texts = found.map(({ to, status, revisionCount, output }) => {
    const text = readFileSync(join(temp.root, output.path), "utf8")
    return `${to} ${status} ${revisionCount} ${text}`
  })
  const expected = [
    "other approved 1 better words of other",
    "plain completed 0 first words of plain",
    "third approved 0 first words of third",
  ]
  return [
    ...(JSON.stringify(texts.sort()) === JSON.stringify(expected)
      ? []
      : [`the tasks are ${texts.join(" | ")}`]),
    ...(ends.length === 1 && ends[0]?.parsed["state"] === "COMPLETED"
      ? []
      : [`${ends.length} sessions ended`]),
  ]
}
