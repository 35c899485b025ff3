import { describe, expect, test } from "bun:test"
import { gitUsage } from "../../../src/policy/programs/shipped.ts"
import { decideOn, execute } from "../policy-kit.ts"

const decision = (command: string) => decideOn([execute(command.split(" "))])

describe("git", () => {
  test.each([
    "status",
    "status -sb",
    "log",
    "log --oneline -5 --graph",
    "log -p --text",
    "diff HEAD~1 --stat",
    "show HEAD",
    "blame -L 1,5 a",
    "branch",
    "branch -vv",
    "branch --show-current",
    "tag -l",
    "remote",
    "remote -v",
    "stash list",
    "stash show",
    "rev-parse --show-toplevel",
    "ls-files -m",
    "grep x",
    "cat-file -p HEAD",
    "describe",
    "shortlog -sn",
    "worktree list",
    "reflog",
    "config --get a.b",
    "config --list",
    "submodule status",
  ])("%s only reads", sub => {
    expect(decision(`git ${sub}`)).toMatchObject({ decision: "allow", confined: true, rule: "commands.git" })
  })

  test.each([
    "add .",
    "commit -m x",
    "checkout a",
    "switch a",
    "restore a",
    "merge a",
    "rebase a",
    "cherry-pick a",
    "revert a",
    "stash",
    "stash pop",
    "tag v1",
    "tag -d v1",
    "branch a",
    "branch -d a",
    "branch -m a b",
    "init",
    "am x",
    "apply x",
    "mv a b",
    "rm a",
    "gc",
    "notes add",
    "worktree add a",
    "submodule update",
    "config a.b c",
    "config --unset a.b",
    "config --edit",
    "symbolic-ref HEAD refs/heads/x",
    "bisect run x",
    "bisect start",
    "update-index x",
    "hash-object -w a",
    "remote add a b",
    "remote set-url a b",
    "difftool",
    "mergetool",
    "instaweb",
    "unknown",
  ])("%s is asked", sub => {
    expect(decision(`git ${sub}`).decision).toBe("ask")
  })

  test.each(["push", "pull", "fetch", "clone x", "ls-remote x", "lfs pull"])("%s needs the network", sub => {
    expect(decision(`git ${sub}`)).toMatchObject({ decision: "ask", category: "EXTERNAL_REQUEST" })
  })

  test.each([
    "-c a=b status",
    "-c core.fsmonitor=x status",
    "--exec-path=x status",
    "--git-dir=x status",
    "--work-tree x status",
    "-p log",
    "--paginate log",
    "--bare status",
    "--config-env=a=b log",
    "--namespace x log",
    "log --ext-diff",
    "log --ext-d",
    "diff --textconv",
    "diff --textc",
    "diff --output=x",
    "log --outp x",
    "diff --no-index a b",
    "grep -Ox y",
    "grep -O y",
    "grep --open-files-in-pager y",
    "cat-file --textconv HEAD:a",
    "show --ext-diff",
    "remote show origin",
    "remote update",
  ])("%s does more than its name says", sub => {
    expect(decision(`git ${sub}`).decision).toBe("ask")
  })

  test("skipping hooks is said", () => {
    expect(decision("git commit --no-verify -m x").decision).toBe("ask")
    expect(decision("git commit -n -m x").reason).toContain("-n")
  })

  test("knows no sub-command that is a property of every object", () => {
    expect(decision("git constructor").decision).toBe("ask")
    expect(Object.keys(gitUsage.commands ?? {}).length).toBeGreaterThan(40)
  })
})
