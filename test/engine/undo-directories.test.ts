import { afterEach, expect, test } from "bun:test"
import { chmodSync, mkdirSync } from "node:fs"
import { join } from "node:path"
import { systemIds } from "../../src/base/clock.ts"
import { contentsIn, planUndo, undo } from "../../src/engine/undo.ts"
import { type PlanRoom, planRoom } from "../support/plan/plan-room.ts"

let room: PlanRoom
afterEach(() => room[Symbol.dispose]())

const path = (name: string) => join(room.root, name)
const sh = (script: string) => ["run_command", { argv: ["sh", "-c", script] }] as const

test("undoing gives directories back, empty ones and their modes included, once a person agrees", async () => {
  room = planRoom({ files: { "d/a.txt": "a\n", f: "f\n", "gone/x": "x\n" } })
  mkdirSync(path("empty"), { mode: 0o711 })
  chmodSync(path("d"), 0o750)
  const list = () =>
    Bun.spawnSync(["find", ".", "-path", "./.agent", "-prune", "-o", "-printf", "%p %y %m %l\\n"], {
      cwd: room.root,
    })
      .stdout.toString()
      .split("\n")
      .sort()
  const before = list()
  await room.run([
    sh(
      "chmod 711 .; rmdir empty; chmod 700 d; mkdir -p new/deep; rm -r gone; ln -s d gone; rm f; mkdir f; echo x > f/x",
    ),
  ])
  const { checkpoints, store, log, workspace } = room
  const { sessionId } = log
  const { artifacts } = store
  const parts = { sessionId, checkpoints, artifacts, ids: systemIds, workspace, others: [] }
  const plan = await planUndo(parts, room.events())
  const undone = (also: ReturnType<typeof contentsIn>) =>
    undo(parts, plan, also, work => room.log.whileOwned(work))
  const after = list()
  const all = ["./", "d/", "empty/", "f", "f/", "f/x", "gone", "gone/", "gone/x", "new/", "new/deep/"]
  expect(await undone(new Map())).toMatchObject({ foreign: all, restored: [], removed: [] })
  expect(list()).toEqual(after)
  const { blocked, foreign, restored, removed } = await undone(contentsIn(plan))
  expect({ blocked, foreign }).toEqual({ blocked: [], foreign: [] })
  expect(list()).toEqual(before)
  expect(restored).toEqual(["./", "d/", "empty/", "f", "gone/", "gone/x"])
  expect(removed).toEqual(["f/", "f/x", "gone", "new/", "new/deep/"])
})
