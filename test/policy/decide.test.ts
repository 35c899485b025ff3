import { describe, expect, test } from "bun:test"
import { decideOn, execute, rulesOf } from "./policy-kit.ts"

describe("several effects", () => {
  test("are decided by the strictest", () => {
    expect(
      decideOn([
        { kind: "read", path: "a" },
        { kind: "write", path: "a" },
      ]),
    ).toMatchObject({ decision: "ask", category: "FILE_WRITE" })
    expect(
      decideOn([
        { kind: "write", path: "a" },
        { kind: "write", path: ".env" },
      ]),
    ).toMatchObject({ decision: "deny", level: 4 })
    expect(decideOn([execute(["ls"]), { kind: "read", path: "a" }])).toMatchObject({
      decision: "allow",
      confined: true,
    })
  })

  test("are lifted one by one", () => {
    const effects = [{ kind: "write", path: "a" } as const, { kind: "delete", path: "b" } as const]
    expect(decideOn(effects, { yes: "file_write" })).toMatchObject({
      decision: "ask",
      category: "FILE_DELETE",
    })
    expect(decideOn(effects, { yes: "file_write,file_delete" })).toMatchObject({ decision: "allow" })
  })

  test("may be none", () => {
    expect(decideOn([])).toMatchObject({ decision: "allow", rule: "no-effect" })
  })
})

describe("in an airgapped session", () => {
  const options = { isAirgapped: true }
  const connect = { kind: "connect", host: "example.com" } as const
  const withNetwork = execute(["npm", "ci"], { network: "host" })
  const unconfined = execute(["ls"], { confined: false })

  test("nothing reaches out, whatever the plan, the rules and --yes say", () => {
    const rules = rulesOf({ name: "mine", operation: "external_request", pattern: "*", policy: "auto" })
    for (const effect of [connect, withNetwork, unconfined])
      expect(decideOn([effect], { options, rules, yes: "all", grant: { exact: [effect] } })).toMatchObject({
        decision: "deny",
        level: 4,
        category: "EXTERNAL_REQUEST",
        rule: "mode.airgapped",
        reason: expect.stringContaining("airgapped"),
      })
  })

  test("what stays on the machine is decided as ever", () => {
    expect(decideOn([execute(["ls"])], { options })).toMatchObject({ decision: "allow", confined: true })
    expect(decideOn([{ kind: "write", path: "a" }], { options })).toMatchObject({ decision: "ask" })
  })
})

describe("a connection", () => {
  const connect = { kind: "connect", host: "example.com" } as const

  test("is asked unless the plan lists the host", () => {
    expect(decideOn([connect])).toMatchObject({ decision: "ask", category: "EXTERNAL_REQUEST", level: 3 })
    expect(decideOn([connect], { grant: { hosts: ["other.com", "*.example.com"] } }).decision).toBe("ask")
    expect(decideOn([connect], { grant: { hosts: ["other.com", "example.com"] } }).decision).toBe("allow")
  })

  test("is granted by a step that names it", () => {
    expect(decideOn([connect], { grant: { exact: [connect] } })).toMatchObject({ decision: "allow" })
  })

  test("is decided by rules over hosts", () => {
    const rules = rulesOf(
      { name: "mine", operation: "external_request", pattern: "*.example.com", policy: "auto" },
      { name: "evil", operation: "external_request", pattern: "*evil*", policy: "deny" },
    )
    const to = (host: string) =>
      decideOn([{ kind: "connect", host }], { rules, grant: { exact: [{ kind: "connect", host }] } })
    expect(to("evil.example.com")).toMatchObject({ decision: "deny", rule: "evil" })
    expect(decideOn([{ kind: "connect", host: "a.example.com" }], { rules })).toMatchObject({
      decision: "allow",
      rule: "mine",
    })
  })
})

describe("--yes", () => {
  test("bare answers nothing that is asked by default", () => {
    for (const effect of [
      { kind: "write", path: "a" } as const,
      { kind: "delete", path: "a" } as const,
      execute(["foo"]),
    ])
      expect(decideOn([effect], { yes: null }).decision).toBe("ask")
  })

  test("all answers everything below Level 4 but the network and what is always asked", () => {
    for (const effect of [{ kind: "write", path: "a" } as const, execute(["foo"]), execute("curl x")])
      expect(decideOn([effect], { yes: "all" }).decision).toBe("allow")
    for (const effect of [
      execute("rm -rf /"),
      { kind: "write", path: ".git/x" } as const,
      execute("$x"),
      execute("curl x | sh"),
    ])
      expect(decideOn([effect], { yes: "all" }).decision).toBe("deny")
    expect(decideOn([{ kind: "write", path: "AGENTS.md" }], { yes: "all" }).decision).toBe("ask")
    expect(decideOn([execute("echo x > AGENTS.md")], { yes: "all" }).decision).toBe("ask")
  })

  test("never overrules a rule that refuses", () => {
    const rules = rulesOf({ name: "no", operation: "file_write", pattern: "a", policy: "deny" })
    expect(decideOn([{ kind: "write", path: "a" }], { rules, yes: "all" }).decision).toBe("deny")
  })
})

test("the same question has the same answer", () => {
  const once = decideOn([execute("npm test | tail -5"), { kind: "write", path: "a" }])
  for (let count = 0; count < 20; count++)
    expect(decideOn([execute("npm test | tail -5"), { kind: "write", path: "a" }])).toEqual(once)
})
