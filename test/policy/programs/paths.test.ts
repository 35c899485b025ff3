import { describe, expect, test } from "bun:test"
import { catastrophe, relativeTo, resolveWord } from "../../../src/policy/programs/paths.ts"
import { marked, scene } from "../policy-kit.ts"

const resolve = (word: string, directories: readonly string[] | null = ["/w"]) =>
  resolveWord(marked(word), { ...scene, directories })

describe("a word as a path", () => {
  const rows: readonly (readonly [string, string])[] = [
    ["a", "/w/a"],
    ["./a/../b", "/w/b"],
    ["..", "/"],
    ["/x//y/", "/x/y/"],
    ["{~}", "/h"],
    ["{~}/a", "/h/a"],
  ]
  test.each(rows)("%s", (word, expected) => {
    expect(resolve(word)).toEqual([expected])
  })

  test("may be in any directory the command may run in", () => {
    expect(resolve("a", ["/w", "/w/src"])).toEqual(["/w/a", "/w/src/a"])
  })

  test("is not known where a part or the place is not", () => {
    expect(resolve("{?}")).toBeNull()
    expect(resolve("a/{??}")).toBeNull()
    expect(resolve("a", null)).toBeNull()
    expect(resolve("/a", null)).toEqual(["/a"])
    expect(resolve("a{~}")).toBeNull()
    expect(resolveWord(marked("{~}"), { ...scene, home: null })).toBeNull()
  })
})

test("a path below the root is relative to it", () => {
  expect(relativeTo("/w", "/w/a/b")).toBe("a/b")
  expect(relativeTo("/w", "/w")).toBe(".")
  expect(relativeTo("/w", "/wide")).toBeNull()
  expect(relativeTo("/w", "/")).toBeNull()
  expect(relativeTo("/w", "/w/..a")).toBe("..a")
})

describe("a catastrophe", () => {
  const catastrophic = [
    ".",
    "./",
    "..",
    "/",
    "/*",
    "*",
    "./*",
    ".*",
    "{*}",
    "{*}{*}",
    "./{*}",
    "{~}",
    "{~}/{*}",
    "/etc",
    "/usr/lib",
    "/w",
    "/w/*",
    "src/..",
    "{?}",
    "a/{?}",
    "/tmp",
    "{*}a-z]{*}",
    "[a-z]*",
  ]
  test.each(catastrophic)("is to remove %s", word => {
    expect(catastrophe(marked(word), scene)).not.toBeNull()
  })

  test.each(["src", "dist/*", "dist/{*}", "a/b", "{*}.log", "/tmp/x", "/w/src", "src/{*}.ts"])(
    "is not to remove %s",
    word => {
      expect(catastrophe(marked(word), scene)).toBeNull()
    },
  )

  test("is judged for every place it may happen in", () => {
    expect(catastrophe("..", { ...scene, directories: ["/w/a/b"] })).toBeNull()
    expect(catastrophe("..", { ...scene, directories: ["/w/a/b", "/w/a"] })).not.toBeNull()
  })

  test("says what it would hit", () => {
    expect(catastrophe(".", scene)).toContain("whole workspace")
    expect(catastrophe("/", scene)).toContain("holds the workspace")
    expect(catastrophe("/etc", scene)).toContain("outside the workspace")
    expect(catastrophe(marked("{?}"), scene)).toContain("known only when it runs")
  })
})
