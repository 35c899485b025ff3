import { describe, expect, test } from "bun:test"
import { type Command, type ExecutionOptions, limitRanges, unlimited } from "../../src/domain/command.ts"
import {
  assertValidCommand,
  commandProblems,
  invalidCommand,
  optionProblems,
} from "../../src/domain/command-validation.ts"
import { Failure } from "../../src/domain/failure.ts"

function draft(more: Partial<Command> = {}): Command {
  return {
    executable: "ls",
    arguments: [],
    workingDirectory: null,
    environment: {},
    timeoutMs: null,
    resourceLimits: unlimited,
    ...more,
  }
}

const properties = (more: Partial<Command>) => commandProblems(draft(more)).map(problem => problem.property)
const optionNames = (options: ExecutionOptions) => optionProblems(options).map(problem => problem.property)

describe("a valid command", () => {
  test("has no problems", () => {
    expect(commandProblems(draft())).toEqual([])
    expect(
      commandProblems(
        draft({
          arguments: ["", "a b", "$(rm -rf /)", "a;b|c", "\n", "é", "--"],
          workingDirectory: "src",
          environment: { _A1: "", b: null, PATH: "x" },
          timeoutMs: 0.5 + 1,
          resourceLimits: { ...unlimited, memoryBytesMax: limitRanges.memoryBytesMax.min },
        }),
      ),
    ).toEqual([])
  })

  test("is given back frozen", () => {
    const valid = assertValidCommand(draft())
    expect(
      Object.isFrozen(valid) && Object.isFrozen(valid.arguments) && Object.isFrozen(valid.environment),
    ).toBe(true)
  })
})

describe("a program name", () => {
  test("that is empty or blank is refused", () => {
    for (const executable of ["", " ", "\t\n"])
      expect(commandProblems(draft({ executable }))).toEqual([
        { property: "executable", message: "is empty" },
      ])
    expect(properties({ executable: null as unknown as string })).toEqual(["executable"])
  })

  test("with a NUL byte is refused, because the system would read only what stands before it", () => {
    expect(commandProblems(draft({ executable: "ls\0-rf" }))).toEqual([
      { property: "executable", message: "contains a NUL byte" },
    ])
  })
})

describe("arguments", () => {
  test("with half of a character are refused, because the system would be given another one", () => {
    expect(commandProblems(draft({ executable: "a\ud800", arguments: ["ok", "\udc00b"] }))).toEqual([
      { property: "executable", message: "contains a lone surrogate" },
      { property: "arguments[1]", message: "contains a lone surrogate" },
    ])
  })

  test("with a NUL byte are refused and named by their place", () => {
    expect(properties({ arguments: ["fine", "a\0b", "fine", "\0"] })).toEqual([
      "arguments[1]",
      "arguments[3]",
    ])
  })

  test("that are no text are refused", () => {
    expect(properties({ arguments: [null, 5] as unknown as string[] })).toEqual([
      "arguments[0]",
      "arguments[1]",
    ])
  })
})

describe("a working directory", () => {
  test("that is blank or has a NUL byte is refused", () => {
    expect(properties({ workingDirectory: "" })).toEqual(["workingDirectory"])
    expect(properties({ workingDirectory: "  " })).toEqual(["workingDirectory"])
    expect(properties({ workingDirectory: "a\0b" })).toEqual(["workingDirectory"])
  })
})

describe("variables", () => {
  test("need names that a shell would accept", () => {
    for (const name of ["", "1A", "A-B", "A B", "A=B", "é", "A\n", "A.B"])
      expect(properties({ environment: { [name]: "x" } })).toEqual(["environment"])
    for (const name of ["A", "_", "a1", "LONG_NAME_9"])
      expect(properties({ environment: { [name]: "x" } })).toEqual([])
  })

  test("cannot hold a NUL byte", () => {
    const [problem] = commandProblems(draft({ environment: { A: "x\0y" } }))
    expect(problem?.message).toBe("the value of A contains a NUL byte")
  })

  test("are named in a way that a terminal does not act on", () => {
    const [problem] = commandProblems(draft({ environment: { "\u001b[31m": "x" } }))
    expect(problem?.message).toBe('"\\x1b[31m" is not a variable name')
  })
})

describe("limits", () => {
  for (const [name, { min, max }] of Object.entries(limitRanges)) {
    if (name === "outputBytesMax") continue
    test(`${name} lies between ${min} and ${max}`, () => {
      const with_ = (value: number) =>
        properties(
          name === "timeoutMs" ? { timeoutMs: value } : { resourceLimits: { ...unlimited, [name]: value } },
        )
      for (const good of [min, max]) expect(with_(good)).toEqual([])
      for (const bad of [min - 1, max + 1, 0, -5, Number.NaN, Number.POSITIVE_INFINITY])
        expect(with_(bad)).toEqual([name])
    })
  }

  test("other than times are whole numbers, because the record holds whole numbers", () => {
    expect(properties({ resourceLimits: { ...unlimited, processesMax: 2.5 } })).toEqual(["processesMax"])
    expect(properties({ timeoutMs: 1.5 })).toEqual([])
    expect(optionNames({ outputBytesMax: 10.5 })).toEqual(["outputBytesMax"])
  })
})

describe("options", () => {
  test("that are left out are no problem", () => {
    expect(optionProblems({})).toEqual([])
  })

  test("out of range are refused", () => {
    expect(optionNames({ timeoutMs: 0, outputBytesMax: 0 })).toEqual(["timeoutMs", "outputBytesMax"])
    expect(optionNames({ timeoutMs: -1 })).toEqual(["timeoutMs"])
    expect(optionNames({ outputBytesMax: limitRanges.outputBytesMax.max + 1 })).toEqual(["outputBytesMax"])
  })

  test("name no empty path and none with a NUL byte", () => {
    expect(optionNames({ writable: ["src", " ", "a\0b"] })).toEqual(["writable[1]", "writable[2]"])
  })
})

test("all problems are told at once, in a sentence and by property", () => {
  const broken = draft({ executable: "", arguments: ["\0"], timeoutMs: -1 })
  try {
    assertValidCommand(broken)
    throw new Error("it was accepted")
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    expect(error.report.where).toBe("executable, arguments[0], timeoutMs")
    expect(error.message).toContain(
      "executable: is empty; arguments[0]: contains a NUL byte; timeoutMs: is -1",
    )
  }
})

test("a refusal is a usage failure with a hint", () => {
  expect(invalidCommand([{ property: "command", message: "is missing" }]).report).toMatchObject({
    kind: "usage",
    code: "ACODE-EXE-007",
    message: "the command is not valid: command: is missing",
    hint: expect.any(String),
  })
})
