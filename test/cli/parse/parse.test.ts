import { describe, expect, test } from "bun:test"
import { type CliCommand, defineCommand } from "../../../src/cli/definition.ts"
import { limitFlag } from "../../../src/cli/parse/flags.ts"
import { parseLine } from "../../../src/cli/parse/parse.ts"
import { Failure } from "../../../src/domain/failure.ts"

const exec = defineCommand({
  name: "exec",
  summary: "run",
  arguments: [{ name: "PROGRAM", summary: "a program", variadic: true }],
  flags: {
    timeout: { kind: "number", value: "SECONDS", summary: "limit", min: 0.001, max: 900, isWhole: false },
    cwd: { kind: "text", value: "DIR", summary: "where" },
    env: { kind: "list", value: "K=V", summary: "variable" },
    shell: { kind: "boolean", summary: "shell" },
    sandbox: { kind: "choice", choices: ["auto", "none"], summary: "confinement" },
  },
  examples: [],
  passthrough: true,
  run: async () => 0,
})
const list = defineCommand({
  name: "runs list",
  summary: "list",
  arguments: [],
  flags: { limit: limitFlag("how many") },
  examples: [],
  run: async () => 0,
})
const show = defineCommand({
  name: "runs show",
  summary: "show",
  arguments: [{ name: "ID", summary: "the id" }],
  flags: {},
  examples: [],
  run: async () => 0,
})
const commands: readonly CliCommand[] = [exec, list, show]

function parsed(...argv: string[]) {
  const { command, arguments: words, flags, isLiteral } = parseLine(argv, commands)
  const given = Object.entries(flags).filter(([, value]) => value !== undefined && value !== false)
  return {
    name: command?.name ?? null,
    words,
    isLiteral,
    flags: Object.fromEntries(given.filter(([, value]) => !Array.isArray(value) || value.length > 0)),
  }
}

function failure(...argv: string[]): Failure {
  try {
    parseLine(argv, commands)
  } catch (error) {
    if (error instanceof Failure) return error
    throw error
  }
  throw new Error(`"${argv.join(" ")}" was accepted`)
}

describe("who owns the flags of exec", () => {
  test("flags before the program are ours, after it the program's", () => {
    expect(parsed("exec", "--timeout", "5", "npm", "test", "--timeout", "9")).toEqual({
      name: "exec",
      words: ["npm", "test", "--timeout", "9"],
      isLiteral: false,
      flags: { timeout: 5 },
    })
  })

  test("-- always splits and makes the words literal", () => {
    expect(parsed("exec", "--shell", "--", "--timeout", "5")).toEqual({
      name: "exec",
      words: ["--timeout", "5"],
      isLiteral: true,
      flags: { shell: true },
    })
  })

  test("a string with a space may be followed by our flags", () => {
    expect(parsed("exec", "sleep 60", "--timeout", "2")).toEqual({
      name: "exec",
      words: ["sleep 60"],
      isLiteral: false,
      flags: { timeout: 2 },
    })
  })

  test("a single word followed by our flags only is the string form too", () => {
    expect(parsed("exec", "make", "--cwd", "src", "--env", "A=1")).toMatchObject({
      words: ["make"],
      flags: { cwd: "src", env: ["A=1"] },
    })
  })

  test("a single word followed by flags we do not have keeps them", () => {
    expect(parsed("exec", "node", "--version").words).toEqual(["node", "--version"])
    expect(parsed("exec", "ls", "-la").words).toEqual(["ls", "-la"])
    expect(parsed("exec", "ls", "--help").words).toEqual(["ls", "--help"])
    expect(parsed("exec", "pytest", "--timeout", "9", "tests").words).toEqual([
      "pytest",
      "--timeout",
      "9",
      "tests",
    ])
  })

  test("an unknown flag after a string is refused, for it can belong to nobody", () => {
    expect(failure("exec", "sleep 60", "--timeuot", "2").report).toMatchObject({
      code: "ACODE-CLI-002",
      hint: "did you mean --timeout?",
    })
  })

  test("a word after the flags that follow a string is refused", () => {
    expect(failure("exec", "sleep 60", "--timeout", "2", "more").report.code).toBe("ACODE-CLI-003")
  })

  test("lists given before and after a string add up", () => {
    expect(parsed("exec", "--env", "A=1", "make", "--env", "B=2").flags).toEqual({ env: ["A=1", "B=2"] })
  })

  test("a dash alone is a word", () => {
    expect(parsed("exec", "cat", "-").words).toEqual(["cat", "-"])
  })
})

