import { describe, expect, test } from "bun:test"
import { check } from "../support/checker.ts"
import { readFileTree } from "../support/file-tree.ts"
import { crashAtEveryPoint, firstTree, planFile } from "../support/plan-crash.ts"
import { differences, sessionRows } from "../support/plan-report.ts"
import type { SavedWorkspace } from "../support/saved-workspace.ts"

describe("kill -9 at every numbered point of session undo", () => {
  test("leaves what a second undo puts back completely", async () => {
    const { found, last } = await crashAtEveryPoint(2, async (saved, point) => {
      // Not saved after this: a copy of a finished run would have other inodes, which undo does not know.
      await saved.acode(["plan", "run", planFile(saved.workspace)])
      const { signal } = await saved.acode(["session", "undo", "--commands"], {
        ACODE_FAILPOINT: String(point),
      })
      return { isCrashed: signal === "SIGKILL", problems: await undoneAgain(saved) }
    })
    expect(found).toEqual([])
    expect(last).toBeGreaterThan(20)
  }, 600_000)
})

/** Whatever the first undo came to, the second one brings it to its end, once. */
async function undoneAgain(saved: SavedWorkspace): Promise<readonly string[]> {
  const { exitCode, stderr } = await saved.acode(["session", "undo", "--commands"])
  const isSaidTwice = exitCode === 1 && stderr.includes("ACODE-UNDO-002")
  const records = sessionRows(saved.workspace).filter(row => row.type === "session.undone").length
  return [
    ...(exitCode === 0 || isSaidTwice ? [] : [`session undo exits ${exitCode}: ${stderr}`]),
    ...differences("all is put back", firstTree(), readFileTree(saved.workspace.root)),
    ...(records === 1 ? [] : [`it was recorded ${records} times`]),
    ...(await check(saved.workspace)),
  ]
}
