import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { checkTypedPath, lexicalPath } from "../../../src/workspace/files/typed-path.ts"
import { codeOf, messageOf } from "../support.ts"

const check = (typed: string) => checkTypedPath(typed, "/home/me/ws")

describe("a path that is inside comes back relative and tidy", () => {
  const cases: [string, string][] = [
    ["src/a.ts", "src/a.ts"],
    ["./src//a.ts", "src/a.ts"],
    ["src/.", "src/"],
    ["src/", "src/"],
    [".", "."],
    ["./", "."],
    ["a/../b", "a/../b"],
    ["..foo", "..foo"],
    ["/home/me/ws", "."],
    ["/home/me/ws/", "."],
    ["/home/me/ws/src/a.ts", "src/a.ts"],
    ["/home/me/ws/src/", "src/"],
    ["/home//me/./ws/src", "src"],
  ]
  for (const [typed, relative] of cases) test(typed, () => expect(check(typed)).toBe(relative))
})

test("a path that every check passes unchanged is returned unchanged, with or without the checks", () => {
  const name = fc.stringMatching(/^[\w.@+~-]{0,12}[\w@+-]$/)
  fc.assert(
    fc.property(fc.array(name, { minLength: 1, maxLength: 6 }), names => {
      const path = names.join("/")
      fc.pre(!path.startsWith("~"))
      expect(check(path)).toBe(path)
      expect(check(`./${path}`)).toBe(path)
      expect(lexicalPath(path)).toBe(lexicalPath(`./${path}`))
    }),
  )
})

test("an absolute path by another name of the workspace is left for the kernel", () => {
  expect(check("/alias/src/a.ts")).toBe("/alias/src/a.ts")
  expect(check("/home/me/ws2/a.ts")).toBe("/home/me/ws2/a.ts")
})

test("an absolute path that climbs out of the workspace is outside", () => {
  expect(codeOf(() => check("/home/me/ws/../other"))).toBe("ACODE-SEC-005")
  expect(codeOf(() => check("/home/me/ws/src/../../other"))).toBe("ACODE-SEC-005")
})

test("the message names the reason and shows invisible characters", () => {
  expect(messageOf(() => check("a\u202eb"))).toContain("a\\342\\200\\256b")
  expect(messageOf(() => check("C:\\x"))).toContain("drive letter")
  expect(messageOf(() => check("a\0b"))).toContain("NUL")
  expect(messageOf(() => check("%2e%2e/x"))).toContain("contains a disguised ..")
})

test("a percent sign that hides nothing is a plain character", () => {
  for (const typed of ["100%", "a%zz", "a%20b", "https%3A%2F%2Fexample.com"]) expect(check(typed)).toBe(typed)
})

test("a path accepted as relative does not climb, and contains no control character", () => {
  const piece = fc.constantFrom(
    "..",
    ".",
    "a",
    "b c",
    "%2e",
    "%2e%2e",
    "\\",
    "/",
    "//",
    "\0",
    "é",
    "．",
    "~",
    "c:",
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 8 }), pieces => {
      const typed = pieces.join("/")
      if (codeOf(() => check(typed)) !== "none") return
      const accepted = check(typed)
      if (accepted.startsWith("/")) return
      expect(lexicalPath(accepted).startsWith("..")).toBe(false)
      const ups = (path: string) => path.split(/[\\/]/).filter(name => name === "..").length
      expect(ups(decodedOnce(accepted))).toBe(ups(accepted))
    }),
    { numRuns: 3000 },
  )
})

function decodedOnce(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    // Not an encoded text: it is what it is.
    return text
  }
}

test("the lexical path is what a reader takes it for", () => {
  expect(lexicalPath("a/../b/")).toBe("b")
  expect(lexicalPath(".")).toBe(".")
  expect(lexicalPath("a/./b")).toBe("a/b")
})
