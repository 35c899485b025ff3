import { describe, expect, test } from "bun:test"
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { check } from "../../support/checker/checker.ts"
import { eventually } from "../../support/eventually.ts"
import { type TaskWorkspace, taskWorkspace } from "../../support/task-workspace.ts"

const says = (text: string) => ({ stage: "agent", text })
const precious = "export const precious = 1\n"
const out = (path: string) => ({ output: { path, format: "markdown" } })

function read({ temp }: TaskWorkspace, path: string): string {
  return readFileSync(join(temp.root, path), "utf8")
}

/** Sets a task back to pending and executes it. */
async function runAgain(room: TaskWorkspace, text: string, ...flags: readonly string[]) {
  expect((await room.acode(["agent", "reset", "one", "--reason", "again"])).exitCode).toBe(0)
  return run(room, text, ...flags)
}

function run(room: TaskWorkspace, text: string, ...flags: readonly string[]) {
  return room.acode(["agent", "run", "one", "--script", room.script(says(text)), ...flags])
}

describe("a task that came with a repository", () => {
  test("replaces no file of the user's, and asks no model, until a person agrees; undo restores the file", async () => {
    using room = taskWorkspace({ "src/main.ts": precious })
    room.task("one", out("src/main.ts"))
    const refused = await run(room, "evil")
    expect([refused.exitCode, refused.stdout]).toEqual([
      32,
      expect.stringContaining("`acode agent run one --overwrite`"),
    ])
    expect([read(room, "src/main.ts"), room.stored("one").status]).toEqual([precious, "pending"])
    expect((await room.acode(["session", "list"])).stdout).toBe("")
    expect((await run(room, "agreed", "--overwrite")).exitCode).toBe(0)
    expect(read(room, "src/main.ts")).toBe("agreed")
    expect((await room.acode(["session", "undo", "--yes"])).exitCode).toBe(0)
    expect([read(room, "src/main.ts"), room.stored("one").status]).toEqual([precious, "pending"])
    expect(await check(room.temp)).toEqual([])
  })

  test("reaches none by a symlink either, from wherever it begins", async () => {
    for (const [link, target, path] of [
      ["out", "src", "out/main.ts"],
      ["outputs", "src", "outputs/main.ts"],
      ["context", "src", "context/main.ts"],
      ["outputs/main.ts", "../src/main.ts", "outputs/main.ts"],
    ] as const) {
      using room = taskWorkspace({ "src/main.ts": precious, "outputs-keep": "" })
      const root = room.temp.root
      Bun.spawnSync(["rm", "-rf", join(root, "context")])
      mkdirSync(join(root, link, ".."), { recursive: true })
      symlinkSync(target, join(root, link))
      room.task("one", out(path))
      const refused = await run(room, "evil")
      expect({ link, exitCode: refused.exitCode, text: refused.stdout }).toMatchObject({ link, exitCode: 32 })
      expect(read(room, "src/main.ts")).toBe(precious)
    }
  })
})

describe("an output", () => {
  test.each(["../../up", "", ".git", "a/b"])(
    "of a skill whose squad can be no folder (%j) goes where the task says",
    async squad => {
      using room = taskWorkspace()
      const metadata = `metadata:\n  squad: ${JSON.stringify(squad)}\n`
      room.temp.write(
        ".agents/skills/plain/SKILL.md",
        `---\nname: plain\ndescription: Does plain.\n${metadata}---\nYou do plain.\n`,
      )
      room.task("one")
      const script = room.script({ stage: "agent", text: "words" }, { stage: "agent", text: "words" })
      const run = await room.acode(["agent", "run", "one", "--script", script])
      expect([run.exitCode, run.stdout]).toEqual([0, expect.stringContaining("→ out/one.md")])
      const step = "id: p\ngoal: g\nsteps:\n  - { type: sequential, skill: plain }\n"
      const pipeline = await room.acode([
        ...["agent", "pipeline", room.temp.write("p.yml", step), "--script", script],
      ])
      expect([pipeline.exitCode, pipeline.stdout]).toEqual([0, expect.stringContaining("→ outputs/plain/")])
    },
  )

  test("is replaced by its own task, unless somebody edited it or another task wrote it", async () => {
    using room = taskWorkspace()
    room.task("one", out("page.md"))
    expect((await run(room, "first")).exitCode).toBe(0)
    writeFileSync(
      join(room.temp.root, "tasks/one.md"),
      read(room, "tasks/one.md").replace("completed", "failed"),
    )
    expect((await runAgain(room, "second")).exitCode).toBe(0)
    expect(read(room, "page.md")).toBe("second")

    room.task("two", out("page.md"))
    const other = await room.acode(["agent", "run", "two", "--script", room.script(says("third"))])
    expect([other.exitCode, read(room, "page.md")]).toEqual([32, "second"])

    writeFileSync(join(room.temp.root, "page.md"), "by hand")
    room.task("one", out("page.md"))
    expect([(await run(room, "fourth")).exitCode, read(room, "page.md")]).toEqual([32, "by hand"])
    expect(await check(room.temp)).toEqual([])
  })

  test("in the folders of the lane is replaced, and undo restores it", async () => {
    const path = "outputs/any/one.md"
    using room = taskWorkspace({ [path]: "by hand" })
    room.task("one", out(path))
    expect([(await run(room, "new")).exitCode, read(room, path)]).toEqual([0, "new"])
    expect((await room.acode(["session", "undo", "--yes"])).exitCode).toBe(0)
    expect(read(room, path)).toBe("by hand")
  })

  test.each([
    ["appears", {}],
    ["is edited", { "outputs/one.md": "before" }],
  ] as const)(
    "that %s while the model works is left alone, and the reply is in the record",
    async (_, files) => {
      using room = taskWorkspace(files)
      room.task("one", out("outputs/one.md"))
      const slow = { ...says("paid for"), fault: { kind: "slow", after_ms: 1_500 } }
      await using running = room.start(["agent", "run", "one", "--script", room.script(slow)])
      await eventually("the task is in progress", () => room.stored("one").status === "in_progress" || null)
      room.temp.write("outputs/one.md", "by hand")
      const { exitCode, stdout } = await running.ended
      expect([exitCode, stdout]).toEqual([30, expect.stringContaining("outputs/one.md was changed while")])
      expect([read(room, "outputs/one.md"), room.stored("one").status]).toEqual(["by hand", "failed"])
      const logs = await room.acode(["session", "logs", "--filter", "task.replied", "--json"])
      expect(logs.stdout).toContain("paid for")
      expect(await check(room.temp)).toEqual([])
    },
  )
})
