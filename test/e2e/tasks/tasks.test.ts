import { describe, expect, test } from "bun:test"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { seededRandom } from "../../soak/random.ts"
import { taskRunners } from "../../soak/task-runners.ts"
import { acodeProgram } from "../../support/acode.ts"
import { check } from "../../support/checker/checker.ts"
import { crashedTask } from "../../support/crash/task-crashes.ts"
import { eventually } from "../../support/eventually.ts"
import { says } from "../../support/model-server/replies.ts"
import { startModelServer } from "../../support/model-server/server.ts"
import { taskViolations, taskWorkspace } from "../../support/task-workspace.ts"

const says2 = (text: string) => ({ stage: "agent", text, usage: { input: 3, output: 4 } })

describe("acode agent run", () => {
  test("executes tasks by their urgency, tells each result, and undo restores all files", async () => {
    using room = taskWorkspace()
    room.task("later", { priority: "P3" })
    room.task("first", { priority: "P0" })
    const before = readFileSync(join(room.temp.root, "tasks/first.md"), "utf8")
    const script = room.script(says2("one"), says2("two"))
    const run = await room.acode(["agent", "run", "--pending", "--parallel", "1", "--script", script])
    expect(run).toMatchObject({ exitCode: 0, stderr: "" })
    expect(
      run.stdout
        .replace(/\(\d.*? tokens\)/g, "(…)")
        .split("\n")
        .slice(0, 2),
    ).toEqual(["✓ first → out/first.md (…)", "✓ later → out/later.md (…)"])
    const read = (path: string) => readFileSync(join(room.temp.root, path), "utf8")
    expect([read("out/first.md"), read("out/later.md")]).toEqual(["one", "two"])
    expect(await check(room.temp)).toEqual([])
    const shown = await room.acode(["agent", "show", "first"])
    expect(shown.stdout).toContain("completed, 1 reply, 7 tokens")
    expect((await room.acode(["session", "show"])).exitCode).toBe(0)
    expect((await room.acode(["session", "undo", "--yes"])).exitCode).toBe(0)
    expect(read("tasks/first.md")).toBe(before)
    expect(await Bun.file(join(room.temp.root, "out/first.md")).exists()).toBe(false)
    expect((await room.acode(["agent", "run"])).exitCode).toBe(2)
  })

  test("takes the file of a task for its id, and no other file", async () => {
    using room = taskWorkspace({ "other/one.md": "mine\n" })
    room.task("one")
    const script = room.script(says2("words"))
    const at = async (directory: string, ...args: readonly string[]) => {
      const through = ["sh", "-c", 'cd "$1" && shift && exec "$0" "$@"', acodeProgram(), directory]
      const env = { ...process.env, ...room.temp.environment, HOME: room.temp.outside }
      const child = Bun.spawn([...through, ...args], { cwd: room.temp.root, env, stdout: "pipe" })
      return [await child.exited, await new Response(child.stdout).text()] as const
    }
    const other = await at(".", "agent", "run", "other/one.md", "--script", script)
    expect(other).toEqual([2, expect.stringContaining('"other/one.md" is not the id of a task')])
    expect((await at("tasks", "-C", "..", "agent", "run", "one.md", "--script", script))[0]).toBe(0)
    expect((await at(".", "agent", "show", "tasks/one.md"))[1]).toContain("  status    completed")
    expect(readFileSync(join(room.temp.root, "other/one.md"), "utf8")).toBe("mine\n")
  })

  test.each([
    ["whose reader goes away", "| head -n 1", 0],
    ["whose output is lost", "> /dev/full", 1],
  ])("%s begins no further task, and finishes those that it began", async (_, where, exitCode) => {
    using room = taskWorkspace()
    const ids = Array.from({ length: 12 }, (_, index) => `t${index}`)
    for (const id of ids) room.task(id)
    const script = room.script(...ids.map(says2))
    const line = `"$0" agent run --pending --parallel 2 --json --script "$1" ${where}; exit "\${PIPESTATUS[0]}"`
    const env = { ...process.env, ...room.temp.environment, HOME: room.temp.outside }
    const child = Bun.spawn(["bash", "-c", line, acodeProgram(), script], {
      cwd: room.temp.root,
      env,
      stdout: "ignore",
      stderr: "pipe",
    })
    expect(await child.exited).toBe(exitCode)
    expect(await new Response(child.stderr).text()).not.toContain("could not be ended")
    const statuses = ids.map(id => room.stored(id).status)
    expect(statuses.filter(status => status !== "pending" && status !== "completed")).toEqual([])
    expect(statuses).toContain("pending")
    const [session] = JSON.parse((await room.acode(["session", "list", "--json"])).stdout)
    expect(session).toMatchObject({ state: "COMPLETED" })
    expect([...taskViolations(room.temp), ...(await check(room.temp))]).toEqual([])
  })

  test("prints every event as a line with --json, and the result as the last one", async () => {
    using room = taskWorkspace()
    room.task("one")
    const run = await room.acode(["agent", "run", "one", "--json", "--script", room.script(says2("x"))])
    const lines = run.stdout
      .trim()
      .split("\n")
      .map(line => JSON.parse(line))
    expect(lines.map(({ type }) => type).filter(type => !type.startsWith("tool_call."))).toEqual([
      ...["session.started", "step.started", "task.claimed", "task.asked", "task.replied", "task.settled"],
      ...["step.finished", "session.finished", "result"],
    ])
    expect(lines.at(-1)).toMatchObject({
      exitCode: 0,
      session: lines[0].session,
      data: { taskId: "one", status: "completed", tokensUsed: { total: 7 }, outputPath: "out/one.md" },
    })
  })

  test("says what is wrong with each task that it cannot execute, and writes nothing", async () => {
    using room = taskWorkspace()
    room.task("done", { status: "completed" })
    room.temp.write("tasks/broken.md", "---\nid: broken\nstatus: soon\n---\n")
    const script = room.script(says2("x"))
    const run = async (id: string) => {
      const { exitCode, stdout } = await room.acode(["agent", "run", id, "--script", script])
      return [exitCode, stdout.split("\n")[1]?.trim().split(":")[0]]
    }
    expect(await run("done")).toEqual([1, "TASK_NOT_EXECUTABLE"])
    expect(await run("broken")).toEqual([1, "TASK_INVALID"])
    expect(await run("gone")).toEqual([2, "TASK_NOT_FOUND"])
    expect(await run("../x")).toEqual([2, "TASK_NOT_FOUND"])
    expect((await room.acode(["session", "list"])).stdout).toBe("")
    const listed = await room.acode(["agent", "list"])
    expect(listed.stdout.split("\n")[0]).toContain("broken")
    expect((await room.acode(["agent", "list", "--status", "completed", "--json"])).stdout).toContain(
      '"done"',
    )
  })

  test("is stopped by Ctrl-C: the task is cancelled, and a person resets it", async () => {
    using room = taskWorkspace()
    room.task("one")
    const slow = { stage: "agent", fault: { kind: "slow", after_ms: 3_600_000 }, text: "never" }
    await using running = room.start(["agent", "run", "one", "--script", room.script(slow)])
    await eventually("the task is in progress", () => room.stored("one").status === "in_progress" || null)
    const refused = await room.acode(["agent", "reset", "one", "--reason", "early"])
    expect(refused).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("works on it") })
    running.kill("SIGINT")
    expect((await running.ended).exitCode).toBe(130)
    expect(room.stored("one").status).toBe("cancelled")
    expect((await room.acode(["agent", "show", "one"])).stdout).toMatch(
      /failed, 0 replies.*\n {4}ABORTED: stopped while the model was asked$/m,
    )
    expect((await room.acode(["agent", "reset", "one"])).exitCode).toBe(2)
    expect((await room.acode(["agent", "reset", "one", "--reason", "again"])).exitCode).toBe(0)
    expect(room.stored("one").status).toBe("pending")
    const again = await room.acode(["agent", "reset", "one", "--reason", "again"])
    expect(again).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("ACODE-SKILL-002") })
    expect(await check(room.temp)).toEqual([])
  })

  test("left by a killed process is not resumed by hand, and says what finishes it", async () => {
    using room = taskWorkspace()
    room.task("one")
    const script = room.script(says2("x"))
    const died = await room.acode(["agent", "run", "one", "--script", script], { ACODE_FAILPOINT: "110" })
    expect(died.signal).toBe("SIGKILL")
    const resumed = await room.acode(["resume"])
    expect(resumed).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining("the next `acode agent run --pending` finishes"),
    })
    for (const verb of ["pause", "cancel"]) {
      const { stderr } = await room.acode([verb])
      expect(stderr).toContain("`acode agent run --pending` finishes one whose process was killed")
    }
    expect((await room.acode(["status"])).stdout).toContain("acode agent run --pending")
    expect((await room.acode(["agent", "run", "--pending", "--script", script])).exitCode).toBe(0)
    expect((await room.acode(["resume"])).stderr).toContain("executed tasks and has ended")
  })

  test("shows a task that was left in progress, and that nobody works on", async () => {
    using room = taskWorkspace()
    room.task("one", { status: "in_progress" })
    room.task("two")
    const listed = await room.acode(["agent", "list", "--stale"])
    expect(listed.stdout).toContain("(no process works on it)")
    expect(listed.stdout).not.toContain("two")
  })

  test("asks a server of this machine, with the model of the tier", async () => {
    using room = taskWorkspace()
    await using server = await startModelServer({ protocol: "ollama", answer: () => says("from a server") })
    const config = { schema_version: "1", model: { endpoint: server.endpoint, name: "fake" } }
    writeFileSync(join(room.temp.configHome, "config.yml"), "")
    room.temp.write("../config/acode/config.yml", JSON.stringify(config))
    room.task("one")
    const run = await room.acode([
      "agent",
      "run",
      "one",
      "--timeout",
      "30",
      "--max-retries",
      "0",
      "--max-tokens",
      "64",
    ])
    expect(run).toMatchObject({ exitCode: 0 })
    expect(readFileSync(join(room.temp.root, "out/one.md"), "utf8")).toBe("from a server")
    expect(server.chats.at(-1)?.body).toMatchObject({ model: "fake", options: { num_predict: 64 } })
  })

  test("records what a model says, and says it again without one", async () => {
    using room = taskWorkspace()
    room.task("one")
    const recording = join(room.temp.outside, "recording.jsonl")
    const script = room.script(says2("recorded"))
    expect(
      (await room.acode(["agent", "run", "one", "--script", script, "--record", recording])).exitCode,
    ).toBe(0)
    room.task("one")
    const replayed = await room.acode(["agent", "run", "one", "--replay", recording, "--tier", "haiku"])
    expect(replayed).toMatchObject({ exitCode: 0 })
    expect(readFileSync(join(room.temp.root, "out/one.md"), "utf8")).toBe("recorded")
  })

  test("with --mode burst only after a consent that names the provider", async () => {
    using room = taskWorkspace()
    room.task("one")
    const { exitCode, stderr } = await room.acode(["agent", "run", "one", "--mode", "burst"])
    expect({ exitCode, stderr }).toEqual({ exitCode: 33, stderr: expect.stringContaining("ACODE-MODEL-005") })
    expect(room.stored("one").status).toBe("pending")
  })
})

