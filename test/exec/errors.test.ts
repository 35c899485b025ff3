import { describe, expect, test } from "bun:test"
import type { CommandError } from "../../src/domain/command-result.ts"
import { errorCodes } from "../../src/domain/error-codes.ts"
import { Failure } from "../../src/domain/failure.ts"
import {
  endedBySignal,
  fromFailure,
  internal,
  interruptedBy,
  limitReached,
  notExecutable,
  notFound,
  protectedNamesLeft,
  queueFull,
  spawnRefused,
  survivors,
} from "../../src/exec/errors.ts"

const systemError = (code: string) => Object.assign(new Error(`${code}: the system says`), { code })

describe("why a command did not do what was asked", () => {
  test("has a code from the table, a sentence, and details that are text", () => {
    const all = [
      notFound("x"),
      notExecutable("x"),
      queueFull(3),
      interruptedBy("timedOut", 2000),
      interruptedBy("cancelled", 2000),
      endedBySignal("SIGSEGV"),
      limitReached("memory"),
      limitReached("repositories"),
      survivors(new Error("one left")),
      protectedNamesLeft([".git"]),
      internal(new Error("bug")),
      ...["ENOENT", "ENOEXEC", "EACCES", "E2BIG", "EAGAIN"].map(code => spawnRefused(systemError(code), "x")),
    ]
    for (const { code, message, details } of all) {
      expect(Object.keys(errorCodes)).toContain(code)
      expect(message).not.toBe("")
      for (const detail of Object.values(details)) expect(detail).toBeString()
    }
  })

  test("names the program in a way that a terminal does not act on", () => {
    expect(notFound("\u001b[31mx").message).toBe('the program "\\033[31mx" was not found')
    expect(notExecutable("a\u202eb").message).toContain("a\\342\\200\\256b")
    expect(protectedNamesLeft(["a\u0007"]).message).toContain("a\\a")
  })

  test("says how long a command was given", () => {
    expect(interruptedBy("timedOut", 2500)).toMatchObject({
      code: "ACODE-EXE-002",
      message: "the command did not end within 2.5 s and was killed",
      details: { timeoutMs: "2500" },
    })
    expect(interruptedBy("cancelled", 2500)).toEqual({
      code: "ACODE-EXE-009",
      message: "the command was cancelled",
      details: {},
    })
  })
})

describe("a system that refuses to start a program that was found", () => {
  for (const [errno, code, hint] of [
    ["ENOENT", "ACODE-EXE-005", "interpreter"],
    ["ENOEXEC", "ACODE-EXE-005", "#!"],
    ["EACCES", "ACODE-EXE-005", "chmod"],
    ["EPERM", "ACODE-EXE-005", "chmod"],
    ["E2BIG", "ACODE-EXE-007", "shorter"],
  ] as const)
    test(`${errno} means ${code}`, () => {
      const refusal = spawnRefused(systemError(errno), "tool")
      expect(refusal.code).toBe(code)
      expect(refusal.details["hint"]).toContain(hint)
    })

  test("for want of something tells what the system said", () => {
    expect(spawnRefused(systemError("EAGAIN"), "tool")).toEqual({
      code: "ACODE-EXE-003",
      message: "the system could not start the command: EAGAIN: the system says",
      details: { errno: "EAGAIN", hint: expect.stringContaining("ulimit -u") },
    })
    expect(spawnRefused("odd", "tool")).toMatchObject({
      code: "ACODE-EXE-003",
      details: { hint: expect.stringContaining("acode doctor") },
    })
  })
})

test("a failure of another part keeps its code, its place and its hint", () => {
  const failure = new Failure({
    kind: "confinement",
    code: "ACODE-EXE-011",
    message: "m",
    where: "w",
    hint: "h",
  })
  const expected: CommandError = { code: "ACODE-EXE-011", message: "m", details: { where: "w", hint: "h" } }
  expect(fromFailure(failure)).toEqual(expected)
  expect(spawnRefused(failure, "tool")).toEqual(expected)
  expect(fromFailure(new Failure({ kind: "general", code: "ACODE-EXE-001", message: "m" })).details).toEqual(
    {},
  )
})
