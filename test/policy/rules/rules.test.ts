import { describe, expect, test } from "bun:test"
import { commandText, readRules } from "../../../src/policy/rules/reader.ts"
import {
  isRefusal,
  matchedArguments,
  type Rule,
  ruleMatchesPath,
  ruleSet,
} from "../../../src/policy/rules/rules.ts"
import { marked } from "../policy-kit.ts"

const rule = (entry: object): Rule => {
  const [found] = readRules([{ name: "a", policy: "auto", operation: "terminal_command", ...entry }]).rules
  if (found === undefined) throw new Error("not a rule")
  return found
}
const matched = (of: Rule, command: string) => {
  const argv = command.split(" ").map(marked)
  return matchedArguments(of, argv, commandText(argv))
}

describe("a command pattern", () => {
  const npm = rule({ command: ["npm", "run", "*"] })

  test("matches leading arguments and says how many it spells out", () => {
    expect(matched(npm, "npm run build")).toBe(2)
    expect(matched(npm, "npm run build x y")).toBe(2)
    expect(matched(rule({ command: "npm test" }), "npm test x")).toBe(2)
    expect(matched(rule({ command: "npm *" }), "npm x")).toBe(1)
  })

  test("does not match less, or other", () => {
    for (const command of ["npm run", "npm test a", "yarn run build", "npm"])
      expect(matched(npm, command)).toBe(0)
  })

  test("matches the program by its name in the system's directories", () => {
    expect(matched(npm, "/usr/bin/npm run x")).toBe(2)
    expect(matched(npm, "./npm run x")).toBe(0)
    expect(matched(npm, "/tmp/npm run x")).toBe(0)
  })

  test("allows nothing that is known only when it runs", () => {
    expect(matched(npm, "npm run {?}")).toBe(0)
    expect(matched(rule({ command: "npm test" }), "npm test {?}")).toBe(2)
  })

  test("may have wildcards inside arguments, over slashes too", () => {
    const tool = rule({ command: ["tool", "--out=*"] })
    expect(matched(tool, "tool --out=a/b")).toBe(1)
    expect(matched(tool, "tool --in=a")).toBe(0)
  })
})

describe("a refusal", () => {
  const push = rule({ command: "git push", policy: "deny" })

  test("sees through options, case and versions of a name", () => {
    for (const command of [
      "git push",
      "git -C x push",
      "GIT push",
      "git PUSH",
      "/tmp/git push",
      "git.exe push",
    ])
      expect(matched(push, command)).toBeGreaterThan(0)
  })

  test("takes what is not known yet for a hit", () => {
    expect(matched(push, "git {?}")).toBeGreaterThan(0)
  })

  test("needs all its words in order", () => {
    for (const command of ["git pull", "push git", "a git push"]) expect(matched(push, command)).toBe(0)
  })

  test("is a rule that denies or skips", () => {
    expect(
      ["auto", "prompt", "deny", "skip"].map(policy => isRefusal(rule({ command: "a", policy }))),
    ).toEqual([false, false, true, true])
  })
})

describe("a regular expression", () => {
  test("is matched against the whole command", () => {
    const re = rule({ command_regex: "^npm (test|ci)$" })
    expect(matched(re, "npm test")).toBe(2)
    expect(matched(re, "npm test x")).toBe(0)
  })

  test("narrows a pattern that stands beside it", () => {
    const both = rule({ command: "npm run", command_regex: "^npm run [a-z]+$" })
    expect(matched(both, "npm run build")).toBe(2)
    expect(matched(both, "npm run BUILD")).toBe(0)
  })

  test("is not tried on a text that is too long, which then counts against it", () => {
    const long = `npm ${"a".repeat(400)}`
    expect(matched(rule({ command_regex: "^npm a+$" }), long)).toBe(0)
    expect(matched(rule({ command_regex: "^x$", policy: "deny" }), long)).toBeGreaterThan(0)
  })
})

describe("a path pattern", () => {
  const paths = (pattern: string | string[], policy = "auto") =>
    rule({ operation: "file_write", pattern, policy })

  test("matches paths of its own operation", () => {
    expect(ruleMatchesPath(paths("src/**"), "FILE_WRITE", "src/a")).toBe(true)
    expect(ruleMatchesPath(paths("src/**"), "FILE_DELETE", "src/a")).toBe(false)
  })

  test("may be negated", () => {
    expect(ruleMatchesPath(paths("!src/**"), "FILE_WRITE", "a")).toBe(true)
    expect(ruleMatchesPath(paths("!src/**"), "FILE_WRITE", "src/a")).toBe(false)
    expect(ruleMatchesPath(paths(["*.ts", "!a.ts"]), "FILE_WRITE", "b.ts")).toBe(true)
    expect(ruleMatchesPath(paths(["*.ts", "!a.ts"]), "FILE_WRITE", "a.ts")).toBe(false)
    expect(ruleMatchesPath(paths(["*.ts", "!a.ts"]), "FILE_WRITE", "b.js")).toBe(false)
  })

  test("that refuses holds in any case", () => {
    expect(ruleMatchesPath(paths("src/a", "deny"), "FILE_WRITE", "SRC/A")).toBe(true)
    expect(ruleMatchesPath(paths("src/a"), "FILE_WRITE", "SRC/A")).toBe(false)
  })

  test("matches no command", () => {
    expect(matched(paths("**"), "npm test")).toBe(0)
    expect(ruleMatchesPath(rule({ command: "npm" }), "FILE_WRITE", "npm")).toBe(false)
  })
})

describe("the version of the rules", () => {
  const version = (...entries: object[]) => ruleSet(readRules(entries).rules).version
  const one = { name: "a", operation: "file_write", pattern: "a", policy: "auto" }

  test("is a hash", () => {
    expect(version()).toMatch(/^sha256:[0-9a-f]{64}$/)
    expect(version()).toBe(version())
  })

  test("changes with any change of them, and with nothing else", () => {
    const versions = [
      version(),
      version(one),
      version({ ...one, pattern: "b" }),
      version({ ...one, policy: "deny" }),
      version({ ...one, name: "b" }),
    ]
    expect(new Set(versions).size).toBe(versions.length)
    expect(version({ policy: "auto", pattern: "a", operation: "file_write", name: "a" })).toBe(version(one))
  })

  test("depends on their order", () => {
    const two = { ...one, name: "b" }
    expect(version(one, two)).not.toBe(version(two, one))
  })
})
