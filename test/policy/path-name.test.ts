import { describe, expect, test } from "bun:test"
import { isPlainPath } from "../../src/base/plain-path.ts"
import { normalParts } from "../../src/policy/protected-paths.ts"

test.each(["a", "src/index.ts", ".git/config", "A/B.c", "a/.b/c-d_e+f@1~2", "...a/b"])(
  "a plain path: %s",
  path => {
    expect(isPlainPath(path)).toBe(true)
    expect(normalParts(path)).toEqual(path.toLowerCase().split("/"))
  },
)

describe("the parts of a path", () => {
  test.each([
    ["./a//b/./c", ["a", "b", "c"]],
    ["a/x/../b", ["a", "b"]],
    ["../../a", ["..", "..", "a"]],
    ["a/../../b", ["..", "b"]],
    ["/abs/path/", ["abs", "path"]],
    ["A\\B\\C", ["a", "b", "c"]],
    [".GIT", [".git"]],
    [".git.", [".git"]],
    [".git . .", [".git"]],
    [" .env", [".env"]],
    ["．ｇｉｔ", [".git"]],
    [".g\u200cit", [".git"]],
    ["\ufeff.env", [".env"]],
    [".git::$INDEX_ALLOCATION/x", [".git", "x"]],
    [".ſſh", [".ssh"]],
    ["a\u0000b", ["ab"]],
    ["...", ["..."]],
    ["", []],
    [".", []],
  ])("%j", (path, parts) => {
    expect(normalParts(path)).toEqual(parts)
  })
})
