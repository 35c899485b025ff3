import { afterAll, beforeAll, expect, test } from "bun:test"
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { locateWorkspace } from "../../src/workspace/locate.ts"

let base: string

beforeAll(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "acode-locate-")))
  mkdirSync(join(base, "outer/.agent"), { recursive: true })
  mkdirSync(join(base, "outer/repo/.git"), { recursive: true })
  mkdirSync(join(base, "outer/repo/src"), { recursive: true })
  mkdirSync(join(base, "outer/repo/packages/one/.agent"), { recursive: true })
  mkdirSync(join(base, "outer/repo/packages/one/src"), { recursive: true })
  mkdirSync(join(base, "outer/worktree/src"), { recursive: true })
  writeFileSync(join(base, "outer/worktree/.git"), "gitdir: ../repo/.git/worktrees/one\n")
  mkdirSync(join(base, "outer/plain/sub"), { recursive: true })
  mkdirSync(join(base, "lone/sub"), { recursive: true })
  symlinkSync("/nowhere", join(base, "lone/.agent"))
})

afterAll(() => rmSync(base, { recursive: true }))

test("the nearest parent with .agent wins inside a repository", () => {
  expect(locateWorkspace(join(base, "outer/repo/packages/one/src"))).toBe(
    join(base, "outer/repo/packages/one"),
  )
})

test("an .agent above the git top level does not count", () => {
  expect(locateWorkspace(join(base, "outer/repo/src"))).toBe(join(base, "outer/repo"))
})

test("a linked worktree, whose .git is a file, is a git top level", () => {
  expect(locateWorkspace(join(base, "outer/worktree/src"))).toBe(join(base, "outer/worktree"))
})

test("without git the nearest .agent is found", () => {
  expect(locateWorkspace(join(base, "outer/plain/sub"))).toBe(join(base, "outer"))
})

test("an .agent that is a symlink does not mark a workspace", () => {
  expect(locateWorkspace(join(base, "lone/sub"))).toBe(join(base, "lone/sub"))
})
