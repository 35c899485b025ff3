import { describe, expect, test } from "bun:test"
import { exitCodeOf, Failure, failureKinds } from "../../src/domain/failure.ts"

describe("an expected failure", () => {
  const failure = new Failure({
    kind: "config",
    code: "ACODE-CFG-002",
    message: "not YAML",
    hint: "fix line 3",
  })

  test("is an error with a report", () => {
    expect(failure).toBeInstanceOf(Error)
    expect(failure.name).toBe("Failure")
    expect(failure.message).toBe("not YAML")
    expect(failure.report).toEqual({
      kind: "config",
      code: "ACODE-CFG-002",
      message: "not YAML",
      hint: "fix line 3",
    })
  })

  test("remembers its cause", () => {
    const cause = new Error("ENOENT")
    expect(new Failure(failure.report, { cause }).cause).toBe(cause)
  })

  test("can be written down: its report is plain data", () => {
    expect(JSON.parse(JSON.stringify(failure.report))).toEqual(failure.report)
  })
})

describe("the kind of a failure chooses the exit code", () => {
  test("as documented", () => {
    expect(
      Object.fromEntries(Object.entries(failureKinds).map(([kind, { exitCode }]) => [kind, exitCode])),
    ).toEqual({
      general: 1,
      usage: 2,
      config: 3,
      unavailable: 4,
      confinement: 32,
      denied: 33,
      integrity: 65,
      internal: 70,
      interrupted: 130,
    })
    expect(exitCodeOf("integrity")).toBe(65)
  })

  test("and never 0: nothing that failed looks done", () => {
    for (const { exitCode } of Object.values(failureKinds)) expect(exitCode).toBeGreaterThan(0)
  })

  test("and trying again helps only where something was not there for a while", () => {
    const retried = Object.entries(failureKinds).flatMap(([kind, { retry }]) => (retry ? [kind] : []))
    expect(retried).toEqual(["unavailable"])
  })
})
