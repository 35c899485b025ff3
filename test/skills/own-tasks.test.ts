import { expect, test } from "bun:test"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import {
  AgentExecutor,
  createDefaultConfig,
  ExecutionError,
  MockClaudeClient,
  openSkillWorkspace,
} from "../../src/library.ts"
import { exampleTask } from "../domain/skill/task-fixture.ts"
import { check } from "../support/checker/checker.ts"
import { taskWorkspace } from "../support/task-workspace.ts"

const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => "none",
    (error: unknown) => (error instanceof ExecutionError ? error.code : String(error)),
  )

test("a program creates a task and executes it; undo removes both files", async () => {
  using room = taskWorkspace()
  const { root, environment } = room.temp
  const requirements = "Say it.\n\n## Output\n\nThree posts."
  const output = { path: "out/own.md", format: "markdown" }
  const task = exampleTask({ id: "own", to: "plain", requirements, output })
  const client = new MockClaudeClient()
  {
    await using workspace = openSkillWorkspace(root, {
      variables: { ...environment, HOME: room.temp.outside },
    })
    await workspace.createTask(task)
    expect(readFileSync(join(root, "tasks/own.md"), "utf8")).toStartWith("---\nid: own\nstatus: pending\n")
    expect(await codeOf(workspace.createTask(task))).toBe("TASK_INVALID")
    for (const invalid of [
      ...[{ id: "../own" }, { to: "a/b" }, { createdAt: "soon" }, { tags: ["one, two"] }],
      // Its file names it between backticks, and would be read without it.
      { inputs: [{ path: "in/a`b.md", description: "" }] },
    ])
      expect(await codeOf(workspace.createTask({ ...task, id: "other", ...invalid }))).toBe("TASK_INVALID")
    expect([existsSync(join(root, "own.md")), existsSync(join(root, "tasks/other.md"))]).toEqual([
      false,
      false,
    ])
    const stored = await workspace.readTask("own")
    expect(stored).toEqual(task)
    const result = await new AgentExecutor(client, workspace, createDefaultConfig()).execute(stored)
    expect([result.status, result.outputPath]).toEqual(["completed", "out/own.md"])
  }
  expect(client.calls[0]?.userMessage).toContain("## Output\n\nThree posts.")
  expect(await check(room.temp)).toEqual([])
  expect((await room.acode(["session", "undo", "--yes"])).exitCode).toBe(0)
  expect([existsSync(join(root, "tasks/own.md")), existsSync(join(root, "out/own.md"))]).toEqual([
    false,
    false,
  ])
})
