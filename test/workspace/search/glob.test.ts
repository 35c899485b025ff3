import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { symlinkSync } from "node:fs"
import { globFiles, searchNameGlob } from "../../../src/workspace/search/glob.ts"
import { initRepository } from "../../support/workspace/temp-workspace.ts"
import { codeOf, type TestWorkspace, testWorkspace } from "../support.ts"

let ws: TestWorkspace
beforeAll(() => {
  ws = testWorkspace()
  initRepository(ws.root.path)
  ws.put(".gitignore", "dist/\n")
  for (const path of [
    "a.ts",
    "b.js",
    "src/c.ts",
    "src/deep/d.ts",
    "src/deep/e.test.ts",
    "dist/f.ts",
    ".github/ci.yml",
  ])
    ws.put(path, "x")
  ws.put(".agent/state.ts", "x")
  ws.put("secrets/key.ts", "x")
  ws.put("with:colon\nand newline.ts", "x")
  symlinkSync("a.ts", ws.path("link.ts"))
  symlinkSync("../outside", ws.path("outside"))
})
afterAll(() => ws[Symbol.dispose]())

const glob = (pattern: string, path = ".", matchesMax = 100) =>
  globFiles(ws.root, { pattern, path, matchesMax }, hidden => hidden === "secrets")

describe("files are found by name", () => {
  const cases: [string, string[]][] = [
    ["*.ts", ["a.ts", "link.ts", "with:colon\nand newline.ts"]],
    ["src/*.ts", ["src/c.ts"]],
    ["src/**", ["src/c.ts", "src/deep/d.ts", "src/deep/e.test.ts"]],
    ["**/*.test.ts", ["src/deep/e.test.ts"]],
    ["**/{c,d}.ts", ["src/c.ts", "src/deep/d.ts"]],
    ["{src,nowhere}/**/{d,x{y,z}}.ts", ["src/deep/d.ts"]],
    ["./src/c.ts", ["src/c.ts"]],
    [".github/*", [".github/ci.yml"]],
    ["[ab].?s", ["a.ts", "b.js"]],
    ["-*", []],
    ["**/f.ts", []],
    ["**/key.ts", []],
    [".git/**", []],
    [".agent/**", []],
    ["outside/**", ["outside"]],
  ]
  for (const [pattern, paths] of cases) test(pattern, () => expect(glob(pattern).paths).toEqual(paths))
})

test("a pattern is relative to where it is asked", () => {
  expect(glob("*.ts", "src").paths).toEqual(["src/c.ts"])
  expect(glob("**/*.ts", "src/deep").paths).toEqual(["src/deep/d.ts", "src/deep/e.test.ts"])
})

test("an ignored directory is searched when it is named", () => {
  expect(glob("*", "dist").paths).toEqual(["dist/f.ts"])
})

test("more matches than requested are cut and reported as truncated", () => {
  expect(glob("**", ".", 2)).toMatchObject({ truncated: true })
  expect(glob("**", ".", 2).paths).toHaveLength(2)
})

describe("a pattern is refused", () => {
  for (const pattern of ["/etc/*", "../*", "a/../../x", "{..,a}/x", "src/.."])
    test(`${pattern} as outside`, () => expect(codeOf(() => glob(pattern))).toBe("ACODE-SEC-005"))
  for (const pattern of ["", "a\0b", "[a", "{a,b", "a}", `${"{a,b}".repeat(20)}`])
    test(`${JSON.stringify(pattern)} as none`, () => expect(codeOf(() => glob(pattern))).toBe("ACODE-FS-001"))
})

test("for a search, a name without a slash is found at any depth", () => {
  expect(searchNameGlob("*.ts")("a/b/c.ts")).toBe(true)
  expect(searchNameGlob("a/*.ts")("x/a/b.ts")).toBe(false)
})
