import { describe, expect, test } from "bun:test"
import { knownProgram, shippedRules } from "../../../src/policy/programs/shipped.ts"
import type { Usage } from "../../../src/policy/programs/usage.ts"

const names = shippedRules.rules.flatMap(({ programs }) => programs.split(" "))

describe("the shipped rules", () => {
  test("name every program once", () => {
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([])
    expect(names).not.toContain("")
  })

  test("are found by name", () => {
    expect(knownProgram("ls")?.rule).toBe("commands.read")
    expect(knownProgram("git")?.rule).toBe("commands.git")
    expect(knownProgram("curl")?.usage.network).toBe(true)
    for (const name of ["foo", "", "constructor", "toString", "__proto__"])
      expect(knownProgram(name)).toBeNull()
  })

  test("list words that are separated by single blanks", () => {
    const check = (usage: Usage) => {
      for (const list of [usage.asked, usage.valued, usage.only, usage.plain, usage.writes, usage.outputs])
        if (list !== undefined) expect(list).toMatch(/^[^\s]+( [^\s]+)*$/)
      for (const option of (usage.asked ?? "-x").split(" ")) expect(option).toMatch(/^[-/]/)
      for (const sub of Object.values(usage.commands ?? {})) check(sub)
    }
    for (const { usage } of shippedRules.rules) check(usage)
  })

  test("do not both ask for an option and call it harmless", () => {
    const check = (usage: Usage) => {
      const asked = new Set((usage.asked ?? "").split(" ").filter(option => option !== ""))
      for (const option of (usage.only ?? "").split(" ")) expect(asked.has(option)).toBe(false)
      for (const sub of Object.values(usage.commands ?? {})) check(sub)
    }
    for (const { usage } of shippedRules.rules) check(usage)
  })

  test("let no interpreter, shell or wrapper pass by name alone", () => {
    for (const name of ["sh", "bash", "env", "xargs", "node", "python", "sudo", "eval"])
      expect(knownProgram(name)).toBeNull()
    for (const name of ["perl", "ruby", "php", "lua", "deno"])
      expect(knownProgram(name)?.usage.ask).toBeDefined()
  })
})
