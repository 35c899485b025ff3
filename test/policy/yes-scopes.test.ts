import { describe, expect, test } from "bun:test"
import type { EffectCategory, Level } from "../../src/domain/effect.ts"
import { answersYes, noScopes, parseYes } from "../../src/policy/yes-scopes.ts"
import { scopesOf } from "./policy-kit.ts"

const answers = (
  value: string | null,
  category: EffectCategory,
  {
    level = 2,
    path = null,
    isCommand = false,
  }: { level?: Level; path?: string | null; isCommand?: boolean } = {},
) => answersYes(scopesOf(value), { category, level, path, isCommand, opens: null })
const problemsOf = (value: string, ack = false) => parseYes(value, ack).problems.map(({ code }) => code)

describe("--yes", () => {
  test("alone is for reads and new directories", () => {
    expect(answers(null, "FILE_READ", { level: 1, path: "a" })).toBe(true)
    expect(answers(null, "DIRECTORY_CREATE", { level: 1, path: "a" })).toBe(true)
    expect(answers(null, "FILE_WRITE", { path: "a" })).toBe(false)
    expect(answers(null, "TERMINAL_COMMAND", { isCommand: true })).toBe(false)
  })

  test("with a category answers that category", () => {
    expect(answers("file_write", "FILE_WRITE", { path: "a" })).toBe(true)
    expect(answers("file_write", "FILE_DELETE", { path: "a", level: 3 })).toBe(false)
    expect(answers("file_delete", "FILE_DELETE", { path: "a", level: 3 })).toBe(true)
    expect(answers("dir_delete", "FILE_DELETE", { path: "a", level: 3 })).toBe(true)
    expect(answers("file_read", "FILE_READ", { path: "a", level: 1 })).toBe(true)
    expect(answers("dir_create", "DIRECTORY_CREATE", { path: "a", level: 1 })).toBe(true)
    expect(answers("file_write,file_delete", "FILE_DELETE", { path: "a", level: 3 })).toBe(true)
  })

  test("may be narrowed to tests, to what is generated, to configuration or by a glob", () => {
    const write = (value: string, path: string) => answers(value, "FILE_WRITE", { path })
    for (const path of ["test/a.ts", "a/tests/b", "src/a.test.ts", "x/test_a.py", "a_test.go"])
      expect(write("file_write:test", path)).toBe(true)
    for (const path of ["src/a.ts", "contest/a", "latest.ts"])
      expect(write("file_write:test", path)).toBe(false)
    expect(write("file_write:generated", "dist/a")).toBe(true)
    expect(write("file_write:generated", "src/a")).toBe(false)
    expect(write("file_write:src/**", "src/a")).toBe(true)
    expect(write("file_write:src/**", "a")).toBe(false)
    expect(write("file_write:all", "a")).toBe(true)
    expect(write("config", "package.json")).toBe(true)
    expect(write("config", "a/b.yml")).toBe(true)
    expect(write("config", "src/a.ts")).toBe(false)
  })

  test("terminal is what is safe, terminal:all everything below Level 4", () => {
    const command = (value: string, level: Level, path: string | null = null) =>
      answers(value, "TERMINAL_COMMAND", { level, path, isCommand: true })
    expect(command("terminal", 2)).toBe(true)
    expect(command("terminal:safe", 2)).toBe(true)
    expect(command("terminal", 3)).toBe(false)
    expect(command("terminal", 2, "a")).toBe(false)
    expect(command("terminal:all", 3)).toBe(true)
    expect(command("terminal:all", 3, "a")).toBe(true)
    expect(command("terminal:all", 4)).toBe(false)
    expect(command("terminal:all,terminal", 3)).toBe(true)
    expect(command("file_write", 2, "a")).toBe(false)
  })

  test("all answers everything below Level 4, the plan and leaving out the checks with it", () => {
    expect(scopesOf("all")).toMatchObject({ plan: true, skipVerify: true })
    expect(scopesOf("skip_verify")).toEqual({ ...noScopes, skipVerify: true })
    for (const category of ["FILE_WRITE", "FILE_DELETE", "TERMINAL_COMMAND", "EXTERNAL_REQUEST"] as const) {
      expect(answers("all", category, { level: 3 })).toBe(true)
      expect(answers("all", category, { level: 4 })).toBe(false)
    }
  })

  test("none answers nothing, default what the bare flag does", () => {
    expect(scopesOf("none")).toEqual(noScopes)
    expect(scopesOf("default")).toEqual(scopesOf(null))
  })

  test("network opens the network, or one entry of an allowlist, and is in no other scope", () => {
    expect(scopesOf("all").network).toEqual([])
    expect(scopesOf("terminal:all,network").network).toBe("all")
    expect(scopesOf("network:all,network:example.com").network).toBe("all")
    expect(scopesOf("network:*.Example.com:8443,network:[::1]:8080").network).toMatchObject([
      { isWildcard: true, host: { name: "example.com" }, ports: [8443] },
      { isWildcard: false, host: { name: "::1" }, ports: [8080] },
    ])
  })

  test("plan accepts the planner's contract and nothing else", () => {
    expect(scopesOf("plan")).toEqual({ ...noScopes, plan: true })
    expect(scopesOf("plan,terminal")).toMatchObject({ plan: true, terminal: "safe" })
    expect(answers("plan", "FILE_READ", { level: 1, path: "a" })).toBe(false)
  })

  test("takes blanks and capitals as they come", () => {
    expect(scopesOf(" Plan , TERMINAL:all ")).toMatchObject({ plan: true, terminal: "all" })
  })
})

describe("a mistake", () => {
  const rows: readonly (readonly [string, string])[] = [
    ["everything", "ACODE-YES-001"],
    ["file_write,foo", "ACODE-YES-001"],
    ["terminal:some", "ACODE-YES-002"],
    ["plan:all", "ACODE-YES-002"],
    ["none:x", "ACODE-YES-002"],
    ["file_write:[a", "ACODE-YES-002"],
    ["file_write:", "ACODE-YES-002"],
    ["file_write:safe", "ACODE-YES-002"],
    ["network:", "ACODE-YES-002"],
    ["network:*", "ACODE-YES-002"],
    ["network:169.254.169.254", "ACODE-YES-002"],
    ["network:https://example.com", "ACODE-YES-002"],
    ["all", "ACODE-YES-003"],
    ["", "ACODE-YES-004"],
    ["plan,", "ACODE-YES-004"],
    ["none,plan", "ACODE-YES-005"],
  ]
  test.each(rows)("in --yes=%s is %s", (value, code) => {
    expect(problemsOf(value)).toContain(code as "ACODE-YES-001") // as: the table holds codes
    expect(parseYes(value, false).scopes).toBeNull()
  })

  test("does not hide the others", () => {
    expect(problemsOf("foo,all,terminal:x,")).toEqual([
      "ACODE-YES-001",
      "ACODE-YES-003",
      "ACODE-YES-002",
      "ACODE-YES-004",
    ])
  })

  test("is not all with the danger acknowledged", () => {
    expect(problemsOf("all", true)).toEqual([])
  })
})
