import { describe, expect, test } from "bun:test"
import type { Effect, PathEffectKind } from "../../src/domain/effect.ts"
import { shippedDefaults } from "../support/plan/shipped-decisions.ts"
import { decideOn, type Given, rulesOf } from "./policy-kit.ts"

const on = (kind: PathEffectKind, path: string, given: Given = {}) => {
  const effect: Effect = { kind, path }
  return decideOn([effect], given)
}
const short = (kind: PathEffectKind, path: string, given: Given = {}) => {
  const { decision, rule } = on(kind, path, given)
  return `${decision} ${rule}`
}

describe("the order", () => {
  const everything = rulesOf({ name: "all", operation: "file_write", pattern: "**", policy: "auto" })
  const nothing = rulesOf({ name: "none", operation: "file_write", pattern: "src/**", policy: "deny" })

  test("protected paths come before a plan, a rule and --yes", () => {
    const given: Given = {
      rules: everything,
      yes: "all",
      grant: { write: ["**", ".git/config"], exact: [{ kind: "write", path: ".git/config" }] },
    }
    expect(on("write", ".git/config", given)).toMatchObject({ decision: "deny", level: 4 })
    expect(on("read", ".env", given)).toMatchObject({ decision: "deny", level: 4 })
  })

  test("a refusal comes before the plan", () => {
    expect(short("write", "src/a", { rules: nothing, grant: { write: ["**"] } })).toBe("deny none")
  })

  test("a refusal comes before an earlier rule that allows", () => {
    const rules = rulesOf(
      { name: "yes", operation: "file_write", pattern: "**", policy: "auto" },
      { name: "no", operation: "file_write", pattern: "src/**", policy: "deny" },
    )
    expect(short("write", "src/a", { rules })).toBe("deny no")
    expect(short("write", "a", { rules })).toBe("allow yes")
  })

  test("the plan comes before a rule that asks", () => {
    const rules = rulesOf({ name: "ask", operation: "file_write", pattern: "**", policy: "prompt" })
    expect(short("write", "src/a", { rules, grant: { write: ["src/**"] } })).toBe("allow plan.resources")
    expect(short("write", "a", { rules, grant: { write: ["src/**"] } })).toBe("ask ask")
  })

  test("the first rule that matches comes before the others", () => {
    const rules = rulesOf(
      { name: "one", operation: "file_write", pattern: "a/**", policy: "prompt" },
      { name: "two", operation: "file_write", pattern: "**", policy: "auto" },
    )
    expect(short("write", "a/b", { rules })).toBe("ask one")
    expect(short("write", "b", { rules })).toBe("allow two")
  })

  test("a rule comes before the default", () => {
    expect(short("write", "a", { rules: everything })).toBe("allow all")
    expect(short("write", "a")).toBe("ask default.FILE_WRITE")
  })

  test("the default may be configured", () => {
    const defaults = { ...shippedDefaults, FILE_WRITE: "deny", FILE_READ: "prompt" } as const
    expect(short("write", "a", { options: { defaults } })).toBe("deny default.FILE_WRITE")
    expect(short("read", "a", { options: { defaults } })).toBe("ask default.FILE_READ")
  })
})

describe("each kind", () => {
  const rows: readonly (readonly [PathEffectKind, string, number])[] = [
    ["read", "allow default.FILE_READ", 1],
    ["list", "allow default.FILE_READ", 1],
    ["createDirectory", "allow default.DIRECTORY_CREATE", 1],
    ["write", "ask default.FILE_WRITE", 2],
    ["delete", "ask default.FILE_DELETE", 3],
  ]
  test.each(rows)("%s: %s", (kind, expected, level) => {
    expect(short(kind, "src/a")).toBe(expected)
    expect(on(kind, "src/a").level).toBe(level as 1) // as: the table holds levels
  })

  test("of a protected name is refused where it changes something", () => {
    for (const kind of ["write", "delete", "createDirectory"] as const)
      expect(short(kind, ".git/hooks")).toStartWith("deny protected:")
    expect(short("read", ".git/HEAD")).toStartWith("allow")
  })

  test("of the workspace itself is not deleted", () => {
    for (const path of [".", "", "a/..", "/w"])
      expect(short("delete", path, { yes: "all" })).toStartWith("deny")
  })
})

describe("files that are always asked", () => {
  const path = ".github/workflows/ci.yml"

  test("are asked, and --yes does not answer", () => {
    expect(short("write", path)).toBe("ask protected:.github/**")
    expect(short("write", path, { yes: "all" })).toBe("ask protected:.github/**")
  })

  test("are not covered by a glob, a rule or a step", () => {
    expect(short("write", path, { grant: { write: ["**"] } })).toStartWith("ask")
    expect(short("write", path, { grant: { write: [".github/**"] } })).toStartWith("ask")
    expect(short("write", path, { grant: { exact: [{ kind: "write", path }] } })).toStartWith("ask")
    const rules = rulesOf({ name: "all", operation: "file_write", pattern: "**", policy: "auto" })
    expect(short("write", path, { rules })).toStartWith("ask")
  })

  test("are covered by their literal name, for writing", () => {
    expect(short("write", path, { grant: { write: [path] } })).toBe("allow plan.resources")
    expect(short("write", path, { grant: { write: [`./${path}`] } })).toBe("allow plan.resources")
    expect(short("delete", path, { grant: { write: [path] } })).toStartWith("ask")
  })

  test("are refused by a rule that refuses", () => {
    const rules = rulesOf({ name: "no", operation: "file_write", pattern: ".github/**", policy: "deny" })
    expect(short("write", path, { rules, grant: { write: [path] } })).toBe("deny no")
  })

  test("are read like any other", () => {
    expect(short("read", path)).toStartWith("allow")
  })
})

describe("what the plan grants", () => {
  test("is writing, by globs", () => {
    const grant = { write: ["src/**", "docs/*.md"] }
    for (const path of ["src/a", "src/a/b", "./src/x", "/w/src/a", "docs/a.md"])
      expect(short("write", path, { grant })).toBe("allow plan.resources")
    for (const path of ["a", "src2/a", "docs/a/b.md", "docs/a.txt", "src/../a"])
      expect(short("write", path, { grant })).toStartWith("ask")
    expect(short("createDirectory", "src/new", { grant })).toBe("allow plan.resources")
  })

  test("is not deleting", () => {
    expect(short("delete", "src/a", { grant: { write: ["src/**"] } })).toStartWith("ask")
  })

  test("is a concrete step exactly", () => {
    const grant = { exact: [{ kind: "delete", path: "./a" }] as const }
    expect(short("delete", "a", { grant })).toBe("allow plan.resources")
    expect(short("delete", "b", { grant })).toStartWith("ask")
    expect(short("write", "a", { grant })).toStartWith("ask")
  })
})

describe("outside the workspace", () => {
  test.each(["../a", "/etc/passwd", "/tmp/a", "/wide", "/", "a/../../b", "/h/x", "/h/.ssh/id"])(
    "%s is refused",
    path => {
      for (const kind of ["read", "write", "list", "delete"] as const)
        expect(on(kind, path, { yes: "all", grant: { write: ["**"] } })).toMatchObject({
          decision: "deny",
          level: 4,
        })
    },
  )

  test("the reason says so, or says what is protected", () => {
    expect(on("write", "../a").reason).toContain("outside workspace")
    expect(on("read", "/h/.ssh/id").rule).toStartWith("protected:")
  })
})
