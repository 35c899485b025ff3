import { describe, expect } from "bun:test"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { check } from "../support/checker/checker.ts"
import { allRows } from "../support/plan/plan-report.ts"
import { hiddenTest, stoppedProcess } from "../support/stopped-process.ts"
import { type TaskWorkspace, taskViolations, taskWorkspace } from "../support/task-workspace.ts"
import { readFileTree } from "../support/workspace/file-tree.ts"

const program = Bun.fileURLToPath(import.meta.resolve("../support/agent/stopped-runner.ts"))

function oneTask(): TaskWorkspace & { readonly scriptFile: string } {
  const room = taskWorkspace()
  room.task("one")
  const scriptFile = room.script({ stage: "agent", text: "output" })
  return { ...room, scriptFile, [Symbol.dispose]: () => room[Symbol.dispose]() }
}

/** Before the claim is written, before the model is asked, around the record of its reply, and before each write. */
const points: readonly (readonly [point: string, nth: number])[] = [
  ["gate.prepared", 1],
  ["gate.intended", 1],
  ["skill.claimed", 1],
  ["skill.asked", 1],
  ["skill.replied", 1],
  ["gate.intended", 2],
  ["gate.intended", 3],
]

describe("a runner that is stopped for longer than its lease, and whose task another process took over", () => {
  for (const [point, nth] of points)
    hiddenTest(
      `writes nothing when it continues (stopped at ${point}, ${nth})`,
      async () => {
        using room = oneTask()
        await using runner = await stoppedProcess(
          room.temp,
          [program, room.temp.root, room.scriptFile, point, String(nth)],
          "hidden",
        )
        const other = await room.acode(["agent", "run", "--pending", "--script", room.scriptFile])
        expect([other.exitCode, other.stderr]).toEqual([0, expect.anything()])
        expect(room.stored("one").status).toBe("completed")
        const before = { rows: allRows(room.temp), tree: readFileTree(room.temp.root) }
        const { exitCode, stderr } = await runner.goOn()
        // A runner that has begun nothing leaves the task to the other one; else it has lost its session.
        const isLost = point !== "gate.prepared"
        expect([exitCode !== 0, stderr.includes("ACODE-DB-007")]).toEqual([isLost, isLost])
        expect(allRows(room.temp)).toEqual(before.rows)
        expect(readFileTree(room.temp.root)).toEqual(before.tree)
        expect(readFileSync(join(room.temp.root, "out/one.md"), "utf8")).toBe("output")
        expect(taskViolations(room.temp)).toEqual([])
        expect((await check(room.temp)).filter(problem => !problem.startsWith("I1"))).toEqual([])
      },
      60_000,
    )
})
