import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { check } from "../checker/checker.ts"
import { allRows } from "../plan/plan-report.ts"
import { type TaskWorkspace, taskViolations, taskWorkspace } from "../task-workspace.ts"

/** Replies by the task that asks, so that no order of the requests makes a difference. */
const replies = [{ stage: "agent", text: "output of one" }]

/** A workspace with one task, and how it is executed. */
function crashRoom(): TaskWorkspace & { run(failpoint: number | null): ReturnType<TaskWorkspace["acode"]> } {
  const room = taskWorkspace()
  room.task("one")
  const script = room.script(...replies)
  return {
    ...room,
    run: failpoint =>
      room.acode(
        ["agent", "run", "--pending", "--script", script],
        failpoint === null ? {} : { ACODE_FAILPOINT: String(failpoint) },
      ),
    [Symbol.dispose]: () => room[Symbol.dispose](),
  }
}

/**
 * Executes a task in a process that dies at a point, then in one that dies at a point of its recovery, then to the end.
 * Returns null when there is no such point, else what is not as it must be.
 */
export async function crashedTask(point: number, again: number | null): Promise<readonly string[] | null> {
  using room = crashRoom()
  const first = await room.run(point)
  if (first.signal !== "SIGKILL") return null
  if (again !== null && (await room.run(again)).signal !== "SIGKILL") return null
  const last = await room.run(null)
  const place = `killed at ${point}${again === null ? "" : ` and at ${again} of the recovery`}`
  return (await violations(room, last.exitCode, last.stderr)).map(each => `${place}: ${each}`)
}

async function violations(room: TaskWorkspace, exitCode: number | null, stderr: string): Promise<string[]> {
  const path = join(room.temp.root, "out/one.md")
  const written = existsSync(path) ? readFileSync(path, "utf8") : "nothing"
  const { status } = room.stored("one")
  const ends = allRows(room.temp).filter(({ type }) => type === "session.finished")
  const audit = await room.acode(["audit", "verify"])
  return [
    ...(exitCode === 0 ? [] : [`it ended with ${exitCode}: ${stderr}`]),
    ...(status === "completed" ? [] : [`the task is ${status}`]),
    ...(written === "output of one" ? [] : [`the output is ${written}`]),
    ...(ends.every(({ parsed }) => parsed["state"] === "COMPLETED") ? [] : ["a session did not complete"]),
    ...taskViolations(room.temp),
    ...(await check(room.temp)),
    ...(audit.exitCode === 0 ? [] : [`audit verify exits ${audit.exitCode}`]),
  ]
}
