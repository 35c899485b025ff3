import { describe, expect, test } from "bun:test"
import { execExitCodes, exitCodes } from "../../src/domain/exit-codes.ts"
import { failureKinds } from "../../src/domain/failure.ts"

describe("the table of exit codes", () => {
  test("is sorted, and names each code once", () => {
    const codes = exitCodes.map(({ code }) => Number(code))
    expect(codes).toEqual([...new Set(codes)].sort((a, b) => a - b))
  })

  test("has the code of every kind of failure", () => {
    const codes = new Set(exitCodes.map(({ code }) => Number(code)))
    for (const [kind, { exitCode }] of Object.entries(failureKinds))
      expect(codes.has(exitCode), kind).toBe(true)
  })

  test("is the one scripts rely on", () => {
    expect(exitCodes.map(({ code }) => code).join(" ")).toBe(
      "0 1 2 3 4 10 20 21 22 23 30 31 32 33 34 40 41 50 60 65 70 130",
    )
    expect(execExitCodes.map(({ code }) => code)).toEqual(["0–255", "124", "125", "126", "127", "128+N"])
  })
})
