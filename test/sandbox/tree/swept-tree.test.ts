import { afterEach, beforeEach, expect, test } from "bun:test"
import { existsSync, lstatSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { protectTree, sweepTree } from "../../../src/sandbox/tree/protected-tree.ts"
import { eventually } from "../../support/eventually.ts"
import { confinementOf, openRoom, type Room } from "../room.ts"

let room: Room
beforeEach(() => {
  room = openRoom()
})
afterEach(() => room.remove())

/** What a sweep moves away that the next acode makes for a command whose own acode was killed. */
async function sweptAfter(change: () => void): Promise<readonly string[]> {
  const tree = await protectTree(room.settings, confinementOf(room, ["/bin/true"]), new Map())
  // Not ended, as when its acode dies: the placeholders stay as well.
  change()
  const { quarantined, left = [] } = await sweepTree(room.settings, room.root, tree.names, "exe_swept")
  expect(left).toEqual([])
  return quarantined
}

/** Waits until a new file is later than all that are there, by more than the clock of file times lags. */
async function untilLater(path: string): Promise<void> {
  const before = lstatSync(join(room.root, path)).ctimeMs
  const tick = join(room.base, "tick")
  await eventually("the clock of files has ticked", () => {
    writeFileSync(tick, "")
    return lstatSync(tick).ctimeMs > before + 60
  })
}

test("what makes the workspace a repository is swept, and a person's files with such names stay", async () => {
  room.write("config/settings.json", "a person's")
  room.write("hooks/readme", "a person's")
  await untilLater("hooks/readme")
  const swept = await sweptAfter(() => {
    for (const name of ["HEAD", "objects/x", "refs/x", "a.txt"]) room.write(name)
  })
  expect(swept).toEqual(["HEAD", "objects", "refs"])
  for (const name of ["config/settings.json", "hooks/readme", "a.txt"])
    expect([name, existsSync(join(room.root, name))]).toEqual([name, true])
})

test("a workspace that was a bare repository stays one", async () => {
  for (const name of ["HEAD", "objects/x", "refs/x", "config"]) room.write(name)
  await untilLater("config")
  expect(await sweptAfter(() => room.write("objects/y"))).toEqual([])
})
