import { afterEach, beforeEach, expect, test } from "bun:test"
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
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

/** What git itself asks of a directory before it calls it a repository. */
function repository(path: string): void {
  put(`${path}/HEAD`, "ref: refs/heads/main\n")
  for (const name of ["objects", "refs"]) mkdirSync(join(room.base, path, name))
}

test("an ordinary repository needs nothing from elsewhere", () => {
  room.write(".git/HEAD", "ref: refs/heads/main")
  expect(linkedGitDirectories(room.root)).toEqual([])
})

test("a linked worktree needs the repository it belongs to", () => {
  const worktree = join(room.base, "main/.git/worktrees/w")
  room.write(".git", `gitdir: ${worktree}\n`)
  repository("main/.git")
  put("main/.git/worktrees/w/HEAD", "ref: refs/heads/w\n")
  put("main/.git/worktrees/w/commondir", "../..\n")
  put("main/.git/worktrees/w/gitdir", `${room.root}/.git\n`)
  expect(linkedGitDirectories(room.root)).toEqual([join(room.base, "main/.git"), worktree])
  put("main/.git/worktrees/w/gitdir", "/somewhere/else/.git\n")
  expect(linkedGitDirectories(room.root)).toEqual([])
})

test("a submodule needs its directory in the repository above", () => {
  room.write(".git", "gitdir: ../super/.git/modules/w\n")
  repository("super/.git/modules/w")
  put("super/.git/modules/w/config", "[core]\n\tworktree = ../../../../workspace\n")
  expect(linkedGitDirectories(room.root)).toEqual([join(room.base, "super/.git/modules/w")])
})

test("a file that points to a directory which does not point back opens nothing", () => {
  room.write(".git", `gitdir: ${room.home}/.ssh\n`)
  expect(linkedGitDirectories(room.root)).toEqual([])
})

test("what an archive brings along cannot name another place as its repository", () => {
  repository("home/project/.git")
  for (const common of [`${room.home}/.ssh`, `${room.home}/project/.git`, "/etc", room.home]) {
    room.write(".git", "gitdir: brought/worktrees/w\n")
    room.write("brought/worktrees/w/HEAD", "ref: refs/heads/w\n")
    room.write("brought/worktrees/w/commondir", `${common}\n`)
    room.write("brought/worktrees/w/gitdir", "../../../.git\n")
    expect(linkedGitDirectories(room.root)).toEqual([])
  }
  room.write("brought/worktrees/w/commondir", "../..\n")
  rmSync(join(room.root, "brought"), { recursive: true })
  symlinkSync(`${room.home}/.ssh`, join(room.root, "brought"))
  expect(linkedGitDirectories(room.root)).toEqual([])
})

test("anything else called .git opens nothing", () => {
  expect(linkedGitDirectories(room.root)).toEqual([])
  room.write(".git", "not a pointer")
  expect(linkedGitDirectories(room.root)).toEqual([])
  room.write(".git", `gitdir: ${"x".repeat(70_000)}`)
  expect(linkedGitDirectories(room.root)).toEqual([])
})
