import { describe, expect, test } from "bun:test"
import { readYes } from "../../src/app/policy-yes.ts"
import { noScopes } from "../../src/policy/yes-scopes.ts"
import { failureOf } from "../config/config-fixture.ts"

describe("--yes", () => {
  test("alone is for reads and new directories, with a value for what it names", () => {
    expect(readYes(true, false)).toEqual({ scopes: { ...noScopes, basic: true }, text: "default" })
    expect(readYes("terminal:all,plan", false)).toEqual({
      scopes: { ...noScopes, terminal: "all", plan: true },
      text: "terminal:all,plan",
    })
    expect(readYes("none", false).scopes).toEqual(noScopes)
  })

  test("for everything needs the danger to be acknowledged", async () => {
    expect(readYes("all", true).scopes.everything).toBe(true)
    expect(await failureOf(() => readYes("all", false))).toMatchObject({
      kind: "usage",
      code: "ACODE-YES-003",
      where: "--yes",
    })
  })

  test.each([
    ["everything", "ACODE-YES-001"],
    ["terminal:most", "ACODE-YES-002"],
    ["", "ACODE-YES-004"],
    ["none,plan", "ACODE-YES-005"],
  ])("%j is refused with its code", async (flag, code) => {
    expect(await failureOf(() => readYes(flag, false))).toMatchObject({ kind: "usage", code })
  })

  test("says everything that is wrong at once, safe to print", async () => {
    const { message } = await failureOf(() => readYes("\u001b[2J,all,terminal:x", false))
    expect(message).toContain("\\x1b")
    expect(message).toContain("--ack-danger")
    expect(message).toContain('"x" is not a modifier of terminal')
  })
})
