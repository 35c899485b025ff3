import { describe, expect, test } from "bun:test"
import type { PathOperation } from "../../src/domain/effect.ts"
import { checkCommand, checkPath, needsShellParser } from "../../src/policy/command-check.ts"
import hostile from "../scenarios/policy/hostile-commands.json"
import ordinary from "../scenarios/policy/ordinary-commands.json"
import paths from "../scenarios/policy/paths.json"
import { execute, options, rulesOf, shipped } from "./policy-kit.ts"

interface CommandRow {
  readonly command?: string
  readonly argv?: readonly string[]
  readonly decision?: string
}

const hostileRows: readonly CommandRow[] = hostile
const ordinaryRows: readonly CommandRow[] = ordinary
const commandOf = ({ command, argv }: CommandRow) => argv ?? command ?? ""
const check = (row: CommandRow, hasSandbox = true) =>
  checkCommand(commandOf(row), hasSandbox, shipped, options)

describe("the command suite", () => {
  test("is as large as it must be", () => {
    expect(hostileRows.length).toBeGreaterThanOrEqual(150)
    expect(ordinaryRows.length).toBeGreaterThanOrEqual(60)
    expect(new Set(hostileRows.map(row => JSON.stringify(commandOf(row)))).size).toBe(hostileRows.length)
  })

  test.each(hostileRows.map(row => [JSON.stringify(commandOf(row)), row] as const))(
    "%s is not let through",
    (_, row) => {
      const { decision, confined, rule, reason } = check(row)
      expect(`${decision} ${rule} ${reason}`).toStartWith(`${row.decision} `)
      expect(confined).toBe(false)
      expect(rule).not.toBe("")
      expect(reason).not.toBe("")
    },
  )

  test("no hostile command passes without a sandbox either, and none grows milder", () => {
    for (const row of hostileRows) {
      const { decision } = check(row, false)
      expect(decision).not.toBe("allow")
      if (row.decision === "deny") expect(decision).toBe("deny")
    }
  })

  test.each(ordinaryRows.map(row => [JSON.stringify(commandOf(row)), row] as const))(
    "%s is not bothered",
    (_, row) => {
      const { decision, confined, rule } = check(row)
      expect({ decision, confined, rule }).toEqual({ decision: "allow", confined: true, rule })
    },
  )

  test("ordinary commands are asked where nothing confines them", () => {
    for (const row of ordinaryRows) expect(check(row, false).decision).toBe("ask")
  })
})

describe("the path suite", () => {
  test.each(paths.map(row => [row.op, JSON.stringify(row.path), row] as const))("%s %s", (_, __, row) => {
    const answer = checkPath(row.path, row.op as PathOperation, shipped, options) // as: the table holds operations only
    expect(`${answer.decision} ${answer.rule}`).toStartWith(`${row.decision} `)
  })

  test("a path that leads out says so", () => {
    expect(checkPath("../x", "write", shipped, options).reason).toContain("outside workspace")
    expect(checkPath("/tmp/x", "read", shipped, options).reason).toContain("outside workspace")
  })
})

describe("an answer", () => {
  test("has the four keys of the contract and no others", () => {
    expect(checkCommand(["npm", "test"], true, shipped, options)).toEqual({
      decision: "allow",
      confined: true,
      rule: "commands.packages",
      reason: "an ordinary command, confined",
    })
    expect(Object.keys(checkPath("a", "read", shipped, options)).sort()).toEqual([
      "confined",
      "decision",
      "reason",
      "rule",
    ])
  })

  test("names the rule of a person when that decides", () => {
    const rules = rulesOf({
      name: "no tests",
      operation: "terminal_command",
      command: "npm test",
      policy: "deny",
    })
    expect(checkCommand(["npm", "test"], true, rules, options)).toMatchObject({
      decision: "deny",
      rule: "no tests",
    })
  })

  test("refuses a string when nobody can read it", () => {
    const answer = checkCommand("ls", true, shipped, { ...options, parser: null })
    expect(answer).toMatchObject({ decision: "deny", rule: "never.unreadable-script" })
  })
})

describe("the parser is needed", () => {
  test("for strings, and for programs that are given one", () => {
    for (const command of [
      "ls",
      ["sh", "-c", "ls"],
      ["env", "/bin/bash", "-c", "ls"],
      ["flock", "a", "-c", "ls"],
    ])
      expect(needsShellParser([execute(command)])).toBe(true)
  })

  test("for nothing else", () => {
    for (const command of [
      ["npm", "test"],
      ["rm", "-rf", "/"],
      ["git", "log"],
      ["timeout", "5", "make"],
    ])
      expect(needsShellParser([execute(command)])).toBe(false)
    expect(needsShellParser([{ kind: "read", path: "a" }])).toBe(false)
  })

  test("whenever deciding without it would differ", () => {
    for (const row of [...hostileRows, ...ordinaryRows]) {
      const command = commandOf(row)
      if (needsShellParser([execute(command)])) continue
      const without = checkCommand(command, true, shipped, { ...options, parser: null })
      expect(without).toEqual(checkCommand(command, true, shipped, options))
    }
  })
})
