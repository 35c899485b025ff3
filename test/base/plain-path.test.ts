import { describe, expect, test } from "bun:test"
import { isPlainPath } from "../../src/base/plain-path.ts"

describe("paths that need no normalising", () => {
  test.each(["a", "src/index.ts", ".git/config", "A/B.c", "a/.b/c-d_e+f@1~2", "...a/b"])("%s", path => {
    expect(isPlainPath(path)).toBe(true)
  })

  test.each([
    "",
    "a/",
    "/a",
    "a//b",
    "./a",
    "a/../b",
    "a/.",
    "..",
    "a.",
    "a ",
    "a b",
    "é",
    "a\\b",
    "a\nb",
    "a:b",
    "\u200b",
  ])("not %j", path => {
    expect(isPlainPath(path)).toBe(false)
  })
})
