import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import { symlinkSync } from "node:fs"
import { readGitRules, withIgnoreFile } from "../../../src/workspace/tree/git-rules.ts"
import { isIgnored } from "../../../src/workspace/tree/ignore.ts"
import { walkFiles } from "../../../src/workspace/tree/walk.ts"
import { missingProgram, testWhere } from "../../support/requirement.ts"
import { initRepository } from "../../support/workspace/temp-workspace.ts"
import { git } from "../git-repository.ts"
import { type TestWorkspace, testWorkspace } from "../support.ts"

const gitTest = testWhere(missingProgram("git"))

let ws: TestWorkspace
beforeEach(() => {
  ws = testWorkspace()
})
afterEach(() => ws[Symbol.dispose]())

const rules = (directory = ".") => readGitRules(ws.path(directory).replace(/\/\.?$/, ""), null)

describe("what git says about a workspace", () => {
  test("is nothing without git", () => expect(rules()).toBeNull())

  test("starts with its own excludes", () => {
    initRepository(ws.root.path)
    ws.put(".git/info/exclude", "*.secret\n")
    expect(isIgnored(rules()?.top ?? null, "a.secret", false)).toBe(true)
  })

  gitTest("in a linked worktree uses the excludes that all worktrees share", () => {
    ws.put("main/file", "x")
    initRepository(ws.path("main"))
    git(ws.path("main"), "add", ".")
    git(ws.path("main"), "commit", "-q", "-m", "x")
    git(ws.path("main"), "worktree", "add", "-q", "../side")
    ws.put("main/.git/info/exclude", "*.secret\n")
    const side = rules("side")
    expect(isIgnored(side?.top ?? null, "a.secret", false)).toBe(true)
    expect(side?.tracked.hasFile("file")).toBe(true)
  })

  test("below the top level knows the files above, and where it is", () => {
    initRepository(ws.root.path)
    ws.put(".gitignore", "/packages/one/dist\n")
    ws.put("packages/one/src/a", "x")
    const below = rules("packages/one")
    expect(below?.prefix).toBe("packages/one/")
    expect(isIgnored(below?.top ?? null, "packages/one/dist", true)).toBe(true)
  })

  test("is nothing for a directory that git ignores", () => {
    initRepository(ws.root.path)
    ws.put(".gitignore", "vendor/\n")
    ws.put("vendor/lib/x", "x")
    expect(rules("vendor")).toBeNull()
    expect(rules("vendor/lib")).toBeNull()
  })

  gitTest("is the same object until something about it changes", () => {
    initRepository(ws.root.path)
    ws.put("file", "x")
    const first = rules()
    expect(readGitRules(ws.root.path, first)).toBe(first)
    git(ws.root.path, "add", "file")
    const second = readGitRules(ws.root.path, first)
    expect(second).not.toBe(first)
    ws.put(".git/info/exclude", "x\n")
    expect(readGitRules(ws.root.path, second)).not.toBe(second)
  })
})

test("an ignore file that is a symlink is not read, as git does not read it", () => {
  initRepository(ws.root.path)
  ws.put("elsewhere", "*\n")
  symlinkSync("elsewhere", ws.path(".gitignore"))
  const top = rules()?.top
  if (top === undefined) throw new Error("it is a repository")
  expect(withIgnoreFile(top, "", ws.root.path)).toBe(top)
})

describe("walking the files", () => {
  const walk = (start = ".") => [...walkFiles(ws.root.path, start, path => path === "hidden")]

  test("leaves out ignored and hidden files, .git and .agent", () => {
    initRepository(ws.root.path)
    ws.put(".gitignore", "dist/\n*.log\n")
    for (const path of ["a", "b/c", "b/x.log", "dist/d", ".agent/e", "hidden/f", "b/.git/g"])
      ws.put(path, "x")
    expect(walk()).toEqual([".gitignore", "a", "b/c"])
  })

  test("obeys the ignore files above the directory it starts in", () => {
    initRepository(ws.root.path)
    ws.put(".gitignore", "*.log\n")
    ws.put("b/.gitignore", "*.tmp\n")
    for (const path of ["b/c/x.log", "b/c/x.tmp", "b/c/kept"]) ws.put(path, "x")
    expect(walk("b/c")).toEqual(["b/c/kept"])
  })

  test("names symlinks and does not follow them, and a missing start has nothing", () => {
    ws.put("a/b", "x")
    symlinkSync("a", ws.path("link"))
    expect(walk()).toEqual(["link", "a/b"])
    expect(walk("missing")).toEqual([])
  })
})
