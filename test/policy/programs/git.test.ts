import { describe, expect, test } from "bun:test"
import { noteGitPaths } from "../../../src/policy/programs/git.ts"
import { layer, touchesOf } from "../policy-kit.ts"

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
