import { describe, expect, test } from "bun:test"
import { existsSync, readFileSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { sha256Hex } from "../../../src/base/canonical.ts"
import { seededRandom } from "../../soak/random.ts"
import { eventually } from "../../support/eventually.ts"
import { type TaskWorkspace, taskWorkspace } from "../../support/task-workspace.ts"

const count = 120

function manyTasks(): TaskWorkspace {
  const room = taskWorkspace()
  for (let index = 0; index < count; index++)
    room.task(`t${String(index).padStart(3, "0")}`, { goal: `goal ${index}` })
  return room
}

const cacheOf = (room: TaskWorkspace) => room.temp.state("tasks.json")
const list = async (room: TaskWorkspace, state?: string) => {
  const args = ["agent", "list", "--json"]
  const run = await room.acode(args, state === undefined ? {} : { XDG_STATE_HOME: state })
  return { exitCode: run.exitCode, stdout: run.stdout, stderr: run.stderr }
}
/** Lists without what earlier lists kept. */
const listAnew = (room: TaskWorkspace) => list(room, join(room.temp.outside, crypto.randomUUID()))

function keepForged(room: TaskWorkspace, change: (rows: string[][]) => unknown): void {
  const kept = JSON.parse(readFileSync(cacheOf(room), "utf8").slice(65))
  const body = JSON.stringify({ ...kept, rows: change(kept.rows) ?? kept.rows })
  writeFileSync(cacheOf(room), `${sha256Hex(body)}\n${body}`)
}

/** Lists until every row is kept: one of a file that changed just now is not. */
function settle(room: TaskWorkspace): Promise<unknown> {
  return eventually("every row is kept", async () => {
    await list(room)
    if (!existsSync(cacheOf(room))) return null
    return JSON.parse(readFileSync(cacheOf(room), "utf8").slice(65)).rows.length === count || null
  })
}

describe("agent list", () => {
  test("shows every change of a file although it keeps what it read", async () => {
    using room = manyTasks()
    await settle(room)
    expect(await list(room)).toEqual(await listAnew(room))
    const random = seededRandom(17)
    const path = (index: number) => join(room.temp.root, `tasks/t${String(index).padStart(3, "0")}.md`)
    const times = new Date(1_700_000_000_000)
    const changes: readonly ((file: string) => void)[] = [
      file => writeFileSync(file, readFileSync(file, "utf8").replace("pending", "blocked")),
      // As long as before, and with the times that it had: only the inode's own time tells.
      file => {
        const text = readFileSync(file, "utf8")
        utimesSync(file, times, times)
        writeFileSync(file, text.replace("goal", "gaol"))
        utimesSync(file, times, times)
      },
      file => rmSync(file),
      file => writeFileSync(file, "no task"),
      file => {
        writeFileSync(join(room.temp.outside, "moved.md"), readFileSync(file))
        rmSync(file)
        symlinkSync(join(room.temp.outside, "moved.md"), file)
      },
      () => room.task("a-new-one"),
    ]
    for (const change of changes) {
      change(path(random.whole(count)))
      const listed = await list(room)
      expect(listed).toEqual(await listAnew(room))
      expect(await list(room)).toEqual(listed)
    }
  })

  test("believes no kept file that is torn, forged or of another folder", async () => {
    using room = manyTasks()
    await settle(room)
    const expected = await list(room)
    const whole = readFileSync(cacheOf(room), "utf8")
    const torn = [
      ...["", "x", whole.slice(0, -1), `${whole} `, whole.replace("goal 3", "goal 4"), "\0".repeat(200)],
      ...["[]", "null", '{"format":1}', '{"format":1,"directory":"tasks","rows":[1]}'].map(
        body => `${sha256Hex(body)}\n${body}`,
      ),
    ]
    for (const text of torn) {
      writeFileSync(cacheOf(room), text)
      expect(await list(room)).toEqual(expected)
    }
    keepForged(room, rows => rows.map(row => [...row.slice(0, 2), "hacked", ...row.slice(3)]))
    expect(await list(room)).toEqual(expected)
    rmSync(cacheOf(room))
    symlinkSync("/proc/self/mem", cacheOf(room))
    expect(await list(room)).toEqual(expected)
  })

  test("reads no file again that did not change, and shows a kept row like any other text", async () => {
    using room = manyTasks()
    await settle(room)
    keepForged(room, rows => rows.map(row => [...row.slice(0, 5), "\u001b[2Jkept", ...row.slice(6)]))
    const { stdout } = await room.acode(["agent", "list"])
    expect(stdout.match(/kept/g)).toHaveLength(count)
    expect(stdout).not.toContain("\u001b")
  })

  test("keeps nothing below the workspace, and nothing of a few tasks", async () => {
    using room = manyTasks()
    const inside = join(room.temp.root, "state")
    expect((await list(room, inside)).exitCode).toBe(0)
    expect(existsSync(inside)).toBe(false)
    using few = taskWorkspace()
    few.task("one")
    await list(few)
    expect(existsSync(few.temp.state())).toBe(false)
  })

  test("may be asked for by several processes at once", async () => {
    using room = manyTasks()
    const expected = await listAnew(room)
    const lists = await Promise.all(Array.from({ length: 6 }, () => list(room)))
    expect(lists).toEqual(lists.map(() => expected))
    const kept = readFileSync(cacheOf(room), "utf8")
    expect(kept.slice(0, 64)).toBe(sha256Hex(kept.slice(65)))
  })
})
