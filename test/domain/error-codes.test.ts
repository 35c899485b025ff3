import { describe, expect, test } from "bun:test"
import { type ErrorCode, errorCodes } from "../../src/domain/error-codes.ts"
import { exitCodes } from "../../src/domain/exit-codes.ts"
import { parseYes } from "../../src/policy/yes-scopes.ts"
import { patchFailure } from "../../src/workspace/change/patch-failures.ts"
import { fileFailure } from "../../src/workspace/failures.ts"

describe("the table of error codes", () => {
  test("names every code once, each series numbered from 1 without a gap", () => {
    const series = new Map<string, number[]>()
    for (const code of Object.keys(errorCodes).filter(code => !/^E\d{3}$/.test(code))) {
      const [, name = "", number = ""] = /^ACODE-([A-Z]+)-(\d{3})$/.exec(code) ?? []
      series.set(name, [...(series.get(name) ?? []), Number(number)])
    }
    expect([...series.keys()]).not.toContain("")
    for (const [name, numbers] of series) expect(numbers, name).toEqual(numbers.map((_, index) => index + 1))
  })

  test("holds the code of every failure: no other compiles", () => {
    const isRefused: "ACODE-NONE-001" extends ErrorCode ? false : true = true
    expect(isRefused).toBe(true)
  })

  test("says of each what it means and what to do, in sentences", () => {
    for (const [code, { meaning, action }] of Object.entries(errorCodes)) {
      expect(meaning, code).toMatch(/^\S.{10,}\.$/)
      expect(action, code).toMatch(/^\S.{10,}\.$/)
    }
  })
})

test("the table of exit codes is sorted and names each code once", () => {
  const codes = Object.values(exitCodes).map(({ code }) => Number(code))
  expect(codes).toEqual([...new Set(codes)].sort((a, b) => a - b))
})

describe("the page and the message recommend the same action", () => {
  test.each([
    "malformed",
    "missing",
    "notRegular",
    "denied",
    "tooLarge",
    "changed",
    "exists",
    "notText",
    "storage",
  ] as const)("about a file: %s", kind => {
    const { code, hint } = fileFailure(kind, "a", "is odd").report
    expect(errorCodes[code].action.toLowerCase()).toBe(`${hint}.`)
  })

  test.each(["malformed", "differs", "unsupported", "ambiguous", "wrongTarget"] as const)(
    "about a patch: %s",
    kind => {
      const { code, hint } = patchFailure(kind, "a", "it is odd").report
      expect(errorCodes[code].action.toLowerCase()).toBe(`${hint}.`)
    },
  )
})

test.each([
  ["everything", "ACODE-YES-001", "does not exist"],
  ["terminal:never", "ACODE-YES-002", "modifier"],
  ["all", "ACODE-YES-003", "--ack-danger"],
  ["plan,,terminal", "ACODE-YES-004", "empty"],
  ["none,plan", "ACODE-YES-005", "contradicts"],
] as const)("--yes=%s is explained under its own code %s", (value, code, text) => {
  const [problem] = parseYes(value, false).problems
  expect(problem?.code).toBe(code)
  expect(errorCodes[code].meaning).toContain(text)
})
