import { afterEach, beforeEach, expect, test } from "bun:test"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { linkedGitDirectories } from "../../src/sandbox/git-directory.ts"
import { openRoom, type Room } from "./room.ts"

let room: Room
beforeEach(() => {
  room = openRoom()
})
afterEach(() => room.remove())

function put(path: string, content: string): void {
  mkdirSync(join(room.base, path, ".."), { recursive: true })
  writeFileSync(join(room.base, path), content)
}

test("an ordinary repository needs nothing from elsewhere", () => {
  room.write(".git/HEAD", "ref: refs/heads/main")
  expect(linkedGitDirectories(room.root)).toEqual([])
})

test("a linked worktree needs the repository it belongs to", () => {
  const worktree = join(room.base, "main/.git/worktrees/w")
  room.write(".git", `gitdir: ${worktree}\n`)
  put("main/.git/worktrees/w/commondir", "../..\n")
  put("main/.git/worktrees/w/gitdir", `${room.root}/.git\n`)
  expect(linkedGitDirectories(room.root)).toEqual([join(room.base, "main/.git"), worktree])
})

test("a submodule needs its directory in the repository above", () => {
  room.write(".git", "gitdir: ../super/.git/modules/w\n")
  put("super/.git/modules/w/HEAD", "ref: refs/heads/main\n")
  put("super/.git/modules/w/config", "[core]\n\tworktree = ../../../../workspace\n")
  expect(linkedGitDirectories(room.root)).toEqual([join(room.base, "super/.git/modules/w")])
})

test("a file that points to a directory which does not point back opens nothing", () => {
  room.write(".git", `gitdir: ${room.home}/.ssh\n`)
  expect(linkedGitDirectories(room.root)).toEqual([])
  put("main/.git/worktrees/w/commondir", "../..\n")
  put("main/.git/worktrees/w/gitdir", "/somewhere/else/.git\n")
  room.write(".git", `gitdir: ${room.base}/main/.git/worktrees/w\n`)
  expect(linkedGitDirectories(room.root)).toEqual([])
})

test("anything else called .git opens nothing", () => {
  expect(linkedGitDirectories(room.root)).toEqual([])
  room.write(".git", "not a pointer")
  expect(linkedGitDirectories(room.root)).toEqual([])
  room.write(".git", `gitdir: ${"x".repeat(70_000)}`)
  expect(linkedGitDirectories(room.root)).toEqual([])
})
