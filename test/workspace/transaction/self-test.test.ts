import { expect, test } from "bun:test"
import { chmodSync, chownSync, mkdirSync } from "node:fs"
import { join } from "node:path"
import { layerProblem } from "../../../src/workspace/transaction/self-test.ts"
import { testWhere } from "../../support/requirement.ts"
import { layerWorkspace } from "../../support/workspace/killed-merge.ts"
import { mountSkip, ownMount, smallDisk } from "../../support/workspace/mount-namespace.ts"

const mountTest = testWhere(mountSkip())
const rootTest = testWhere(process.getuid?.() === 0 ? null : "root may give files away, and others may not")
const program = join(import.meta.dir, "layer-problem-program.ts")

function problemIn(through: readonly string[], root: string, directory: string): string | null {
  const run = Bun.spawnSync([...through, process.execPath, program, root, directory])
  expect(run.stderr.toString()).toBe("")
  return JSON.parse(run.stdout.toString())
}

test("a workspace of one's own beside its layers can have transactions", () => {
  using place = layerWorkspace()
  expect(layerProblem(place.root, place.directory)).toBeNull()
})

test("a directory that gives its group to new files cannot", () => {
  using place = layerWorkspace()
  chmodSync(place.root, 0o2755)
  expect(layerProblem(place.root, place.directory)).toContain("setgid")
})

rootTest("nor can one of another user or group", () => {
  using place = layerWorkspace()
  chownSync(place.root, 0, 12_345)
  expect(layerProblem(place.root, place.directory)).toBe(
    "the workspace belongs to group 12345 and not to your own, 0",
  )
  chownSync(place.root, 12_345, 0)
  expect(layerProblem(place.root, place.directory)).toBe("the workspace belongs to another user")
})

mountTest("nor can one with a mount inside, which is named", () => {
  using place = layerWorkspace()
  const inside = join(place.root, "with space")
  mkdirSync(inside)
  expect(problemIn(ownMount(inside), place.root, place.directory)).toBe(
    `${inside} is a mount inside the workspace`,
  )
})

mountTest("nor can one whose layers are on another file system, or on another mount of the same one", () => {
  using place = layerWorkspace()
  mkdirSync(place.directory)
  for (const through of [smallDisk(place.directory, 1_000_000), ownMount(place.directory)])
    expect(problemIn(through, place.root, place.directory)).toContain("on another mount")
})

mountTest("a workspace in memory can, with its layers beside it", () => {
  using place = layerWorkspace()
  const root = join(place.root, "..")
  const script = ["sh", "-c", 'mkdir "$0/workspace" && exec "$@"', root]
  expect(problemIn([...smallDisk(root, 4_000_000), ...script], place.root, place.directory)).toBeNull()
})