describe("flag values", () => {
  test("stand behind = or as the next word", () => {
    expect(parsed("runs", "list", "--limit=5").flags).toEqual({ limit: 5 })
    expect(parsed("runs", "list", "--limit", "5").flags).toEqual({ limit: 5 })
  })

  for (const [argv, message] of [
    [["runs", "list", "--limit", "many"], '--limit takes a whole number from 1 to 1000000000, not "many"'],
    [["runs", "list", "--limit"], "--limit needs a value"],
    [["runs", "list", "--json=yes"], "--json takes no value"],
    [["exec", "--sandbox", "lots", "ls"], '--sandbox "lots" is not one of auto, none'],
  ] as const)
    test(`${argv.join(" ")} is refused`, () => {
      expect(failure(...argv).report).toMatchObject({ kind: "usage", code: "ACODE-CLI-002", message })
    })

  test("-C takes a directory, attached or not", () => {
    expect(parseLine(["-C", "/x", "runs", "list"], commands).globals.workspace).toBe("/x")
    expect(parseLine(["-C/x", "runs", "list"], commands).globals.workspace).toBe("/x")
  })

  test("--yes stands alone or with scopes", () => {
    expect(parseLine(["--yes", "runs", "list"], commands).globals.yes).toBe(true)
    expect(parseLine(["runs", "list", "--yes=plan"], commands).globals.yes).toBe("plan")
    expect(parseLine(["runs", "list"], commands).globals.yes).toBeUndefined()
  })

  test("global flags count before and after the command", () => {
    expect(parseLine(["--json", "runs", "list"], commands).globals.json).toBe(true)
    expect(parseLine(["runs", "list", "--json"], commands).globals.json).toBe(true)
    expect(parseLine(["runs", "--json", "list"], commands).globals.json).toBe(true)
  })
})

describe("what is not there is named and the nearest is suggested", () => {
  test("an unknown command", () => {
    expect(failure("exce").report).toMatchObject({
      code: "ACODE-CLI-001",
      hint: "did you mean exec? `acode exec --help` shows how it is used",
    })
  })

  test("an unknown second word", () => {
    expect(failure("runs", "lst").report.hint).toBe(
      "did you mean runs list? `acode runs list --help` shows how it is used",
    )
  })

  test("an unknown flag of a command", () => {
    expect(failure("runs", "list", "--limt", "3").report).toMatchObject({
      where: "acode runs list",
      hint: "did you mean --limit?",
    })
  })

  test("nothing like it gets a pointer to help", () => {
    expect(failure("frobnicate").report.hint).toBe("`acode --help` lists the commands")
  })

  test("an unknown short flag", () => {
    expect(failure("runs", "list", "-z").report.code).toBe("ACODE-CLI-002")
  })
})

describe("the number of arguments", () => {
  test("a missing one is named", () => {
    expect(failure("runs", "show").report).toMatchObject({
      code: "ACODE-CLI-003",
      message: "runs show needs ID: the id",
      where: "acode runs show",
    })
    expect(failure("exec").report.code).toBe("ACODE-CLI-003")
    expect(failure("exec", "--").report.code).toBe("ACODE-CLI-003")
  })

  test("one too many is named", () => {
    expect(failure("runs", "show", "a", "b").report.message).toBe('"b" is one argument too many')
  })

  test("help needs no arguments", () => {
    expect(parseLine(["runs", "show", "--help"], commands).globals.help).toBe(true)
    expect(parseLine(["exec", "--help"], commands).globals.help).toBe(true)
  })
})

test("half a command is a group, nothing at all is neither", () => {
  expect(parseLine(["runs"], commands)).toMatchObject({ command: null, group: "runs" })
  expect(parseLine([], commands)).toMatchObject({ command: null, group: null })
})

test("control characters of what was typed do not reach the terminal", () => {
  expect(failure("\u001b[31mred").report.message).toBe('there is no command "\\x1b[31mred"')
})
