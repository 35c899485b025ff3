import { afterEach, beforeEach, expect, test } from "bun:test"
import { lstatSync, mkdirSync, symlinkSync, unlinkSync } from "node:fs"
import { join } from "node:path"
import { sha256Hex } from "../../src/base/canonical.ts"
import { codeOf, quietly, type TestRoom, testRoom } from "./support.ts"

let t: TestRoom
beforeEach(() => {
  t = testRoom()
})
afterEach(() => t[Symbol.dispose]())

test("several files are deleted, and what they held is known before", async () => {
  t.put("a.txt", "a")
  t.put("d/b.bin", Uint8Array.of(0, 1))
  const declared = t.declare("delete_file", { paths: ["a.txt", "./d/b.bin", "a.txt"] })
  expect(declared).toMatchObject({ effectClass: "replace", network: null })
  expect(declared.effects).toEqual([
    { kind: "delete", path: "a.txt" },
    { kind: "delete", path: "d/b.bin" },
  ])
  const prepared = await declared.prepare()
  expect(prepared.targets).toEqual([
    { path: "a.txt", before: sha256Hex("a"), after: null },
    { path: "d/b.bin", before: sha256Hex(Uint8Array.of(0, 1)), after: null },
  ])
  expect(prepared.preview).toContain("delete a.txt")
  const result = await prepared.execute(quietly)
  expect(result.value).toEqual({ deleted: ["a.txt", "d/b.bin"] })
  expect(result.changes).toEqual([...prepared.targets])
  expect(t.has("a.txt") || t.has("d/b.bin")).toBe(false)
})

test("a symlink is deleted itself, dangling or not, and what it points to stays", async () => {
  t.put("real.txt", "x")
  symlinkSync("real.txt", join(t.root, "link"))
  symlinkSync("nowhere", join(t.root, "dangling"))
  const declared = t.declare("delete_file", { paths: ["link", "dangling"] })
  expect(declared.effects).toContainEqual({ kind: "delete", path: "real.txt" })
  const prepared = await declared.prepare()
  expect(prepared.targets).toEqual([
    { path: "link", before: "link:real.txt", after: null },
    { path: "dangling", before: "link:nowhere", after: null },
  ])
  const { changes } = await prepared.execute(quietly)
  expect(changes).toEqual([...prepared.targets])
  expect(t.has("real.txt")).toBe(true)
  expect(lstatSync(join(t.root, "link"), { throwIfNoEntry: false })).toBeUndefined()
})

test("when one cannot be deleted, none is", async () => {
  t.put("a.txt", "a")
  t.put(".env", "A=1")
  mkdirSync(join(t.root, "dir"))
  const code = (path: string) => codeOf(() => t.call("delete_file", { paths: ["a.txt", path] }))
  expect(await code("missing.txt")).toBe("ACODE-FS-002")
  expect(await code("dir")).toBe("ACODE-FS-003")
  expect(await code(".")).toBe("ACODE-FS-003")
  expect(await code(".env")).toBe("ACODE-SEC-003")
  expect(await code("../outside.txt")).toBe("ACODE-SEC-005")
  expect(t.has("a.txt")).toBe(true)
})

test("what was changed or replaced since it was looked at is not deleted", async () => {
  t.put("a.txt", "a")
  const prepared = await t.declare("delete_file", { paths: ["a.txt"] }).prepare()
  t.put("a.txt", "theirs")
  expect(await codeOf(() => prepared.execute(quietly))).toBe("ACODE-FS-007")
  unlinkSync(join(t.root, "a.txt"))
  symlinkSync("elsewhere", join(t.root, "a.txt"))
  expect(await codeOf(() => prepared.execute(quietly))).toBe("ACODE-FS-007")
  expect(lstatSync(join(t.root, "a.txt")).isSymbolicLink()).toBe(true)
})
