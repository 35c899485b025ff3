import { describe, expect, test } from "bun:test"
import { changeErrorCodes } from "../../src/domain/error-codes.ts"
import { parseYes } from "../../src/policy/yes-scopes.ts"
import { patchFailure } from "../../src/workspace/change/patch-failures.ts"
import { fileFailure } from "../../src/workspace/failures.ts"

const actions = new Map(changeErrorCodes.map(({ code, action }) => [code, action.toLowerCase()]))

describe("the page and the message tell a person the same thing to do", () => {
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
    expect(actions.get(code)).toBe(`${hint}.`)
  })

  test.each(["malformed", "differs", "unsupported", "ambiguous", "wrongTarget"] as const)(
    "about a patch: %s",
    kind => {
      const { code, hint } = patchFailure(kind, "a", "it is odd").report
      expect(actions.get(code)).toBe(`${hint}.`)
    },
  )
})

test.each([
  ["everything", 1, "does not exist"],
  ["terminal:never", 2, "modifier"],
  ["all", 3, "--ack-danger"],
  ["plan,,terminal", 4, "empty"],
  ["none,plan", 5, "contradicts"],
])("--yes=%s is explained under its own number", (value, number, word) => {
  const [problem] = parseYes(value, false).problems
  const explained = changeErrorCodes.find(({ code }) => code === problem?.code)
  expect(explained?.code).toBe(`ACODE-YES-00${number}`)
  expect(explained?.meaning).toContain(word)
})
