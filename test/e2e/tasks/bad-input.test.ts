import { describe, expect, test } from "bun:test"
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { ReplyText } from "../../support/agent/agent-workspace.ts"
import { check } from "../../support/checker/checker.ts"
import { eventually } from "../../support/eventually.ts"
import { pipelineRoom } from "../../support/pipeline/pipeline-crashes.ts"
import { type TaskWorkspace, taskWorkspace } from "../../support/task-workspace.ts"

const says = (text: string) => ({ stage: "agent", text })

interface Row {
  readonly what: string
  /** Changes the text of the task's file, or anything else of the workspace. */
  readonly text?: (text: string) => string
  readonly make?: (room: TaskWorkspace, path: (name: string) => string) => void
  readonly reply?: ReplyText
  readonly exitCode: number
  /** Part of the message. */
  readonly says: string
  /** The status of the task afterwards; null where its file does not change. */
  readonly status: "failed" | "completed" | null
}

const field = (key: string, value: string) => (text: string) =>
  text.replace(new RegExp(`^${key}: .*$`, "m"), `${key}: ${value}`)
const added = (line: string) => (text: string) => text.replace("from:", `${line}\nfrom:`)
const inputs = (path: string) => (text: string) =>
  text.replace("## Requirements", `- \`${path}\`\n\n## Requirements`)

/** The file of the task says something that cannot be executed: nothing is recorded, and its bytes stay. */
const refused: readonly Row[] = [
  ...(
    [
      [
        "no closing dashes",
        (text: string) => text.replace(/\n---\n/, "\n"),
        "no second line of three dashes",
      ],
      ["a tab for a value", field("status", "\t"), "status"],
      ["a key twice", added("status: failed"), "status"],
      ["an id that is not the file name", field("id", "other"), "has the id other"],
      ["an unknown status", field("status", "soon"), "status is"],
      ["an unknown priority", field("priority", "P9"), "priority is"],
      ["an unknown next_type", field("next_type", "later"), "next_type is"],
      ["a negative revision_count", field("revision_count", "-1"), "revision_count"],
      ["a huge revision_count", field("revision_count", "99999999999999999999"), "revision_count"],
      ["metadata that is not JSON", added("metadata: '{'"), "metadata"],
      ["a skill that is a path", field("to", "../plain"), "is not the name of a skill"],
      ["a NUL in a path", field("output_path", '"out/\\0x.md"'), "output"],
    ] as const
  ).map(([what, text, message]) => ({ what, text, exitCode: 1, says: message, status: null }) as const),
  ...(
    [
      ["an output above the folder", field("output_path", "../x.md"), "output"],
      ["an absolute output", field("output_path", "/tmp/x.md"), "output"],
      ["a protected output", field("output_path", ".git/config"), ".git"],
      ["an input above the folder", inputs("../../etc/passwd"), "input"],
      ["an absolute input", inputs("/etc/passwd"), "input"],
      ["a protected input", inputs(".env"), ".env"],
      ["an output in backticks", field("output_path", "out/`x`.md"), "backtick"],
    ] as const
  ).map(([what, text, message]) => ({ what, text, exitCode: 32, says: message, status: null }) as const),
]

