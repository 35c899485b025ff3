import { describe, expect, test } from "bun:test"
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { check } from "../../support/checker/checker.ts"
import type { Received } from "../../support/model-server/contract.ts"
import { pipelineRoom } from "../../support/pipeline/pipeline-crashes.ts"
import { type TaskWorkspace, taskViolations } from "../../support/task-workspace.ts"

const isReview = ({ body }: Received) => JSON.stringify(body).includes("You direct the work")
const verdict = (text: string) => JSON.stringify({ verdict: text, summary: "so it is" })

/** A point of the pipeline behind its first task. */
const midway = "330"

function taskFiles({ temp }: TaskWorkspace): readonly string[] {
  return readdirSync(join(temp.root, "tasks")).map(name => join(temp.root, "tasks", name))
}

describe("a pipeline", () => {
  test("whose tasks cannot be written says so, and asks no model", async () => {
    await using made = await pipelineRoom()
    const { room, server, file } = made
    room.temp.write("tasks", "a file where a folder has to be")
    const run = await room.acode(["agent", "pipeline", file])
    expect([run.exitCode, run.stdout]).toEqual([30, expect.stringContaining("WORKSPACE_WRITE_FAILED")])
    expect(`${run.stdout}${run.stderr}`).not.toContain("acode made a mistake")
    expect(server.chats).toHaveLength(0)
    expect(await check(room.temp)).toEqual([])
  })

  test("that was killed, and of whose tasks one is no task any more, says which; corrected, it is taken to its end", async () => {
    await using made = await pipelineRoom()
    const { room, file } = made
    const killed = await room.acode(["agent", "pipeline", file], { ACODE_FAILPOINT: midway })
    expect(killed.signal).toBe("SIGKILL")
    const before = taskFiles(room).map(path => [path, readFileSync(path, "utf8")] as const)
    expect(before.length).toBeGreaterThan(1)
    for (const [path] of before) writeFileSync(path, "not a task")
    const broken = await room.acode(["agent", "run", "--pending"])
    expect([broken.exitCode, broken.stderr]).toEqual([1, expect.stringContaining("TASK_INVALID: tasks/")])
    expect(`${broken.stdout}${broken.stderr}`).not.toContain("acode made a mistake")
    for (const [path, text] of before) writeFileSync(path, text)
    expect((await room.acode(["agent", "run", "--pending"])).exitCode).toBe(0)
    expect([...taskViolations(room.temp), ...(await check(room.temp))]).toEqual([])
  })

  test("that was killed, and whose output is rejected in the end, ends the command that finishes it with 50", async () => {
    await using made = await pipelineRoom(received => (isReview(received) ? verdict("REJECT") : "words"))
    const { room, file } = made
    expect((await room.acode(["agent", "pipeline", file], { ACODE_FAILPOINT: midway })).signal).toBe(
      "SIGKILL",
    )
    const run = await room.acode(["agent", "run", "--pending"])
    expect([run.exitCode, run.stdout]).toEqual([
      50,
      expect.stringMatching(/✗ .* was rejected; reviews\/.*-1\.md says why \(exit 50\)/),
    ])
    expect(await check(room.temp)).toEqual([])
  })

  test("whose output somebody removes while it is reviewed does not go on without it", async () => {
    const step = "  - { type: sequential, skill: "
    const text = `id: p\ngoal: g\nsteps:\n${step}plain }\n  - { type: review, reviewer: director }\n${step}other }\n`
    let outputs = ""
    await using made = await pipelineRoom(received => {
      if (!isReview(received)) return "words"
      rmSync(outputs, { recursive: true })
      return verdict("APPROVE")
    })
    const { room, server } = made
    outputs = join(room.temp.root, "outputs")
    const run = await room.acode(["agent", "pipeline", room.temp.write("p.yml", text)])
    expect([run.exitCode, run.stdout]).toEqual([
      30,
      expect.stringMatching(/outputs\/plain\/.* is missing or empty/),
    ])
    expect(server.chats).toHaveLength(2)
    expect(await check(room.temp)).toEqual([])
  })
})
