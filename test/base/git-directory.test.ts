import { afterEach, beforeEach, expect, test } from "bun:test"
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { linkedRepository } from "../../src/base/git-directory.ts"
import { missingProgram, testWhere } from "../support/requirement.ts"

const gitTest = testWhere(missingProgram("git"))
let base: string

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "acode-git-directory-")))
})
afterEach(() => rmSync(base, { recursive: true }))

function put(path: string, content: string): void {
  mkdirSync(dirname(join(base, path)), { recursive: true })
  writeFileSync(join(base, path), content)
}

function git(directory: string, ...args: string[]): string {
  const settings = ["user.name=t", "user.email=t@example.com", "protocol.file.allow=always"]
  const child = Bun.spawnSync(["git", ...settings.flatMap(each => ["-c", each]), ...args], {
    cwd: join(base, directory),
    env: { PATH: "/usr/bin:/bin", HOME: base },
  })
  if (child.exitCode !== 0) throw new Error(child.stderr.toString())
  return child.stdout.toString().trim()
}

/** What git itself asks of a directory before it calls it a repository. */
function repository(path: string): void {
  put(`${path}/HEAD`, "ref: refs/heads/main\n")
  for (const name of ["objects", "refs"]) mkdirSync(join(base, path, name))
}

const linked = (path: string) => linkedRepository(join(base, path))

gitTest("every way in which git itself links a directory to a repository is known", () => {
  git("", "init", "-q", "-b", "main", "library")
  git("library", "commit", "-q", "--allow-empty", "-m", "first")
  git("", "init", "-q", "-b", "main", "above")
  git("above", "submodule", "--quiet", "add", "../library", "parts/one")
  git("above", "commit", "-q", "-m", "first")
  git("above", "worktree", "add", "-q", "-b", "side", "../side")
  git("side", "submodule", "--quiet", "update", "--init")
  git("above/parts/one", "submodule", "--quiet", "add", join(base, "library"), "inner")
  git("", "clone", "-q", "--bare", "library", "library.git")
  git("library.git", "worktree", "add", "-q", "-b", "other", "../checkout")
  for (const path of ["above/parts/one", "side", "side/parts/one", "above/parts/one/inner", "checkout"]) {
    const directories = ["--absolute-git-dir", "--git-common-dir"].map(each => git(path, "rev-parse", each))
    const [directory = "", common = ""] = directories
    expect([path, linked(path)]).toEqual([path, { directory, common }])
  }
})

gitTest("a directory that names no checkout in turn is not taken for its repository", () => {
  git("", "init", "-q", "-b", "main", "--separate-git-dir", "elsewhere", "checkout")
  expect(readFileSync(join(base, "checkout/.git"), "utf8")).toContain("elsewhere")
  expect(linked("checkout")).toBeNull()
})

test("a worktree whose entry names another directory is not accepted", () => {
  put("checkout/.git", `gitdir: ${base}/main/.git/worktrees/w\n`)
  repository("main/.git")
  put("main/.git/worktrees/w/HEAD", "ref: refs/heads/w\n")
  put("main/.git/worktrees/w/commondir", "../..\n")
  put("main/.git/worktrees/w/gitdir", `${base}/checkout/.git\n`)
  expect(linked("checkout")?.common).toBe(join(base, "main/.git"))
  put("main/.git/worktrees/w/gitdir", "/somewhere/else/.git\n")
  expect(linked("checkout")).toBeNull()
})

test("a submodule is accepted only below the repository around it", () => {
  for (const place of ["above/.git/modules/w", "brought/modules/w", "brought/w", "other/.git/modules/w"]) {
    for (const around of ["above/.git", "brought", "other/.git"]) repository(around)
    repository(place)
    put(`${place}/config`, `[core]\n\tworktree = ${base}/above/part\n`)
    put("above/part/.git", `gitdir: ${base}/${place}\n`)
    expect([place, linked("above/part") !== null]).toEqual([place, place === "above/.git/modules/w"])
    for (const top of ["above", "brought", "other"]) rmSync(join(base, top), { recursive: true })
  }
})

test("what an archive brings along cannot name another place as its repository", () => {
  put("home/.ssh/id_rsa", "secret")
  repository("home/project/.git")
  put("archive/brought/worktrees/w/HEAD", "ref: refs/heads/w\n")
  put("archive/brought/worktrees/w/gitdir", "../../../.git\n")
  put("archive/.git", "gitdir: brought/worktrees/w\n")
  for (const common of [`${base}/home/.ssh`, `${base}/home/project/.git`, "/etc", `${base}/home`]) {
    put("archive/brought/worktrees/w/commondir", `${common}\n`)
    expect(linked("archive")).toBeNull()
  }
  put("archive/brought/worktrees/w/commondir", "../..\n")
  rmSync(join(base, "archive/brought"), { recursive: true })
  symlinkSync(join(base, "home/.ssh"), join(base, "archive/brought"))
  expect(linked("archive")).toBeNull()
})

test("anything else called .git names nothing", () => {
  repository("checkout/.git")
  expect(linked("checkout")).toBeNull()
  const pointers = ["not a pointer", `gitdir: ${base}`, "gitdir: ", `gitdir: ${"x".repeat(70_000)}`]
  for (const [index, pointer] of pointers.entries()) {
    put(`odd${index}/.git`, pointer)
    expect(linked(`odd${index}`)).toBeNull()
  }
})
