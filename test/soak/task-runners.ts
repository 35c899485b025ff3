import { readFileSync } from "node:fs"
import { join } from "node:path"
import { runAcode, startAcode } from "../support/acode.ts"
import { check } from "../support/checker/checker.ts"
import { crashedTask } from "../support/crash/task-crashes.ts"
import { says } from "../support/model-server/replies.ts"
import { startModelServer } from "../support/model-server/server.ts"
import { crashedPipeline } from "../support/pipeline/pipeline-crashes.ts"
import { taskViolations, taskWorkspace } from "../support/task-workspace.ts"
import { inParallel, type Programme } from "./programme.ts"

const runners = 8
const killsMax = 20
/** Tasks that a process executes at the same time. */
const width = 4

/** Tasks of one workspace, executed by many processes of which some are killed: each is completed exactly once. */
export const taskRunners: Programme = {
  name: "task-runners",
  summary: `task, executed by ${runners} processes with ${killsMax} random kills`,
  count: 1000,
  run: async ({ count, random, progress }) => {
    using room = taskWorkspace()
    const ids = Array.from({ length: count }, (_, index) => `t${String(index).padStart(5, "0")}`)
    for (const id of ids) room.task(id)
    const requests = new Map<string, number>()
    await using server = await startModelServer({
      protocol: "ollama",
      answer: ({ body }) => {
        const id = /Task ID:\*\* (t\d{5})/.exec(JSON.stringify(body))?.[1] ?? "none"
        requests.set(id, (requests.get(id) ?? 0) + 1)
        return says(`output of ${id}`)
      },
    })
    const config = { schema_version: "1", model: { endpoint: server.endpoint, name: "fake" } }
    room.temp.write("../config/acode/config.yml", JSON.stringify(config))
    const args = ["agent", "run", "--pending", "--parallel", String(width)]
    const env = { ...room.temp.environment, HOME: room.temp.outside }
    const options = { cwd: room.temp.root, env, timeoutMs: 3_600_000 }
    const killed = Math.min(killsMax, Math.floor(count / 10))
    let kills = killed
    const told: string[] = []
    const runner = async () => {
      for (;;) {
        await using running = startAcode(args, options)
        const isKilled = kills > 0
        if (isKilled) {
          kills -= 1
          setTimeout(() => running.kill("SIGKILL"), 200 + random.whole(3_000))
        }
        const { exitCode, signal, stderr } = await running.ended
        if (signal !== "SIGKILL") {
          if (exitCode !== 0) told.push(`a runner ended with ${exitCode}: ${stderr}`)
          return
        }
      }
    }
    await Promise.all(Array.from({ length: runners }, runner))
    const last = await runAcode(args, options)
    if (last.exitCode !== 0) told.push(`the last runner ended with ${last.exitCode}: ${last.stderr}`)
    progress(count)
    const open = ids.filter(id => room.stored(id).status !== "completed")
    const outputOf = (id: string) => readFileSync(join(room.temp.root, `out/${id}.md`), "utf8")
    const wrong = ids.filter(id => !open.includes(id) && outputOf(id) !== `output of ${id}`)
    // A request is repeated only where a process died before it had recorded the reply.
    const repeated = [...requests.values()].reduce((sum, many) => sum + many - 1, 0)
    return [
      ...told,
      ...open.map(id => `${id} is ${room.stored(id).status}`),
      ...wrong.map(id => `the output of ${id} is ${outputOf(id)}`),
      ...(repeated > killed * width ? [`${repeated} requests were repeated`] : []),
      ...taskViolations(room.temp),
      ...(await check(room.temp)),
    ]
  },
}

/** A task, or a pipeline over HTTP, whose process is killed at a random point, and half of the times again. */
export const taskKills: Programme = {
  name: "task-kills",
  summary: "task or pipeline, killed at a random point and in its recovery",
  count: 200,
  run: ({ count, random, progress }) =>
    inParallel(count, 2, async index => {
      progress(index)
      const again = random.whole(2) === 0 ? null : 1 + random.whole(80)
      const isPipeline = random.whole(2) === 0
      const found = isPipeline
        ? await crashedPipeline(1 + random.whole(640), again)
        : await crashedTask(1 + random.whole(127), again)
      return found ?? []
    }),
}

/** Beyond every point of the pipeline: two processes at once do not always reach as many. */
const pointsMax = 900

/**
 * The pipeline of three steps, killed at every point in order, and once more at each with its recovery killed at a
 * random one.
 */
export const pipelinePoints: Programme = {
  name: "pipeline-points",
  summary: "points of a pipeline with a review, killed there, and there and in its recovery",
  count: pointsMax,
  run: async ({ count, random, progress }) => {
    let reached = 0
    const found = await inParallel(count, 2, async index => {
      const point = index + 1
      const again = 1 + random.whole(100)
      const once = await crashedPipeline(point, null)
      if (once === null) return []
      const twice = await crashedPipeline(point, again)
      reached += 1
      progress(reached)
      return [...once, ...(twice ?? [])]
    })
    return reached === 0 ? ["no point was reached"] : found
  },
}
