import { expect, test } from "bun:test"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { failureOf, quietly, testRoom } from "./support.ts"

const patch = [
  "--- a/one.txt\n+++ b/one.txt\n@@ -1 +1 @@\n-1\n+eins\n",
  "--- a/two.txt\n+++ b/two.txt\n@@ -1 +1 @@\n-2\n+zwei\n",
].join("")

test("a change that cannot be put back is told, and the edit of somebody else stays", async () => {
  let written = 0
  let edit = (): void => undefined
  using t = testRoom({
    faults: {
      reach: point => {
        if (point === "file.renamed" && written++ === 0) edit()
      },
    },
  })
  t.put("one.txt", "1\n")
  t.put("two.txt", "2\n")
  // As soon as the first file is written, somebody changes both.
  edit = () => {
    writeFileSync(join(t.root, "one.txt"), "theirs 1\n")
    writeFileSync(join(t.root, "two.txt"), "theirs 2\n")
  }
  const prepared = await t.declare("modify_file", { path: ".", patch }).prepare()
  const failure = await failureOf(() => prepared.execute(quietly))
  expect(failure?.code).toBe("ACODE-FS-007")
  expect(failure?.message).toContain("could not be restored: one.txt")
  expect([t.read("one.txt"), t.read("two.txt")]).toEqual(["theirs 1\n", "theirs 2\n"])
})

test("a single change that fails says only why", async () => {
  using t = testRoom()
  t.put("one.txt", "1\n")
  const prepared = await t.declare("write_file", { path: "one.txt", content: "2\n" }).prepare()
  t.put("one.txt", "theirs\n")
  expect((await failureOf(() => prepared.execute(quietly)))?.message).not.toContain("restored")
})

test("the same call twice gives the same targets, preview and result", async () => {
  const results = []
  for (let round = 0; round < 2; round++) {
    using t = testRoom()
    t.put("one.txt", "1\n")
    t.put("two.txt", "2\n")
    const prepared = await t.declare("modify_file", { path: ".", patch }).prepare()
    const { targets, preview } = prepared
    results.push(JSON.stringify({ targets, preview, result: await prepared.execute(quietly) }))
  }
  expect(results[0]).toBe(results[1] ?? "")
})
