import { afterEach, expect, test } from "bun:test"
import { sha256Hex } from "../../src/base/canonical.ts"
import { systemIds } from "../../src/base/clock.ts"
import { planUndo, undo } from "../../src/engine/undo.ts"
import { event } from "../store/support/session-events.ts"
import { type PlanRoom, planRoom } from "../support/plan/plan-room.ts"
import { missingProgram, testWhere } from "../support/requirement.ts"

let room: PlanRoom
afterEach(() => room[Symbol.dispose]())

const shell = (script: string) => Bun.spawnSync(["sh", "-c", script], { cwd: room.root }).stdout.toString()
const list = () => shell("find . -path ./.agent -prune -o -printf '%p %y %m\\n'").split("\n").sort()

function undoParts() {
  const { checkpoints, store, log, workspace } = room
  const { artifacts } = store
  return { sessionId: log.sessionId, checkpoints, artifacts, ids: systemIds, workspace, others: [] }
}

async function runAndUndo(script: string) {
  await room.run([["run_command", { argv: ["sh", "-c", script] }]])
  const parts = undoParts()
  const plan = await planUndo(parts, room.events())
  const agreed = new Map(plan.goals.map(({ path, content }) => [path, content]))
  return undo(parts, plan, agreed, work => room.log.whileOwned(work))
}

test("FIFOs that a command removed, replaced, made or gave another mode are as they were", async () => {
  room = planRoom({ files: { file: "f\n" } })
  shell("mkfifo -m 640 gone; mkfifo -m 600 mode; mkfifo replaced; ln -s file link")
  const before = list()
  const undone = await runAndUndo(
    "rm gone replaced file link; chmod 4711 mode; echo r > replaced; mkfifo file link new",
  )
  expect(undone).toMatchObject({ blocked: [], foreign: [], removed: ["new"] })
  expect(undone.restored).toEqual(["file", "gone", "link", "mode", "replaced"])
  expect(list()).toEqual(before)
})

testWhere(missingProgram("python3"))(
  "a socket that a command made goes; one that it removed is named, and costs only itself",
  async () => {
    room = planRoom({ files: { file: "f\n", server: "s\n" } })
    const listen = "import socket, sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])"
    shell(`python3 -c '${listen}' removed; python3 -c '${listen}' mode`)
    const undone = await runAndUndo(
      `rm removed file server; chmod 600 mode; python3 -c '${listen}' made; python3 -c '${listen}' server`,
    )
    expect(undone).toMatchObject({ foreign: [], removed: ["made"], restored: ["file", "mode", "server"] })
    expect(undone.blocked).toEqual([
      { path: "removed", reason: expect.stringContaining("was a socket, which acode cannot make") },
    ])
  },
)

test("a file that was read for one call and not for the next one is not taken for what it was in between", async () => {
  room = planRoom({ files: { "a.txt": "a\n" } })
  await room.run([["file_write", { path: "a.txt", contents: "A\n" }]])
  // Another limit of what is read holds now, so that the same file is known by its times.
  await room.checkpoints.takeFiles("cal_2", ["a.txt"])
  room.put("a.txt", "B\n")
  const change = { path: "a.txt", before: "stat:2:1:1:1", after: sha256Hex("B\n") }
  room.log.append([
    event.callRequested("cal_2"),
    event.callStarted("cal_2", { effectClass: "replace", checkpointId: "cal_2" }),
    event.callSettled("cal_2", { changes: { kind: "inline", value: [change] } }),
  ])
  const plan = await planUndo(undoParts(), room.events())
  expect(plan).toMatchObject({ write: [], doubts: [{ path: "a.txt" }] })
  const agreed = new Map(plan.goals.map(({ path, content }) => [path, content]))
  await undo(undoParts(), plan, agreed, work => room.log.whileOwned(work))
  expect(room.read("a.txt")).toBe("a\n")
})
