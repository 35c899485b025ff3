import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { readTask, taskText } from "../../src/domain/skill/task-text.ts"
import type { Task } from "../../src/domain/task.ts"
import { exampleTask } from "../domain/skill/task-fixture.ts"
import { type AcodeRun, type RunningAcode, runAcode, startAcode } from "./acode.ts"
import type { ReplyText } from "./agent/agent-workspace.ts"
import { allRows } from "./plan/plan-report.ts"
import { type TempWorkspace, tempWorkspace } from "./workspace/temp-workspace.ts"

export interface TaskWorkspace extends Disposable {
  readonly temp: TempWorkspace
  /** Writes a task of the skill `plain`, whose output is `out/ID.md`. */
  task(id: string, changes?: Partial<Task>): void
  stored(id: string): Task
  /** Writes the replies of the model, in order. */
  script(...replies: readonly ReplyText[]): string
  acode(args: readonly string[], env?: Readonly<Record<string, string>>): Promise<AcodeRun>
  start(args: readonly string[], env?: Readonly<Record<string, string>>): RunningAcode
}

/** A workspace with one skill, for the commands of the skills lane. */
export function taskWorkspace(files: Readonly<Record<string, string>> = {}): TaskWorkspace {
  const text = (name: string) => `---\nname: ${name}\ndescription: Does ${name}.\n---\nYou do ${name}.\n`
  const temp = tempWorkspace({
    files: {
      ".agents/skills/plain/SKILL.md": text("plain"),
      ".agents/skills/other/SKILL.md": text("other"),
      ".agents/skills/third/SKILL.md": text("third"),
      "context/product-marketing-context.md": "We sell.",
      ...files,
    },
  })
  const options = (env: Readonly<Record<string, string>> = {}) => ({
    cwd: temp.root,
    env: { ...temp.environment, HOME: temp.outside, ...env },
  })
  return {
    temp,
    task: (id, changes = {}) => {
      const output = { path: `out/${id}.md`, format: "markdown" }
      temp.write(`tasks/${id}.md`, taskText(exampleTask({ id, to: "plain", output, ...changes })))
    },
    stored: id => {
      const reading = readTask(readFileSync(join(temp.root, `tasks/${id}.md`), "utf8"))
      if ("problems" in reading) throw new Error(JSON.stringify(reading.problems))
      return reading.task
    },
    script: (...replies) => {
      const path = join(temp.outside, "script.json")
      writeFileSync(path, JSON.stringify({ replies }))
      return path
    },
    acode: (args, env) => runAcode(args, options(env)),
    start: (args, env) => startAcode(args, options(env)),
    [Symbol.dispose]: () => temp[Symbol.dispose](),
  }
}

/**
 * Checks the log after any number of dead processes, over all sessions: a recorded reply is not asked for again, every
 * output was written once, and no task was answered or completed more often than requested.
 */
export function taskViolations(temp: TempWorkspace): string[] {
  const rows = allRows(temp)
  const replied = new Set<string>()
  const reviews = new Set<string>()
  /** Counts by task: how often it may be executed, how often it was answered, and how often it was completed. */
  const wanted = new Map<string, number>()
  const answered = new Map<string, number>()
  const completed = new Map<string, number>()
  const written: string[] = []
  const found: string[] = []
  const count = (counts: Map<string, number>, id: string) => counts.set(id, (counts.get(id) ?? 0) + 1)
  for (const { type, stream, parsed } of rows) {
    const id = String(parsed["taskId"])
    const key = `${stream} ${parsed["index"]} ${id}`
    if (type === "step.started" && parsed["tool"] === "review") reviews.add(key)
    if (type === "task.reopened" || (type === "task.claimed" && parsed["fromStatus"] === "revision"))
      count(wanted, id)
    if (type === "task.replied" && parsed["failure"] === null) {
      replied.add(key)
      if (!reviews.has(key)) count(answered, id)
    }
    if (type === "task.asked" && replied.has(key)) found.push(`${key} was asked again after its reply`)
    if (type === "task.settled" && parsed["status"] === "completed") count(completed, id)
    if (type !== "tool_call.settled") continue
    const changes =
      (
        parsed["changes"] as {
          readonly value?: readonly { readonly path: string; readonly after: string }[]
        }
      ).value ?? []
    written.push(
      ...changes.map(({ path, after }) => `${path} ${after}`).filter(each => !each.startsWith("tasks/")),
    )
  }
  const times = (id: string) => 1 + (wanted.get(id) ?? 0)
  for (const [id, many] of answered) if (many > times(id)) found.push(`${id} was answered ${many} times`)
  for (const [id, many] of completed) if (many > times(id)) found.push(`${id} was completed ${many} times`)
  for (const each of new Set(written))
    if (written.filter(other => other === each).length > 1) found.push(`${each} was written twice`)
  return found
}
