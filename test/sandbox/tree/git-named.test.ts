import { afterEach, beforeEach, expect, test } from "bun:test"
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { namedByGit } from "../../../src/sandbox/tree/git-named.ts"
import { isArmed } from "../../../src/sandbox/tree/git-repository.ts"
import { missingProgram, testWhere } from "../../support/requirement.ts"
import { openRoom, type Room } from "../room.ts"

const gitTest = testWhere(missingProgram("git"))
let room: Room
beforeEach(() => {
  room = openRoom()
  room.write(".git/HEAD", "ref: refs/heads/main\n")
})
afterEach(() => room.remove())

function put(path: string, content: string): void {
  mkdirSync(dirname(join(room.base, path)), { recursive: true })
  writeFileSync(join(room.base, path), content)
}

function named(repositories: readonly string[] = [], environment: Record<string, string> = {}) {
  return [...namedByGit({ root: room.root, home: room.home, environment }, repositories).paths].sort()
}

test("hooks, further configuration and programs of the workspace are named, and nothing else", () => {
  for (const file of ["tools/clean", "tools/merge.js", "plain", "docs/ignore", "feature/x", "origin"])
    room.write(file)
  room.write(
    ".git/config",
    `[core]
	hooksPath = .githooks
	excludesFile = docs/ignore
	fsmonitor = true
	pager = less
	editor = "node tools/missing.js --wait"
	attributesFile = ~/attributes
	worktree = ..
[include]
	path = ../shared/config
[includeIf "onbranch:x"]
	path = ~/elsewhere
[filter "a"]
	clean = tools/clean %f
	smudge = git-lfs smudge -- %f
[merge "b"]
	driver = "node plain %A; sh 'tools/merge.js'"
[diff "c"]
	textconv = ${room.root}/bin/convert
[gitflow "prefix"]
	feature = feature/
[branch "main"]
	remote = origin
[remote "origin"]
	url = ./origin
	uploadpack = tools/upload
[alias]
	x = !./scripts/x.sh && echo done
	y = log --oneline
[unheard]
	of = run tools/clean, then tools/absent
`,
  )
  expect(named()).toEqual([
    ".githooks",
    "bin/convert",
    "plain",
    "scripts/x.sh",
    "shared/config",
    "tools/clean",
    "tools/merge.js",
    "tools/missing.js",
    "tools/upload",
  ])
})

test("configuration is followed through includes, worktrees, links and the user's own files", () => {
  room.write(".git/config", "[include]\n\tpath = more\n\tpath = ../inside\n")
  room.write(".git/more", "[core]\n\thooksPath = one\n[include]\n\tpath = more\n")
  room.write("inside", "[core]\n\thooksPath = two\n")
  room.write(".git/config.worktree", "[core]\n\thooksPath = three\n")
  put("dotfiles/gitconfig", "[core]\n\thooksPath = four\n")
  symlinkSync("../dotfiles/gitconfig", join(room.home, ".gitconfig"))
  put("home/.config/git/config", "[core]\n\thooksPath = five\n")
  put("other", "[core]\n\thooksPath = six\n")
  expect(named()).toEqual(["five", "four", "inside", "one", "three", "two"])
  expect(named([], { GIT_CONFIG_GLOBAL: join(room.base, "other") })).toContain("six")
  expect(named([], { GIT_CONFIG_GLOBAL: join(room.base, "other") })).not.toContain("four")
})

test("each repository names what lies beside it, and a gitlink what lies beside its own", () => {
  room.write("a/.git/config", "[core]\n\thooksPath = hooks\n")
  put("main/.git/worktrees/b/commondir", "../..\n")
  put("main/.git/config", "[core]\n\thooksPath = ../hooks\n")
  room.write("b/.git", `gitdir: ${room.base}/main/.git/worktrees/b\n`)
  room.write("bare/config", "[core]\n\tfsmonitor = ./watch\n")
  expect(named(["a/.git", "b/.git", "bare"])).toEqual(["a/hooks", "bare/watch", "hooks"])
})

test("a workspace below the top level, or one that is a bare repository, is treated as what it is", () => {
  rmSync(join(room.root, ".git"), { recursive: true })
  put(".git/config", "[core]\n\thooksPath = workspace/hooks\n\tpager = outside/pager\n")
  expect(named()).toEqual(["hooks"])
  for (const name of ["HEAD", "objects/x", "refs/x"]) room.write(name)
  room.write("config", "[core]\n\tsshCommand = tools/ssh\n")
  expect(named()).toEqual([
    ...["HEAD", "commondir", "config", "config.worktree", "hooks", "info", "objects", "refs", "tools/ssh"],
  ])
})

test("hooks in the top directory are protected by their names, and what a link leads to with the link", () => {
  room.write(".git/config", "[core]\n\thooksPath = .\n\tpager = way/pager\n")
  room.write("real/pager")
  symlinkSync("real", join(room.root, "way"))
  const found = named()
  expect(found).toContain("pre-commit")
  expect(found).toContain("post-index-change")
  expect(found.filter(path => path.includes("/"))).toEqual(["real/pager", "way/pager"])
})

gitTest("what git itself makes is harmless, and each thing that it would run is not", () => {
  const git = (...args: string[]) => {
    const child = Bun.spawnSync(["git", ...args], {
      cwd: room.base,
      env: { PATH: "/usr/bin:/bin", HOME: room.home },
    })
    if (child.exitCode !== 0) throw new Error(child.stderr.toString())
  }
  git("init", "-q", "one")
  git("clone", "-q", "one", "two")
  git("clone", "-q", "--mirror", "one", "three.git")
  git("-C", "one", "-c", "user.name=x", "-c", "user.email=x", "commit", "-q", "--allow-empty", "-m", "x")
  git("-C", "one", "worktree", "add", "-q", "../four")
  const all = ["one/.git", "two/.git", "three.git", "four/.git"]
  for (const path of all) expect([path, isArmed(join(room.base, path))]).toEqual([path, false])
  put("two/.git/hooks/post-checkout", "")
  git("-C", "three.git", "config", "core.fsmonitor", "x")
  git("-C", "one", "config", "filter.x.clean", "x")
  put("five/.git", "gitdir: ../two/.git\n")
  symlinkSync("one/.git", join(room.base, "six"))
  put("seven/.git", "not a pointer")
  put("eight/.git/config", "[include]\n\tpath = x\n")
  mkdirSync(join(room.base, "nine/.git/config"), { recursive: true })
  const armed = [...all.slice(0, 3), "five/.git", "six", "seven/.git", "eight/.git", "nine/.git"]
  for (const path of armed) expect([path, isArmed(join(room.base, path))]).toEqual([path, true])
})
