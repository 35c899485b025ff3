import { describe, expect, test } from "bun:test"
import { judgeGitNever, noteGitPaths } from "../../../src/policy/programs/git.ts"
import { findingsOf, layer, touchesOf } from "../policy-kit.ts"

const judged = (command: string) => {
  const found = layer(command)
  judgeGitNever(found)
  return findingsOf(found)
}

describe("git never", () => {
  test.each([
    "git push --force",
    "git push -f",
    "git push --forc",
    "git push origin main -f",
    "git push -uf origin main",
    "git push --force-with-lease",
    "git push --force-with-lease=main:abc",
    "git push origin +main",
    "git push origin +a:b",
    "git push --mirror",
    "git push --delete origin a",
    "git push -d origin a",
    "git push --prune",
    "git push origin :a",
    "git push origin {??}",
    "git -C x push -f",
    "git -c a.b=c push -f",
    "git --git-dir x push -f",
    "git --no-pager push -f",
    "git reset --hard",
    "git reset --har",
    "git reset HEAD --hard",
    "git reset {?}",
    "git clean -f",
    "git clean -fd",
    "git clean -xdf",
    "git clean -d --force",
    "git clean {?}",
    "git filter-branch x",
    "git filter-repo x",
    "git replace a b",
    "git reflog expire --all",
    "git reflog delete x",
    "git gc --prune=now",
    "git prune",
    "git update-ref -d x",
    "git update-ref --stdin",
    "git stash drop",
    "git stash clear",
    "git branch -D x",
    "git branch -d -f x",
    "git checkout -f",
    "git checkout --force x",
    "git switch --discard-changes x",
  ])("%s", command => {
    expect(judged(command)).toEqual([expect.stringMatching(/^never never\.git-history@\d+$/)])
  })

  test("runs a program that an option or an address hides", () => {
    for (const command of [
      "git -c alias.x=!id x",
      "git -c ALIAS.x=y x",
      "git clone ext::id",
      "git fetch EXT::id",
    ])
      expect(judged(command)).toEqual([expect.stringContaining("never never.hidden-program@")])
  })
})

test.each([
  "git push",
  "git push origin main",
  "git push origin a:b",
  "git push --follow-tags",
  "git push --dry-run",
  "git push -o x",
  "git reset",
  "git reset --soft HEAD~1",
  "git reset HEAD x",
  "git clean -n",
  "git clean -nfd",
  "git clean -d",
  "git replace -l",
  "git reflog",
  "git gc",
  "git prune -n",
  "git update-ref a b",
  "git stash",
  "git stash pop",
  "git branch -d x",
  "git checkout main",
  "git switch main",
  "git log --force",
  "git commit -m --force",
  "git",
])("%s may be asked or allowed", command => {
  expect(judged(command)).toEqual([])
})

const noted = (command: string) => {
  const found = layer(command)
  noteGitPaths(found)
  return touchesOf(found)
}

describe("git reads", () => {
  const rows: readonly (readonly [string, string[]])[] = [
    ["git show HEAD:.env", ["read .env@2"]],
    ["git cat-file -p main:a/b", ["read a/b@3"]],
    ["git show HEAD", []],
    ["git log -- .env a", ["read .env@3", "read a@4"]],
    ["git diff HEAD -- :(top)a", ["read a@4"]],
    ["git log --format=%h:%s", []],
    ["git fetch https://x/y", []],
    ["git -C sub status", ["list sub@1"]],
    ["git -C .. log -- x", ["list ..@1", "read x@5"]],
  ]
  test.each(rows)("%s", (command, expected) => {
    expect(noted(command)).toEqual(expected)
  })
})
