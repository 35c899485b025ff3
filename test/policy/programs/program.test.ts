import { describe, expect, test } from "bun:test"
import { foldedName, nameProblem, programName } from "../../../src/policy/programs/program.ts"
import { marked } from "../policy-kit.ts"

describe("the name of a program", () => {
  const rows: readonly (readonly [string, string, boolean])[] = [
    ["rm", "rm", true],
    ["/bin/rm", "rm", true],
    ["/usr/bin/rm", "rm", true],
    ["/usr/local/bin/node", "node", true],
    ["/sbin/mkfs", "mkfs", true],
    ["./rm", "rm", false],
    ["bin/rm", "rm", false],
    ["/tmp/rm", "rm", false],
    ["/usr/bin/../../tmp/rm", "rm", false],
    ["node_modules/.bin/tsc", "tsc", true],
    ["./node_modules/.bin/tsc", "tsc", true],
    ["node_modules/.bin/../x", "x", false],
    ["a/node_modules/.bin/tsc", "tsc", false],
    ["./gradlew", "gradlew", true],
    [".venv/bin/pytest", "pytest", true],
    ["python3.11", "python", true],
    ["python3", "python", true],
    ["gcc-12", "gcc", true],
    ["pip3", "pip", true],
    ["b2sum", "b2sum", true],
  ]
  test.each(rows)("%s is %s, trusted: %p", (word, name, isTrusted) => {
    expect(programName(word)).toEqual({ name, isTrusted })
  })

  test("is folded for what is never allowed", () => {
    expect(foldedName("RM")).toBe("rm")
    expect(foldedName("Git.EXE")).toBe("git")
  })
})

describe("a name that is none", () => {
  test.each([
    "",
    "a b",
    "a\tb",
    "a\n",
    "rm;ls",
    "$(x)",
    "`x`",
    "a|b",
    "a&b",
    "a>b",
    "рм",
    "rm\u200b",
    "r\u0456m",
    "*",
    "a'b",
    "\u202erm",
    "{?}",
    "a{??}",
    "{*}",
  ])("%j", word => {
    expect(nameProblem(marked(word))).not.toBeNull()
  })

  test.each(["rm", "./a-b_c.sh", "/usr/bin/[", "g++", "[", ":", ".", "{~}/bin/x", "a@b", "7z", "a,b", "a=b"])(
    "%j is one",
    word => {
      expect(nameProblem(marked(word))).toBeNull()
    },
  )
})