/** The task is claimed, and fails. */
const failing: readonly Row[] = [
  {
    what: "an input that is a directory",
    text: inputs("dir"),
    make: (_, path) => mkdirSync(path("dir")),
    exitCode: 30,
    says: "INPUT_NOT_FOUND",
    status: "failed",
  },
  {
    what: "an input that is a FIFO",
    text: inputs("pipe"),
    make: (_, path) => void Bun.spawnSync(["mkfifo", path("pipe")]),
    exitCode: 30,
    says: "INPUT_NOT_FOUND",
    status: "failed",
  },
  {
    what: "an input of 50 MB",
    text: inputs("big.md"),
    make: (_, path) => writeFileSync(path("big.md"), Buffer.alloc(50e6, "x")),
    exitCode: 30,
    says: "INPUT_NOT_FOUND",
    status: "failed",
  },
  {
    what: "a binary input",
    text: inputs("binary"),
    make: (_, path) => writeFileSync(path("binary"), Buffer.from([0, 255, 1, 0, 254])),
    exitCode: 30,
    says: "INPUT_NOT_FOUND",
    status: "failed",
  },
  {
    what: "an input that is a symlink out of the workspace",
    text: inputs("leaving"),
    make: ({ temp }, path) => {
      writeFileSync(join(temp.outside, "private"), "private words")
      symlinkSync(join(temp.outside, "private"), path("leaving"))
    },
    exitCode: 32,
    says: "leaving",
    status: null,
  },
  {
    what: "an output that is a symlink out of the workspace",
    make: ({ temp }, path) => {
      mkdirSync(path("out"))
      symlinkSync(join(temp.outside, "victim"), path("out/one.md"))
    },
    exitCode: 32,
    says: "out/one.md",
    status: null,
  },
  {
    what: "an output where a directory is",
    make: (_, path) => mkdirSync(path("out/one.md"), { recursive: true }),
    exitCode: 32,
    says: "out/one.md may not be used: it is a directory",
    status: null,
  },
  {
    what: "a SKILL.md that is a directory",
    make: (_, path) => {
      rmSync(path(".agents/skills/plain/SKILL.md"))
      mkdirSync(path(".agents/skills/plain/SKILL.md"))
    },
    exitCode: 30,
    says: "SKILL_NOT_FOUND",
    status: "failed",
  },
  {
    what: "a reply that is longer than any may be",
    reply: says("x".repeat(1_000_001)),
    exitCode: 4,
    says: "longer than 1000000 bytes",
    status: "failed",
  },
  {
    what: "an empty reply",
    reply: says(" \n\t"),
    exitCode: 30,
    says: "RESPONSE_EMPTY",
    status: "failed",
  },
  {
    what: "a tool call for a reply",
    reply: { stage: "agent", calls: [{ tool: "write_file", args: { path: "x", content: "x" } }] },
    exitCode: 30,
    says: "called a tool",
    status: "failed",
  },
  {
    what: "only thinking for a reply",
    reply: says("<think>hm</think>"),
    exitCode: 30,
    says: "RESPONSE_EMPTY",
    status: "failed",
  },
]

/** Odd, and good enough. */
const accepted: readonly Row[] = [
  {
    what: "CRLF and a byte order mark",
    text: text => `\ufeff${text.replaceAll("\n", "\r\n")}`,
    exitCode: 0,
    says: "✓ one",
    status: "completed",
  },
  {
    what: "a reply of a megabyte",
    reply: says("x".repeat(1_000_000)),
    exitCode: 0,
    says: "✓ one",
    status: "completed",
  },
  {
    what: "thinking before the reply, and marks of thinking in it",
    reply: says("<think>hm</think>\n\nThe mark </think> ends it."),
    exitCode: 0,
    says: "✓ one",
    status: "completed",
  },
  {
    what: "a skill of the same name further down",
    make: ({ temp }) => temp.write(".claude/skills/plain/SKILL.md", "---\nname: plain\n---\nother\n"),
    exitCode: 0,
    says: "✓ one",
    status: "completed",
  },
]

