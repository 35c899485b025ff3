import { describe, expect, test } from "bun:test"
import { cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { seededRandom } from "../../soak/random.ts"
import { repositoryRoot, runAcode } from "../../support/acode.ts"
import { check } from "../../support/checker/checker.ts"
import { crashedPipeline, pipelineRoom, pipelineViolations } from "../../support/pipeline/pipeline-crashes.ts"
import { differences } from "../../support/plan/plan-report.ts"
import { taskViolations, taskWorkspace } from "../../support/task-workspace.ts"
import { readFileTree } from "../../support/workspace/file-tree.ts"
import { tempWorkspace } from "../../support/workspace/temp-workspace.ts"

const reply = (text: string, usage = { input: 5, output: 5 }) => ({ stage: "agent", text, usage })
const review = (verdict: string) => reply(JSON.stringify({ verdict, summary: "so it is" }))

test("the guide of the example says what works", async () => {
  const example = join(repositoryRoot, "examples/marketing")
  using temp = tempWorkspace()
  cpSync(example, temp.root, { recursive: true })
  const guide = readFileSync(join(repositoryRoot, "docs/tasks.md"), "utf8")
  const commands = (/```\n([\s\S]*?)```/.exec(guide)?.[1] ?? "").trim().split("\n")
  expect(commands.length).toBeGreaterThan(5)
  for (const line of commands) {
    const [, ...args] = line.split(" ")
    const { exitCode, stderr } = await runAcode(args, {
      cwd: temp.root,
      env: { ...temp.environment, HOME: temp.outside },
    })
    expect({ line, exitCode, stderr: exitCode === 0 ? "" : stderr }).toEqual({
      line,
      exitCode: 0,
      stderr: "",
    })
  }
})

describe("acode agent pipeline", () => {
  test("chains outputs, reviews them with one revision, over HTTP; undo restores every file", async () => {
    await using made = await pipelineRoom()
    const { room, server, file } = made
    const before = readFileTree(room.temp.root)
    const run = await room.acode(["agent", "pipeline", file])
    expect(run).toMatchObject({ exitCode: 0, stderr: expect.not.stringContaining("error") })
    expect([...pipelineViolations(room), ...taskViolations(room.temp), ...(await check(room.temp))]).toEqual(
      [],
    )
    // Three tasks, one revision, three reviews.
    expect(server.chats).toHaveLength(7)
    const asked = server.chats.map(({ body }) => JSON.stringify(body))
    expect(asked.filter(text => text.includes("first words of plain")).length).toBe(3)
    expect(asked.find(text => text.includes("## Revision Context"))).toContain("- **major**: longer")
    expect((await room.acode(["session", "undo", "--yes"])).exitCode).toBe(0)
    expect(differences("the files are as before", before, readFileTree(room.temp.root))).toEqual([])
  })

  test("stops at the first failure of a parallel step, and cancels the others", async () => {
    using room = taskWorkspace()
    const file = room.temp.write(
      "p.yml",
      "id: p\ngoal: g\nsteps:\n  - { type: parallel, skills: [plain, other] }\n  - { type: sequential, skill: third }\n",
    )
    const slow = { stage: "agent", fault: { kind: "slow", after_ms: 3_600_000 }, text: "never" }
    const run = await room.acode(["agent", "pipeline", file, "--script", room.script(slow, reply(" "))])
    expect(run).toMatchObject({ exitCode: 30, stdout: expect.stringContaining("RESPONSE_EMPTY") })
    const statuses = readdirSync(join(room.temp.root, "tasks")).map(name => {
      const { to, status } = room.stored(name.slice(0, -3))
      return `${to} ${status}`
    })
    // Which of the two is asked first, and waits, is not decided.
    expect(statuses.map(each => each.split(" ")[1]).sort()).toEqual(["cancelled", "failed"])
    expect(await check(room.temp)).toEqual([])
  })

  test("ends with 22 when an output is not approved in the end, and with 50 when it is rejected", async () => {
    const text = (more: string) =>
      `id: p\ngoal: g\nsteps:\n  - { type: sequential, skill: plain }\n  - { type: review, reviewer: other }\n${more}`
    using room = taskWorkspace()
    const file = room.temp.write("p.yml", text("limits: { max_revisions: 1 }\n"))
    const never = room.script(reply("one"), review("REVISE"), reply("two"), review("REVISE"))
    const limited = await room.acode(["agent", "pipeline", file, "--script", never])
    expect(limited).toMatchObject({
      exitCode: 22,
      stdout: expect.stringContaining("not approved after 2 reviews"),
    })
    // What the guide says: a person approves the output, and the remaining steps are a pipeline with it as an input.
    const [id = ""] = readdirSync(join(room.temp.root, "tasks")).map(name => name.slice(0, -3))
    const { output, status } = room.stored(id)
    expect(status).toBe("completed")
    const task = join(room.temp.root, `tasks/${id}.md`)
    writeFileSync(task, readFileSync(task, "utf8").replace("status: completed", "status: approved"))
    const rest = `id: q\ngoal: g\nsteps:\n  - { type: sequential, skill: third }\ninputs:\n  - { path: ${output.path} }\n`
    const remaining = await room.acode([
      ...["agent", "pipeline", room.temp.write("q.yml", rest), "--script", room.script(reply("three"))],
    ])
    expect(remaining.exitCode).toBe(0)
    expect(room.stored(id).status).toBe("approved")
    const rejected = await room.acode([
      "agent",
      "pipeline",
      file,
      "--script",
      room.script(reply("one"), review("REJECT")),
    ])
    expect([rejected.exitCode, rejected.stdout]).toEqual([
      50,
      expect.stringContaining("was rejected; reviews/"),
    ])
    const confused = await room.acode([
      "agent",
      "pipeline",
      file,
      "--max-retries",
      "0",
      "--script",
      room.script(reply("one"), reply("fine!"), reply("fine!")),
    ])
    expect(confused).toMatchObject({
      exitCode: 4,
      stdout: expect.stringContaining("the reply is not a review"),
    })
    expect(await check(room.temp)).toEqual([])
  })

  test("spends no more tokens than it may", async () => {
    using room = taskWorkspace()
    const file = room.temp.write(
      "p.yml",
      "id: p\ngoal: g\nsteps:\n  - { type: sequential, skill: plain }\n  - { type: sequential, skill: other }\nlimits: { max_tokens: 10 }\n",
    )
    const run = await room.acode([
      "agent",
      "pipeline",
      file,
      "--script",
      room.script(reply("one"), reply("two")),
    ])
    expect(run).toMatchObject({ exitCode: 22, stdout: expect.stringContaining("BUDGET_EXHAUSTED") })
  })

  test("names everything that is wrong with a pipeline, and begins nothing", async () => {
    using room = taskWorkspace()
    const file = room.temp.write(
      "p.yml",
      "id: a/b\ngoal: ''\nsteps:\n  - { type: sequential, skill: ../x }\n  - { type: parallel, skills: [] }\n  - { type: loop }\ninputs:\n  - { path: ../../etc/passwd }\n",
    )
    const run = await room.acode(["agent", "pipeline", file, "--script", room.script(reply("x"))])
    expect(run.exitCode).toBe(2)
    const problems = run.stderr.split("\n").filter(line => line.startsWith("  line"))
    expect(problems).toEqual([
      "  line 1, column 5: id is not an id (letters, digits, dot, dash and underscore)",
      "  line 2, column 7: goal is empty",
      "  line 4, column 32: steps.0.skill is not the name of a skill",
      "  line 5, column 31: steps.1.skills is empty",
      "  line 6, column 13: steps.2.type is not one of sequential, parallel, review",
      "  line 8, column 13: inputs.0.path is not a path below skills.workspace",
    ])
    const order = room.temp.write(
      "q.yml",
      "id: q\ngoal: g\nsteps:\n  - { type: review, reviewer: director }\n",
    )
    expect((await room.acode(["agent", "pipeline", order])).stderr).toContain("a review must follow a step")
    room.temp.write(".agents/skills/bare/SKILL.md", "no front matter")
    const skills = room.temp.write(
      "r.yml",
      "id: r\ngoal: g\nsteps:\n  - { type: sequential, skill: plain }\n  - { type: parallel, skills: [bare, plain] }\n  - { type: review, reviewer: nobody }\n",
    )
    const unusable = await room.acode(["agent", "pipeline", skills, "--script", room.script(reply("x"))])
    expect([
      unusable.exitCode,
      unusable.stderr.split("\n").filter(line => line.startsWith("  line")),
    ]).toEqual([
      2,
      [
        expect.stringMatching(
          /^ {2}line 5, column 32: steps\.1\.skills\.0 cannot be used: SKILL\.md, line 1/,
        ),
        "  line 6, column 31: steps.2.reviewer is not a skill that is found here: nobody",
      ],
    ])
    const missing = await room.acode(["agent", "pipeline", "missing.yml"])
    expect([missing.exitCode, missing.stderr]).toEqual([2, expect.not.stringContaining("FILE")])
    expect(existsSync(join(room.temp.root, "tasks"))).toBe(false)
    expect((await room.acode(["schema", "pipeline"])).stdout).toContain('"acode pipeline"')
  })

  test("has as many steps as the format allows, and not one more", async () => {
    using room = taskWorkspace()
    const step = "  - { type: sequential, skill: plain, requirements: more }\n"
    const text = (count: number) => `id: p\ngoal: g\nsteps:\n${step.repeat(count)}`
    const many = room.temp.write("many.yml", text(1001))
    expect(await room.acode(["agent", "pipeline", many])).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining("steps has more than 1000"),
    })
    // A thousand are read: the first one ends it, because the model has no reply.
    const most = room.temp.write("most.yml", text(1000))
    const run = await room.acode(["agent", "pipeline", most, "--script", room.script(reply(" "))])
    expect(run).toMatchObject({ exitCode: 30, stdout: expect.stringContaining("RESPONSE_EMPTY") })
    expect(await check(room.temp)).toEqual([])
  })

  test("that is killed is taken to its end by the next command, from any point", async () => {
    const random = seededRandom(1717)
    const once = [123, 100 + random.whole(500), 100 + random.whole(500)]
    const twice = [100 + random.whole(500), 100 + random.whole(500)]
    const found = [
      ...(await Promise.all(once.map(point => crashedPipeline(point, null)))),
      ...(await Promise.all(twice.map(point => crashedPipeline(point, 20 + random.whole(60))))),
    ]
    expect(found.flatMap(each => each ?? [])).toEqual([])
    expect(found.filter(each => each !== null).length).toBeGreaterThan(3)
  }, 120_000)
})
