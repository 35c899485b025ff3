import { afterAll, beforeAll, expect, test } from "bun:test"
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs"
import { listDirectory } from "../../../src/workspace/files/list-directory.ts"
import { codeOf, type TestWorkspace, testWorkspace } from "../support.ts"

let ws: TestWorkspace
beforeAll(() => {
  ws = testWorkspace()
  ws.put("b.txt", "12345")
  ws.put("a/one.ts", "1")
  ws.put("a/deep/two.ts", "2")
  ws.put(".git/config", "x")
  ws.put(".agent/workspace.db", "x")
  ws.put("secrets/key.pem", "x")
  symlinkSync("a/one.ts", ws.path("inside"))
  symlinkSync(ws.outside, ws.path("outside"))
  symlinkSync("nowhere", ws.path("dangling"))
  writeFileSync(Buffer.concat([Buffer.from(`${ws.root.path}/bad`), Buffer.from([0xff])]), "x")
})
afterAll(() => ws[Symbol.dispose]())

const isHidden = (path: string) => path === "secrets"
const list = (path: string, depth = 1, entriesMax = 100) =>
  listDirectory(ws.root, { path, depth, entriesMax }, isHidden)
const paths = (path: string, depth?: number, max?: number) =>
  list(path, depth, max).entries.map(entry => entry.path)

test("a directory is listed in the order of its names, with kinds and sizes", () => {
  expect(list(".").entries.map(({ path, kind }) => [path, kind])).toEqual([
    [".agent", "directory"],
    [".git", "directory"],
    ["a", "directory"],
    ["b.txt", "file"],
    ["bad\udcff", "file"],
    ["dangling", "symlink"],
    ["inside", "symlink"],
    ["outside", "symlink"],
  ])
  expect(list(".").entries.find(entry => entry.path === "b.txt")?.sizeBytes).toBe(5)
})

test("symlinks say where they lead and are not followed", () => {
  const targets = list(".", 5).entries.flatMap(({ path, target }) =>
    target === null ? [] : [[path, target.inside]],
  )
  expect(targets).toEqual([
    ["dangling", false],
    ["inside", true],
    ["outside", false],
  ])
  expect(paths(".", 5).filter(path => path.startsWith("outside/"))).toEqual([])
})

test("a depth lists sub-directories, but not .git and .agent", () => {
  expect(paths("a", 1)).toEqual(["a/deep", "a/one.ts"])
  expect(paths("a", 2)).toEqual(["a/deep", "a/deep/two.ts", "a/one.ts"])
  expect(paths(".", 9).filter(path => path.startsWith("."))).toEqual([".agent", ".git"])
})

test("a symlink to a directory inside is listed when it is asked for", () => {
  symlinkSync("a", ws.path("alias"))
  expect(list("alias")).toMatchObject({ path: "a" })
})

test("more entries than requested are cut and reported as truncated", () => {
  expect(list(".", 1, 3)).toMatchObject({ truncated: true })
  expect(paths(".", 9, 3)).toHaveLength(3)
  expect(list("a", 2, 3).truncated).toBe(false)
})

test("hidden names are not shown at all", () => {
  expect(paths(".", 9)).not.toContain("secrets")
  expect(paths(".", 9)).not.toContain("secrets/key.pem")
})

test("a file and a missing directory are refused", () => {
  expect(codeOf(() => list("b.txt"))).toBe("ACODE-FS-003")
  expect(codeOf(() => list("missing"))).toBe("ACODE-FS-002")
})

test("a very deep directory ends somewhere", () => {
  mkdirSync(ws.path(`deep/${"d/".repeat(100)}`), { recursive: true })
  expect(paths("deep", 1000).length).toBeLessThan(100)
})
