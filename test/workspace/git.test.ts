import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { readGitState } from "../../src/workspace/git.ts"

let base: string
const first = "1".repeat(40)
const second = "2".repeat(40)

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "acode-git-")))
})
afterEach(() => rmSync(base, { recursive: true }))

function put(path: string, content: string): void {
  const full = join(base, path)
  mkdirSync(dirname(full), { recursive: true })
  writeFileSync(full, content)
}

describe("the commit that is checked out", () => {
  test("is read through a branch", () => {
    put(".git/HEAD", "ref: refs/heads/main\n")
    put(".git/refs/heads/main", `${first}\n`)
    expect(readGitState(base)).toEqual({ worktreeId: "main", repoSha: first })
  })

  test("is read from a detached HEAD", () => {
    put(".git/HEAD", `${second}\n`)
    expect(readGitState(base).repoSha).toBe(second)
  })

  test("is found in packed-refs when the loose file is gone", () => {
    put(".git/HEAD", "ref: refs/heads/main\n")
    put(
      ".git/packed-refs",
      `# pack-refs with: peeled\n${second} refs/heads/maint\n${first} refs/heads/main\n`,
    )
    expect(readGitState(base).repoSha).toBe(first)
  })

  test("is found from a directory below the top level", () => {
    put(".git/HEAD", `${first}\n`)
    mkdirSync(join(base, "a/b"), { recursive: true })
    expect(readGitState(join(base, "a/b")).repoSha).toBe(first)
  })

  test("of a SHA-256 repository is accepted", () => {
    put(".git/HEAD", `${"a".repeat(64)}\n`)
    expect(readGitState(base).repoSha).toBe("a".repeat(64))
  })

  test("is null before the first commit", () => {
    put(".git/HEAD", "ref: refs/heads/main\n")
    expect(readGitState(base)).toEqual({ worktreeId: "main", repoSha: null })
  })
})

test("a linked worktree has its own name and HEAD and shares the refs", () => {
  put("repo/.git/HEAD", "ref: refs/heads/main\n")
  mkdirSync(join(base, "repo/.git/objects"), { recursive: true })
  put("repo/.git/refs/heads/topic", `${second}\n`)
  put("repo/.git/worktrees/side/HEAD", "ref: refs/heads/topic\n")
  put("repo/.git/worktrees/side/commondir", "../..\n")
  put("repo/.git/worktrees/side/gitdir", `${join(base, "side/.git")}\n`)
  put("side/.git", `gitdir: ${join(base, "repo/.git/worktrees/side")}\n`)
  expect(readGitState(join(base, "side"))).toEqual({ worktreeId: "side", repoSha: second })
})

describe("hostile or broken git files never fail and never leak", () => {
  test("a foreign repository that a .git names is not read", () => {
    put("theirs/.git/HEAD", `${first}\n`)
    for (const name of ["objects", "refs"]) mkdirSync(join(base, "theirs/.git", name))
    put("mine/.git", `gitdir: ${join(base, "theirs/.git")}\n`)
    expect(readGitState(join(base, "mine"))).toEqual({ worktreeId: null, repoSha: null })
    rmSync(join(base, "mine/.git"))
    symlinkSync("../theirs/.git", join(base, "mine/.git"))
    expect(readGitState(join(base, "mine"))).toEqual({ worktreeId: null, repoSha: null })
  })

  test("no git at all", () => {
    expect(readGitState(base)).toEqual({ worktreeId: null, repoSha: null })
  })

  test("a ref that climbs out of the repository is not followed", () => {
    put(".git/HEAD", "ref: refs/../../secret\n")
    put("secret", `${first}\n`)
    expect(readGitState(base).repoSha).toBeNull()
  })

  test("a ref loop ends", () => {
    put(".git/HEAD", "ref: refs/heads/a\n")
    put(".git/refs/heads/a", "ref: refs/heads/b\n")
    put(".git/refs/heads/b", "ref: refs/heads/a\n")
    expect(readGitState(base).repoSha).toBeNull()
  })

  test("a HEAD that is a symlink or a FIFO is not read", () => {
    put(".git/refs/heads/main", `${first}\n`)
    symlinkSync("refs/heads/main", join(base, ".git/HEAD"))
    expect(readGitState(base).repoSha).toBeNull()
    rmSync(join(base, ".git/HEAD"))
    expect(Bun.spawnSync(["mkfifo", join(base, ".git/HEAD")]).exitCode).toBe(0)
    expect(readGitState(base).repoSha).toBeNull()
  })

  test("garbage is not a commit", () => {
    put(".git/HEAD", "\u0000\u0001garbage")
    expect(readGitState(base).repoSha).toBeNull()
  })
})
