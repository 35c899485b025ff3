import { afterEach, beforeEach, describe, expect } from "bun:test"
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { type AcodeRun, runAcode } from "../../support/acode.ts"
import { missingProgram, missingSandbox, testWhere } from "../../support/requirement.ts"
import { readFileTree } from "../../support/workspace/file-tree.ts"
import { type TempWorkspace, tempWorkspace } from "../../support/workspace/temp-workspace.ts"

const confinedTest = testWhere(missingSandbox ?? missingProgram("git"))
let workspace: TempWorkspace

beforeEach(() => {
  workspace = tempWorkspace({ git: true, files: { "a.txt": "one\n" } })
})
afterEach(() => workspace[Symbol.dispose]())

const identity = ["-c", "user.name=Test", "-c", "user.email=test@example.invalid"]
const open = ["-c", "protocol.file.allow=always"]

function git(cwd: string, ...args: string[]): string {
  const line = ["git", ...identity, ...open, ...args]
  const { exitCode, stdout, stderr } = Bun.spawnSync(line, { cwd, stdout: "pipe", stderr: "pipe" })
  if (exitCode !== 0) throw new Error(`git ${args.join(" ")}: ${stderr.toString()}`)
  return stdout.toString().trim()
}

function exec(cwd: string, ...args: string[]): Promise<AcodeRun> {
  return runAcode(["exec", ...args], { cwd, env: workspace.environment })
}

const commit = `git ${identity.join(" ")} commit -qam changed`

/** A worktree beside the repository, with a change that is not committed. */
function worktree(): string {
  const path = join(workspace.outside, "linked")
  git(workspace.root, "worktree", "add", "-q", "-b", "side", path)
  writeFileSync(join(path, "a.txt"), "two\n")
  return path
}

describe("--writable .git in a linked worktree", () => {
  confinedTest("lets a confined command commit there", async () => {
    const linked = worktree()
    const before = git(linked, "rev-parse", "HEAD")
    const { exitCode, stderr } = await exec(linked, "--writable", ".git", "--shell", commit)
    expect([exitCode, stderr]).toEqual([0, ""])
    expect(git(linked, "log", "--format=%s|%P", "-1")).toBe(`changed|${before}`)
    expect(git(workspace.root, "show", "side:a.txt")).toBe("two")
    expect(git(workspace.root, "fsck", "--strict")).toBe("")
  })

  confinedTest("is needed for that, and opens nothing else of the repository's checkout", async () => {
    const linked = worktree()
    const before = git(linked, "rev-parse", "HEAD")
    expect((await exec(linked, "--shell", commit)).exitCode).not.toBe(0)
    expect(git(linked, "rev-parse", "HEAD")).toBe(before)
    const files = readFileTree(workspace.root)
    const attempt = `echo x > ${workspace.root}/escaped; echo x > ${workspace.outside}/escaped; echo x > ${workspace.root}/a.txt`
    await exec(linked, "--writable", ".git", "--shell", attempt)
    expect(readFileTree(workspace.root)).toEqual(files)
    expect(existsSync(join(workspace.outside, "escaped"))).toBe(false)
  })

  confinedTest("works in a submodule, whose repository lies in the one above", async () => {
    const above = join(workspace.outside, "above")
    git(workspace.outside, "init", "-q", "-b", "main", "above")
    git(above, "submodule", "--quiet", "add", workspace.root, "part")
    const part = join(above, "part")
    writeFileSync(join(part, "a.txt"), "two\n")
    const { exitCode, stderr } = await exec(part, "-C", part, "--writable", ".git", "--shell", commit)
    expect([exitCode, stderr]).toEqual([0, ""])
    expect(git(part, "log", "--format=%s", "-1")).toBe("changed")
    expect(git(part, "fsck", "--strict")).toBe("")
  })

  confinedTest("opens nothing that a hostile .git points to", async () => {
    const secrets = join(workspace.outside, "secrets")
    mkdirSync(secrets)
    writeFileSync(join(secrets, "key"), "outside\n")
    const hostile = join(workspace.outside, "hostile")
    const brought = join(hostile, "brought/worktrees/w")
    mkdirSync(brought, { recursive: true })
    writeFileSync(join(brought, "HEAD"), "ref: refs/heads/main\n")
    writeFileSync(join(brought, "gitdir"), "../../../.git\n")
    writeFileSync(join(brought, "commondir"), `${secrets}\n`)
    const look = `cat ${secrets}/key; echo x > ${secrets}/key; echo x > ${secrets}/made`
    for (const pointer of [secrets, "brought/worktrees/w"]) {
      writeFileSync(join(hostile, ".git"), `gitdir: ${pointer}\n`)
      const { stdout } = await exec(hostile, "-C", hostile, "--writable", ".git", "--shell", look)
      expect(stdout).toBe("")
      expect(readFileSync(join(secrets, "key"), "utf8")).toBe("outside\n")
      expect(existsSync(join(secrets, "made"))).toBe(false)
    }
  })
})