describe("agent run with", () => {
  for (const row of [...refused, ...failing, ...accepted])
    test(`${row.what} ${row.exitCode === 0 ? "works" : "says so once, and writes nothing by halves"}`, async () => {
      using room = taskWorkspace({ ".env": "KEY=1\n" })
      room.task("one")
      const path = (name: string) => join(room.temp.root, name)
      const file = path("tasks/one.md")
      if (row.text !== undefined) writeFileSync(file, row.text(readFileSync(file, "utf8")))
      row.make?.(room, path)
      const before = readFileSync(file)
      const run = await room.acode([
        "agent",
        "run",
        "one",
        ...["--max-retries", "0", "--script"],
        room.script(row.reply ?? says("words")),
      ])
      const output = `${run.stdout}${run.stderr}`
      expect({ exitCode: run.exitCode, output }).toEqual({
        exitCode: row.exitCode,
        output: expect.stringContaining(row.says),
      })
      expect(output).not.toMatch(/^\s+at .*:\d+:\d+|private words|unexpected error/m)
      // One message, with what a person can do about it.
      expect(output.match(/^ {2}→ .+$/gm)?.length ?? 0).toBe(row.exitCode === 0 ? 0 : 1)
      const after = readFileSync(file)
      if (row.status === null) expect(after.equals(before)).toBe(true)
      else
        expect(after.toString().replace(/^updated_at: .*$/m, "")).toBe(
          before
            .toString()
            .replace("status: pending", `status: ${row.status}`)
            .replace(/^updated_at: .*$/m, ""),
        )
      const isWritten = row.status === "completed"
      if (isWritten)
        expect(readFileSync(path("out/one.md"), "utf8")).toBe(
          String(row.reply?.["text"] ?? "words").replace(/^<think>.*?<\/think>\s*/, ""),
        )
      else expect(existsSync(join(room.temp.outside, "victim"))).toBe(false)
      expect(await check(room.temp)).toEqual([])
    })

  test("a request that is longer than the window of the model says so before it is sent", async () => {
    await using made = await pipelineRoom()
    const { room, server } = made
    const parameters = { context_window: 4096 }
    const config = { schema_version: "1", model: { endpoint: server.endpoint, name: "fake", parameters } }
    room.temp.write("../config/acode/config.yml", JSON.stringify(config))
    room.task("one", { inputs: [{ path: "long.md", description: "" }] })
    room.temp.write("long.md", "many words ".repeat(20_000))
    const run = await room.acode(["agent", "run", "one"])
    expect([run.exitCode, run.stdout]).toEqual([
      4,
      expect.stringContaining("API_BAD_REQUEST: the request is about"),
    ])
    expect([server.chats.length, room.stored("one").status]).toEqual([0, "failed"])
  })

  test("a task folder that is missing, a file, or a symlink that leads out", async () => {
    using room = taskWorkspace()
    const path = join(room.temp.root, "tasks")
    const script = room.script(says("words"))
    const run = async () => {
      const { exitCode, stdout, stderr } = await room.acode(["agent", "run", "one", "--script", script])
      const listed = await room.acode(["agent", "list"])
      expect(`${stdout}${stderr}${listed.stderr}`).not.toMatch(/^\s+at .*:\d+:\d+/m)
      return [exitCode, listed.exitCode]
    }
    expect(await run()).toEqual([2, 0])
    writeFileSync(path, "")
    expect(await run()).toEqual([2, 0])
    rmSync(path)
    mkdirSync(join(room.temp.outside, "elsewhere"))
    symlinkSync(join(room.temp.outside, "elsewhere"), path)
    const [exitCode] = await run()
    expect(exitCode).not.toBe(0)
  })

  test("a task file that is a symlink is refused, as a list leaves it out; a folder that is one may lie elsewhere", async () => {
    using room = taskWorkspace()
    room.task("one")
    const { root } = room.temp
    const script = room.script(says("words"))
    const before = readFileSync(join(root, "tasks/one.md"), "utf8")
    renameSync(join(root, "tasks/one.md"), join(root, "real.md"))
    symlinkSync("../real.md", join(root, "tasks/one.md"))
    const { exitCode, stdout } = await room.acode(["agent", "run", "one", "--script", script])
    expect([exitCode, stdout]).toEqual([
      1,
      expect.stringContaining("TASK_INVALID: tasks/one.md is a symlink"),
    ])
    expect((await room.acode(["agent", "list"])).stdout).not.toContain("one")
    expect(readFileSync(join(root, "real.md"), "utf8")).toBe(before)

    rmSync(join(root, "tasks"), { recursive: true })
    mkdirSync(join(root, "work"))
    renameSync(join(root, "real.md"), join(root, "work/one.md"))
    symlinkSync("work", join(root, "tasks"))
    expect((await room.acode(["agent", "run", "one", "--script", script])).exitCode).toBe(0)
    expect([room.stored("one").status, readFileSync(join(root, "out/one.md"), "utf8")]).toEqual([
      "completed",
      "words",
    ])
    expect((await room.acode(["session", "undo", "--yes"])).exitCode).toBe(0)
    expect(readFileSync(join(root, "work/one.md"), "utf8")).toBe(before)
    expect(await check(room.temp)).toEqual([])
  })

  test("a task that a person edits while the model answers keeps the edit, and the output", async () => {
    using room = taskWorkspace()
    room.task("one")
    const slow = { ...says("words"), fault: { kind: "slow", after_ms: 1_500 } }
    await using running = room.start(["agent", "run", "one", "--script", room.script(slow)])
    const file = join(room.temp.root, "tasks/one.md")
    await eventually("the task is in progress", () => room.stored("one").status === "in_progress" || null)
    const edited = `${readFileSync(file, "utf8")}\nmine\n`
    writeFileSync(file, edited)
    const { exitCode, stdout } = await running.ended
    expect([exitCode, stdout]).toEqual([30, expect.stringContaining("the output is in out/one.md")])
    expect(readFileSync(file, "utf8")).toBe(edited)
    expect(readFileSync(join(room.temp.root, "out/one.md"), "utf8")).toBe("words")
  })
})
