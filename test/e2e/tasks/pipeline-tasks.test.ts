import { describe, expect, test } from "bun:test"
import { readdirSync } from "node:fs"
import { join } from "node:path"
import { acodeProgram } from "../../support/acode.ts"
import { check } from "../../support/checker/checker.ts"
import { pipelineRoom, pipelineViolations } from "../../support/pipeline/pipeline-crashes.ts"
import { allRows } from "../../support/plan/plan-report.ts"
import { taskViolations } from "../../support/task-workspace.ts"

describe("the tasks of a pipeline", () => {
  test("are left to it by other commands, until it has ended", async () => {
    const others: { readonly exitCode: number; readonly output: string }[] = []
    let command: (...args: readonly string[]) => void = () => undefined
    await using made = await pipelineRoom((_, index) => {
      // The first request: one task is in progress, and the other one still pending.
      if (index === 0) command("--pending")
      if (index === 0) for (const id of ids()) command(id)
      return "words"
    })
    const { room, server } = made
    const script = room.script({ stage: "agent", text: "of another command" })
    const ids = () => readdirSync(join(room.temp.root, "tasks")).map(name => name.slice(0, -3))
    command = (...args) => {
      // Blocks this process, and so the server: the pipeline waits for its reply meanwhile.
      const { exitCode, stdout, stderr } = Bun.spawnSync(
        [acodeProgram(), "agent", "run", ...args, "--script", script],
        { cwd: room.temp.root, env: { ...process.env, ...room.temp.environment, HOME: room.temp.outside } },
      )
      others.push({ exitCode, output: `${stdout}${stderr}` })
    }
    const text =
      "id: p\ngoal: g\nsteps:\n  - { type: parallel, skills: [plain, other] }\nlimits: { max_parallel: 1 }\n"
    const run = await room.acode(["agent", "pipeline", room.temp.write("p.yml", text)])
    expect([run.exitCode, server.chats.length]).toEqual([0, 2])
    const [pending, ...named] = others
    expect(pending).toEqual({ exitCode: 0, output: expect.stringContaining("no task may be executed") })
    expect(named).toEqual([
      { exitCode: 1, output: expect.stringContaining("TASK_CLAIMED") },
      { exitCode: 1, output: expect.stringContaining("TASK_CLAIMED") },
    ])
    const refusals = named.filter(({ output }) => output.includes("executes it as part of a pipeline"))
    expect(refusals).toHaveLength(1)
    expect([...taskViolations(room.temp), ...(await check(room.temp))]).toEqual([])

    // Now that it has ended they are tasks like any other.
    const [id = ""] = ids()
    expect((await room.acode(["agent", "run", id, "--script", script])).stdout).toContain(
      "TASK_NOT_EXECUTABLE",
    )
  })

  test("are not made again when the command that was killed is typed again, and are after its end", async () => {
    await using made = await pipelineRoom()
    const { room, server, file } = made
    const killed = await room.acode(["agent", "pipeline", file], { ACODE_FAILPOINT: "330" })
    expect(killed.signal).toBe("SIGKILL")
    const other = room.temp.write("q.yml", "id: q\ngoal: g\nsteps:\n  - { type: sequential, skill: third }\n")
    const again = await room.acode(["agent", "pipeline", file, "--parallel", "1"])
    expect([again.exitCode, again.stderr]).toEqual([
      0,
      expect.stringContaining("that was the pipeline launch: it was resumed, and is not begun again"),
    ])
    expect(pipelineViolations(room)).toEqual([])
    const asked = server.chats.length
    expect((await room.acode(["agent", "pipeline", other])).exitCode).toBe(0)
    expect(server.chats.length).toBe(asked + 1)
    expect((await room.acode(["agent", "pipeline", file])).exitCode).toBe(0)
    const planned = allRows(room.temp).filter(({ type }) => type === "pipeline.planned")
    expect(planned.map(({ parsed }) => parsed["pipelineId"])).toEqual(["launch", "q", "launch"])
    expect([...taskViolations(room.temp), ...(await check(room.temp))]).toEqual([])
  })

  test("that was killed are finished before another pipeline begins", async () => {
    await using made = await pipelineRoom()
    const { room, file } = made
    expect((await room.acode(["agent", "pipeline", file], { ACODE_FAILPOINT: "330" })).signal).toBe("SIGKILL")
    const other = room.temp.write("q.yml", "id: q\ngoal: g\nsteps:\n  - { type: sequential, skill: third }\n")
    const run = await room.acode(["agent", "pipeline", other])
    expect([run.exitCode, run.stderr]).toEqual([0, expect.not.stringContaining("not begun again")])
    const ends = allRows(room.temp).filter(({ type }) => type === "session.finished")
    expect(ends.map(({ parsed }) => parsed["state"])).toEqual(["COMPLETED", "COMPLETED"])
    expect(await check(room.temp)).toEqual([])
  })
})

test("session show names each call of a pipeline once, below the step that made it", async () => {
  await using made = await pipelineRoom()
  const { room, file } = made
  expect((await room.acode(["agent", "pipeline", file])).exitCode).toBe(0)
  const { stdout } = await room.acode(["session", "show"])
  const shown = [...stdout.matchAll(/evidence (cal_\S+)/g)].map(([, id = ""]) => id)
  const calls = allRows(room.temp).filter(({ type }) => type === "tool_call.requested")
  expect(shown.toSorted()).toEqual(calls.map(({ parsed }) => String(parsed["callId"])).toSorted())
  // Three tasks, one revision and three reviews.
  const steps = [...stdout.matchAll(/^\[STEP (\d+)\/(\d+)\]/gm)].map(
    ([, index, count]) => `${index}/${count}`,
  )
  expect(steps).toEqual(["1/7", "2/7", "3/7", "4/7", "5/7", "6/7", "7/7"])
})
