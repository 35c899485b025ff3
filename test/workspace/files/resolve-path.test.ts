import { afterAll, beforeAll, expect, test } from "bun:test"
import { symlinkSync } from "node:fs"
import { resolvePath } from "../../../src/workspace/files/openat2.ts"
import { codeOf, type TestWorkspace, testWorkspace } from "../support.ts"

let ws: TestWorkspace
beforeAll(() => {
  ws = testWorkspace()
  ws.put("a/b/file", "x")
  symlinkSync("a", ws.path("link"))
  symlinkSync(ws.path("a/b"), ws.path("absolute"))
  symlinkSync("../outside/nothing", ws.path("dangling"))
  symlinkSync("loop", ws.path("loop"))
})
afterAll(() => ws[Symbol.dispose]())

const resolved = (relative: string) => resolvePath(ws.root.path, relative)

/** Of a program: the runtime's own function takes `..` for the end of a name, also behind a symlink. */
function systemAnswer(path: string): string {
  return Bun.spawnSync(["realpath", "--canonicalize-existing", `${ws.root.path}/${path}`])
    .stdout.toString()
    .trim()
}

test("an existing path is what the system says it is", () => {
  for (const path of [
    "a",
    "a/b/file",
    "link/b/file",
    "absolute/file",
    "link/../a",
    "absolute/..",
    "a/./b",
    "..",
    "../..",
  ])
    expect(resolved(path)).toMatchObject({ real: systemAnswer(path), exists: true })
})

test("a missing path is followed as far as it exists, and through symlinks to nowhere", () => {
  expect(resolved("link/new/x")).toMatchObject({ real: ws.path("a/new/x"), exists: false })
  expect(resolved("dangling")).toMatchObject({ real: `${ws.outside}/nothing`, exists: false })
  expect(resolved("a/b/file/x")).toMatchObject({ real: ws.path("a/b/file/x"), exists: false })
})

test("symlinks are counted, and round and round is refused", () => {
  expect(resolved("a/b").symlinks).toBe(0)
  expect(resolved("link/../absolute").symlinks).toBe(2)
  expect(codeOf(() => resolved("loop"))).toBe("ACODE-SEC-005")
})
