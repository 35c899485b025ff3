import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { TaskStatus } from "../../src/domain/task.ts"
import { exampleTask } from "../domain/skill/task-fixture.ts"
import { check } from "../support/checker/checker.ts"
import { contextText, type ExecutorRoom, executorRoom } from "./executor-room.ts"
import { clientKinds } from "./tested-clients.ts"

describe.each(clientKinds)("with %s", kind => {
  let room: ExecutorRoom
  beforeEach(async () => {
    room = await executorRoom(kind)
  })
  afterEach(async () => {
    await room.workspace.close()
    // Whatever a test did, what it recorded is sound.
    expect(await check(room.temp)).toEqual([])
    await room[Symbol.asyncDispose]()
  })

  const { output } = exampleTask()

  describe("DET-08: a task that goes well", () => {
    test("is in progress while the model works, and completed afterwards", async () => {
      const seen: string[] = []
      const client = room.replying(() => {
        seen.push(room.stored().status)
        return "done"
      })
      await room.execute(client, room.task())
      expect([...seen, room.stored().status]).toEqual(["in_progress", "completed"])
    })

    test("writes its output to the path of its squad and tells all about it", async () => {
      const result = await room.execute(room.replying("# Page\n"), room.task())
      expect(room.file(output.path)).toBe("# Page\n")
      expect(result).toEqual({
        taskId: exampleTask().id,
        skill: "copywriting",
        status: "completed",
        outputPath: output.path,
        tokensUsed: { input: 100, output: 200, total: 300 },
        warnings: [],
        durationMs: expect.any(Number),
      })
      expect(result.durationMs).toBeGreaterThanOrEqual(0)
    })

    test("sends the skill as the system prompt, and context and requirements as the message", async () => {
      const client = room.replying("x")
      await room.execute(client, room.task())
      const [call] = client.calls
      expect(call?.systemPrompt).toBe("You write.\n\n\n---\n## Reference: voice.md\nCalm.")
      expect(call?.userMessage).toContain(contextText)
      expect(call?.userMessage).toContain("Write the landing page.")
    })

    test("leaves every other byte of its file alone", async () => {
      const task = room.task()
      const path = join(room.temp.root, `tasks/${task.id}.md`)
      const odd = readFileSync(path, "utf8")
        .replace("status: pending", "status: 'pending'   # by hand\nowner: me")
        .replaceAll("\n", "\r\n")
      writeFileSync(path, `\ufeff${odd}`)
      await room.execute(room.replying("x"), task)
      const changed = readFileSync(path, "utf8").replace(/updated_at: .*?\r/, "updated_at: T\r")
      const expected = `\ufeff${odd}`
        .replace("'pending'", "completed")
        .replace(/updated_at: .*?\r/, "updated_at: T\r")
      expect(changed).toBe(expected)
    })
  })

  describe("DET-08: which tasks are executed", () => {
    test.each(["pending", "assigned", "revision"] as const)("one that is %s", async status => {
      const client = room.replying("x")
      const result = await room.execute(
        client,
        room.task({ status, revisionCount: status === "revision" ? 1 : 0 }),
      )
      expect(result.status).toBe("completed")
      expect(client.calls[0]?.userMessage.includes("## Revision Context")).toBe(status === "revision")
    })

    test.each([
      "completed",
      "failed",
      "cancelled",
      "in_progress",
      "in_review",
      "blocked",
      "deferred",
    ] as const)("not one that is %s", async (status: TaskStatus) => {
      const client = room.replying("x")
      const task = room.task({ status })
      const before = room.file(`tasks/${task.id}.md`)
      const result = await room.execute(client, task)
      expect([result.status, result.error?.code]).toEqual(["failed", "TASK_NOT_EXECUTABLE"])
      expect(client.calls).toEqual([])
      expect(room.file(`tasks/${task.id}.md`)).toBe(before)
    })

    test("not one whose stored status says otherwise, nor one that is gone or is no task", async () => {
      const client = room.replying("x")
      const task = room.task()
      const path = `tasks/${task.id}.md`
      room.temp.write(
        path,
        readFileSync(join(room.temp.root, path), "utf8").replace("pending", "in_progress"),
      )
      expect((await room.execute(client, task)).error?.code).toBe("TASK_CLAIMED")
      room.temp.write(path, "no task")
      expect((await room.execute(client, task)).error?.code).toBe("TASK_INVALID")
      rmSync(join(room.temp.root, path))
      expect((await room.execute(client, task)).error?.code).toBe("TASK_NOT_FOUND")
      expect(client.calls).toEqual([])
    })

    test("the same one by two executors at once: only one of them asks the model", async () => {
      const client = room.replying("x")
      const task = room.task()
      const results = await Promise.all([room.execute(client, task), room.execute(client, task)])
      expect(results.map(({ status }) => status).sort()).toEqual(["completed", "failed"])
      const [refused] = results.flatMap(({ error }) => error?.code ?? [])
      expect(["TASK_CLAIMED", "TASK_NOT_EXECUTABLE"]).toContain(refused ?? "none")
      expect(client.calls).toHaveLength(1)
    })
  })

  describe("DET-08: what a task needs", () => {
    test("a skill that is missing fails it", async () => {
      const result = await room.execute(
        room.replying("x"),
        room.task({ to: "nobody", output: { path: "out/x.md", format: "markdown" } }),
      )
      expect([result.error?.code, room.stored().status]).toEqual(["SKILL_NOT_FOUND", "failed"])
    })

    test("a skill without references is enough", async () => {
      const client = room.replying("x")
      await room.execute(client, room.task({ to: "plain", output: { path: "out/x.md", format: "markdown" } }))
      expect(client.calls[0]?.systemPrompt).toBe("Plainly.")
    })

    test("a reference that cannot be used is left out, with a warning", async () => {
      room.temp.write(".agents/skills/copywriting/references/odd.md", new Uint8Array([0xff, 0xfe]))
      const client = room.replying("x")
      const { status, warnings } = await room.execute(client, room.task())
      const left = "the skill copywriting: left out: references/odd.md is not UTF-8 text"
      expect([status, warnings]).toEqual(["completed", [left]])
      expect(client.calls[0]?.systemPrompt).toEndWith("## Reference: voice.md\nCalm.")
    })

    test("a missing context is said to be missing, and fails only where it has to be there", async () => {
      rmSync(join(room.temp.root, "context"), { recursive: true })
      const client = room.replying("x")
      const without = await room.execute(client, room.task())
      expect(without).toMatchObject({
        status: "completed",
        warnings: ["there is no product context (the file at skills.context), and the prompt says so"],
      })
      expect(client.calls[0]?.userMessage).toContain("No product marketing context available.")
      const strict = await room.execute(
        client,
        room.task({ id: "strict", output: { path: "outputs/creative/copywriting/strict.md", format: "md" } }),
        {
          config: { strictContext: true },
        },
      )
      expect([strict.error?.code, room.stored("strict").status]).toEqual(["CONTEXT_NOT_FOUND", "failed"])
    })

    test("the foundation skill makes the context that is missing", async () => {
      const path = "context/product-marketing-context.md"
      rmSync(join(room.temp.root, "context"), { recursive: true })
      const task = room.task({ to: "product-marketing-context", output: { path, format: "markdown" } })
      const result = await room.execute(room.replying("We sell."), task, { config: { strictContext: true } })
      expect([result.outputPath, room.file(path), result.warnings]).toEqual([path, "We sell.", []])
    })

    test("inputs that exist are told in their order", async () => {
      room.temp.write("in/a.md", "first")
      room.temp.write("in/b.md", "second")
      const client = room.replying("x")
      const inputs = ["in/a.md", "in/b.md"].map(path => ({ path, description: path }))
      await room.execute(client, room.task({ inputs }))
      expect(client.calls[0]?.userMessage).toMatch(/in\/a\.md[\s\S]*first[\s\S]*in\/b\.md[\s\S]*second/)
    })

    test("an input that is missing fails it, and is named", async () => {
      const client = room.replying("x")
      const inputs = [{ path: "in/gone.md", description: "" }]
      const { error } = await room.execute(client, room.task({ inputs }))
      expect([error?.code, error?.message]).toEqual([
        "INPUT_NOT_FOUND",
        "the input in/gone.md does not exist",
      ])
      expect([room.stored().status, client.calls.length]).toEqual(["failed", 0])
    })

    test("none of its own: it is executed without inputs", async () => {
      const client = room.replying("x")
      expect(await room.execute(client, room.task({ inputs: [] }))).toMatchObject({ status: "completed" })
      expect(client.calls[0]?.userMessage).toContain("No upstream inputs for this task.")
    })

    test("an input that is no text, or too large, fails it", async () => {
      mkdirSync(join(room.temp.root, "in/folder"), { recursive: true })
      room.temp.write("in/binary", new Uint8Array([0, 1, 2, 0, 255]))
      room.temp.write("in/large.md", "x".repeat(17 * 1024 * 1024))
      for (const path of ["in/folder", "in/binary", "in/large.md"]) {
        const result = await room.execute(
          room.replying("x"),
          room.task({ inputs: [{ path, description: "" }] }),
        )
        expect([path, result.error?.code]).toEqual([path, "INPUT_NOT_FOUND"])
      }
    })

    test("a path that leads elsewhere is refused, and nothing is asked or written", async () => {
      const client = room.replying("x")
      symlinkSync("/etc", join(room.temp.root, "far"))
      const to = "plain"
      const out = (path: string) => ({ to, output: { path, format: "markdown" } })
      const input = (path: string) => ({ ...out("out/x.md"), inputs: [{ path, description: "" }] })
      for (const changes of [
        ...["../out.md", "/etc/x", "far/x.md", ".git/hooks/pre-commit", ".env", "tasks/x.md"].map(out),
        ...["../../etc/passwd", "/etc/passwd", "far/passwd", ".env"].map(input),
      ]) {
        const task = room.task(changes)
        const result = await room.execute(client, task)
        expect([changes, result.error?.code]).toEqual([changes, "PATH_REFUSED"])
        expect(room.stored().status).toBe("pending")
      }
      const other = room.task({
        output: { path: "outputs/creative/copywriting/other.md", format: "markdown" },
      })
      expect((await room.execute(client, other)).error?.code).toBe("TASK_INVALID")
      expect(client.calls).toEqual([])
    })
  })

  describe("DET-08: how a reply becomes an output", () => {
    test.each(["", " \n\t"])("an empty one fails the task: %j", async content => {
      const result = await room.execute(room.replying(content), room.task())
      expect([result.error?.code, room.stored().status, room.file(output.path)]).toEqual([
        "RESPONSE_EMPTY",
        "failed",
        null,
      ])
    })

    test("one that was cut off is written all the same, with a warning", async () => {
      const result = await room.execute(room.replying("half", { stopReason: "max_tokens" }), room.task())
      expect([result.status, result.error?.code, result.warnings.length]).toEqual([
        "completed",
        "RESPONSE_TRUNCATED",
        1,
      ])
      expect([room.file(output.path), room.stored().status]).toEqual(["half", "completed"])
    })

    test("one that repeats marks of redaction is written, and the marks are told apart", async () => {
      const result = await room.execute(room.replying("key [REDACTED:api-key]"), room.task())
      expect([result.status, result.warnings.length, room.file(output.path)]).toEqual([
        "completed",
        1,
        "key [redacted:api-key]",
      ])
    })

    test("a secret of a file does not leave for the model", async () => {
      const secret = "ghp_abcdefghijklmnopqrstuvwxyz0123456789"
      room.temp.write("in/a.md", `token ${secret}`)
      const client = room.replying("x")
      await room.execute(client, room.task({ inputs: [{ path: "in/a.md", description: "" }] }))
      expect(client.calls[0]?.userMessage).not.toContain(secret)
      await room.workspace.close()
      expect(await check(room.temp, { secrets: [secret] })).toEqual([])
    })

    test("an output that cannot be written fails the task", async () => {
      room.temp.write("outputs/creative", "a file where a folder has to be")
      const result = await room.execute(room.replying("x"), room.task())
      expect([result.error?.code, result.outputPath, room.stored().status]).toEqual([
        "WORKSPACE_WRITE_FAILED",
        null,
        "failed",
      ])
    })

    test("a task that somebody edits meanwhile keeps their edit, and the output is kept", async () => {
      const task = room.task()
      const path = `tasks/${task.id}.md`
      const client = room.replying(() => {
        room.temp.write(path, `${room.file(path)}\nby hand\n`)
        return "paid for"
      })
      const result = await room.execute(client, task)
      expect(result.error?.code).toBe("WORKSPACE_WRITE_FAILED")
      expect(result.error?.message).toContain(output.path)
      expect(room.file(output.path)).toBe("paid for")
      expect(room.file(path)).toEndWith("\nby hand\n")
      expect(room.stored().status).toBe("in_progress")
    })
  })
})