describe("several runners", () => {
  test("of one workspace complete each task once, although some of them are killed", async () => {
    const progress = () => undefined
    const slice = { count: 30, random: seededRandom(1_000), sandboxes: [], progress }
    expect(await taskRunners.run(slice)).toEqual([])
  }, 120_000)

  test("work beside a session of the agent lane, whose tree stays as it verified it", async () => {
    using room = taskWorkspace()
    room.task("one")
    const step = { title: "s", tool: "file_write", arguments: { path: "hello.txt", contents: "hello\n" } }
    const plan = {
      plan_id: "p",
      intent: "MUTATE",
      evidence_referenced: [],
      steps: [{ step_id: "s1", ...step, title: undefined }],
    }
    const planFile = room.temp.write("../plan.json", JSON.stringify(plan))
    expect((await room.acode(["plan", "approve", planFile, "--yes"])).exitCode).toBe(0)
    const slow = { stage: "agent", fault: { kind: "slow", after_ms: 3_600_000 }, text: "x" }
    await using running = room.start(["agent", "run", "one", "--script", room.script(slow)])
    await eventually("the task is in progress", () => room.stored("one").status === "in_progress" || null)
    // While the model answers the workspace belongs to nobody.
    expect((await room.acode(["plan", "run", planFile])).exitCode).toBe(0)
    expect(room.stored("one").status).toBe("in_progress")
    running.kill("SIGINT")
    expect((await running.ended).exitCode).toBe(130)
    expect(room.stored("one").status).toBe("cancelled")
    expect(await check(room.temp)).toEqual([])
  })
})

describe("a runner that is killed", () => {
  const random = seededRandom(17)

  test("at any point leaves a task that the next one finishes, without asking twice for a recorded reply", async () => {
    const points = Array.from({ length: 8 }, () => 60 + random.whole(60))
    const found = await Promise.all(points.slice(0, 4).map(point => crashedTask(point, null)))
    const twice = await Promise.all(points.slice(4).map(point => crashedTask(point, 5 + random.whole(20))))
    expect([...found, ...twice].flatMap(each => each ?? [])).toEqual([])
    expect(found.filter(each => each !== null).length).toBeGreaterThan(2)
  }, 120_000)
})
