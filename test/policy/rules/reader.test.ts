import { describe, expect, test } from "bun:test"
import { commandText, readRules } from "../../../src/policy/rules/reader.ts"

const problemsOf = (...entries: unknown[]) =>
  readRules(entries).problems.map(({ where, message }) => `${where} ${message}`)
const command = { name: "a", operation: "terminal_command", command: "npm test", policy: "auto" }
const path = { name: "a", operation: "file_write", pattern: "src/**", policy: "auto" }

describe("rules", () => {
  test("may be missing", () => {
    expect(readRules(undefined)).toEqual({ rules: [], problems: [] })
    expect(readRules(null)).toEqual({ rules: [], problems: [] })
    expect(readRules([])).toEqual({ rules: [], problems: [] })
  })

  test("that are in order keep their order", () => {
    const { rules, problems } = readRules([command, { ...path, name: "b" }])
    expect(problems).toEqual([])
    expect(rules.map(({ name, category, policy }) => `${name} ${category} ${policy}`)).toEqual([
      "a TERMINAL_COMMAND auto",
      "b FILE_WRITE auto",
    ])
  })

  test("take operations in either case, and commands as text or list", () => {
    expect(problemsOf({ ...command, operation: "TERMINAL_COMMAND" })).toEqual([])
    expect(readRules([{ ...command, command: ["npm", "test"] }]).rules[0]?.command).toEqual(["npm", "test"])
    expect(readRules([command]).rules[0]?.command).toEqual(["npm", "test"])
  })

  test("with a problem count for nothing at all", () => {
    expect(readRules([command, { ...path, policy: "maybe" }]).rules).toEqual([])
  })

  test("say everything that is wrong at once", () => {
    expect(
      problemsOf({ name: "", operation: "x", policy: "y", extra: 1 }, 5, {
        ...command,
        name: "z",
        command: [],
      }),
    ).toEqual([
      "rules[0].extra is not a key of a rule",
      "rules[0].name is missing",
      "rules[0].operation is not one of file_read, file_write, file_delete, directory_create, terminal_command, external_request",
      "rules[0].policy is not one of auto, prompt, deny, skip",
      "rules[1] is not a mapping",
      "rules[2].command is not a list of leading arguments",
    ])
  })
})

describe("a problem is", () => {
  const rows: readonly (readonly [string, unknown, string])[] = [
    [
      "a path rule without a pattern",
      { ...path, pattern: undefined, policy: "auto" },
      "rules[0].pattern is missing",
    ],
    ["a pattern that is no glob", { ...path, pattern: "[a" }, 'rules[0].pattern "[a" is not a glob'],
    [
      "an empty list of patterns",
      { ...path, pattern: [] },
      "rules[0].pattern is not a glob or a list of globs",
    ],
    [
      "a pattern for commands",
      { ...command, pattern: "x" },
      "rules[0].pattern is for paths and hosts, not for commands",
    ],
    [
      "a command for paths",
      { ...path, command: "x" },
      "rules[0].command is only for operation terminal_command",
    ],
    ["a command rule without a command", { ...command, command: undefined }, "rules[0].command is missing"],
    [
      "a wildcard for the program",
      { ...command, command: "* x" },
      "rules[0].command does not name the program",
    ],
    ["a message that is no text", { ...command, prompt_message: 5 }, "rules[0].prompt_message is not a text"],
    [
      "examples that are no list",
      { ...command, match: "npm test" },
      "rules[0].match is not a list of examples",
    ],
    [
      "an example of another kind",
      { ...path, match: [["a"]] },
      "rules[0].match[0] is not an example for this operation",
    ],
  ]
  test.each(rows)("%s", (_, entry, problem) => {
    const cleaned = JSON.parse(JSON.stringify(entry))
    expect(problemsOf(cleaned)).toContain(problem)
  })

  test("two rules of one name", () => {
    expect(problemsOf(command, command)).toEqual(['rules[1].name "a" is used twice'])
  })

  test("what is no list, or too long a one", () => {
    expect(readRules({}).problems).toEqual([{ where: "rules", message: "is not a list" }])
    expect(readRules(Array.from({ length: 501 }, () => command)).problems).toHaveLength(1)
  })
})

describe("a regular expression", () => {
  const regex = (command_regex: unknown) =>
    problemsOf({ name: "a", operation: "terminal_command", policy: "auto", command_regex })

  test.each(["^npm test$", "^npm (test|run [a-z]+)$", "^git log.*$", "^a{1,3}$", "^a\\|b$", "^x\\$$"])(
    "%s is safe",
    text => {
      expect(regex(text)).toEqual([])
    },
  )

  const rows: readonly (readonly [string, string])[] = [
    ["npm test", "is not anchored"],
    ["^npm test", "is not anchored"],
    ["^a|b$", "is not anchored"],
    ["^a\\$", "is not anchored"],
    ["^(a+)+$", "repeats a repetition"],
    ["^(a*)*$", "repeats a repetition"],
    ["^(a|b+){2}$", "repeats a repetition"],
    ["^.*.*.*$", "repeats without bound more than twice"],
    ["^(a)\\1$", "uses look-around or back-references"],
    ["^(?=a)a$", "uses look-around or back-references"],
    ["^(?<!a)b$", "uses look-around or back-references"],
    ["^[a$", "is not a regular expression"],
    ["^(a$", "is not a regular expression"],
  ]
  test.each(rows)("%s %s", (text, problem) => {
    expect(regex(text).join("; ")).toContain(problem)
  })

  test("is a text of a sane length", () => {
    expect(regex(5)).not.toEqual([])
    expect(regex(`^${"a".repeat(300)}$`)).not.toEqual([])
  })
})

describe("the examples of a rule", () => {
  test("must come out as they say", () => {
    expect(
      problemsOf({
        ...command,
        match: ["npm test", ["npm", "test", "x"]],
        not_match: ["npm run", "yarn test"],
      }),
    ).toEqual([])
    expect(problemsOf({ ...command, match: ["npm run"] })).toEqual([
      "rules[0].match[0] is not matched by the rule",
    ])
    expect(problemsOf({ ...command, not_match: ["npm test x"] })).toEqual([
      "rules[0].not_match[0] is matched by the rule",
    ])
  })

  test("for paths are paths", () => {
    expect(problemsOf({ ...path, match: ["src/a"], not_match: ["a"] })).toEqual([])
    expect(problemsOf({ ...path, pattern: ["**", "!src/**"], match: ["a"], not_match: ["src/a"] })).toEqual(
      [],
    )
    expect(problemsOf({ ...path, match: ["a"] })).toEqual(["rules[0].match[0] is not matched by the rule"])
  })

  test("run for refusals as refusals do", () => {
    expect(
      problemsOf({ ...command, command: "git push", policy: "deny", match: ["git -C . push", "GIT push"] }),
    ).toEqual([])
  })
})

test("a command is written as a person would type it", () => {
  expect(commandText(["git", "commit", "-m", "a b"])).toBe("git commit -m 'a b'")
})
