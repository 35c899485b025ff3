import { describe, expect, test } from "bun:test"
import { readYes } from "../../../src/app/policy-yes.ts"
import { type WiredPolicy, wirePolicy } from "../../../src/app/wiring/policy.ts"
import type { Config } from "../../../src/config/schema.ts"
import { type Effect, type ExecuteEffect, emptyGrant } from "../../../src/domain/effect.ts"
import { configFixture } from "../../config/config-fixture.ts"

interface Setting {
  readonly user?: string
  readonly yes?: string | true
  readonly isAirgapped?: boolean
}

async function policyWith({ user, ...more }: Setting = {}): Promise<WiredPolicy> {
  using fixture = configFixture()
  if (user !== undefined) fixture.user(`schema_version: "1"\n${user}\n`)
  const { values } = await fixture.load()
  return policyOf(fixture, values, more)
}

function policyOf(
  fixture: ReturnType<typeof configFixture>,
  config: Config,
  { yes, isAirgapped = false }: Setting = {},
) {
  return wirePolicy({
    config,
    environment: fixture.environment(),
    root: "/w",
    yes: yes === undefined ? undefined : readYes(yes, true),
    isAirgapped,
  })
}

function run(...argv: readonly string[]): ExecuteEffect {
  return { kind: "execute", run: { argv }, cwd: ".", network: "none", confined: true }
}

function script(text: string): ExecuteEffect {
  return { ...run(), run: { script: text } }
}

async function decided(policy: WiredPolicy, effect: Effect) {
  const { decision, rule } = await policy.decide([effect], emptyGrant)
  return `${decision} ${rule}`
}

const write = { kind: "write", path: "src/a.ts" } as const

test("what a configuration of git names is refused, whatever was approved", async () => {
  using fixture = configFixture()
  const { values } = await fixture.load()
  const { root } = fixture.workspace
  fixture.workspace.write(".git/config", "[core]\n\thooksPath = hooks\n")
  const policy = await wirePolicy({
    config: values,
    environment: fixture.environment(),
    root,
    yes: readYes("all", true),
    isAirgapped: false,
  })
  const hook = { kind: "write", path: "hooks/pre-commit" } as const
  const grant = { ...emptyGrant, write: ["**"] }
  expect(await policy.decide([hook], grant)).toMatchObject({
    decision: "deny",
    rule: "protected:git configuration",
  })
  expect(await policy.decide([{ ...hook, kind: "read" }], grant)).toMatchObject({ decision: "allow" })
})

describe("the policy in force", () => {
  test("without any setting is the shipped one", async () => {
    const policy = await policyWith()
    expect(await decided(policy, write)).toBe("ask default.FILE_WRITE")
    expect(await decided(policy, run("npm", "test"))).toBe("allow commands.packages")
    expect(await decided(policy, script("npm test && git push"))).toBe("ask commands.network")
    expect(await decided(policy, { kind: "connect", host: "example.com" })).toBe(
      "ask default.EXTERNAL_REQUEST",
    )
  })

  test("takes the configured default of each category", async () => {
    const policy = await policyWith({ user: "approvals: { file_write: auto, external_requests: deny }" })
    expect(await decided(policy, write)).toBe("allow default.FILE_WRITE")
    expect(await decided(policy, { kind: "connect", host: "a.example" })).toBe(
      "deny default.EXTERNAL_REQUEST",
    )
    expect(await decided(policy, { kind: "delete", path: "a" })).toBe("ask default.FILE_DELETE")
  })

  test("takes rules in order, a refusal wherever it stands", async () => {
    const policy = await policyWith({
      user:
        "rules:\n" +
        "  - { name: sources, operation: file_write, pattern: 'src/**', policy: auto }\n" +
        "  - { name: all, operation: file_write, pattern: '**', policy: prompt }\n" +
        "  - { name: frozen, operation: file_write, pattern: 'src/frozen/**', policy: deny }\n" +
        "  - { name: push, operation: terminal_command, command: git push, policy: deny }\n",
    })
    expect(await decided(policy, write)).toBe("allow sources")
    expect(await decided(policy, { kind: "write", path: "a" })).toBe("ask all")
    expect(await decided(policy, { kind: "write", path: "src/frozen/a" })).toBe("deny frozen")
    expect(await decided(policy, run("git", "push", "origin"))).toBe("deny push")
    expect(await decided(policy, script("ls; git -C . push"))).toBe("deny push")
  })

  test("lets allowed commands through, behind the rules, and never what is never allowed", async () => {
    const allowed = 'executor: { allowed_commands: ["frobnicate --all", rm] }'
    const policy = await policyWith({ user: allowed })
    expect(await decided(policy, run("frobnicate", "--all"))).toBe("allow executor.allowed_commands[0]")
    expect(await decided(policy, run("frobnicate"))).toBe("ask commands.unknown-program")
    expect(await decided(policy, run("rm", "-rf", "/"))).toStartWith("deny never.")
    const refusing = await policyWith({
      user: `${allowed}\nrules: [{ name: no, operation: terminal_command, command: frobnicate, policy: skip }]`,
    })
    expect(await decided(refusing, run("frobnicate", "--all"))).toBe("deny no")
  })

  test("lets --yes answer what it may", async () => {
    const policy = await policyWith({ yes: "file_write:src/**,terminal" })
    expect(await decided(policy, write)).toBe("allow default.FILE_WRITE")
    expect(await decided(policy, { kind: "write", path: "a" })).toBe("ask default.FILE_WRITE")
    const all = await policyWith({ yes: "all" })
    expect(await decided(all, run("git", "push"))).toBe("allow commands.network")
    expect(await decided(all, { kind: "write", path: ".env" })).toStartWith("deny protected:")
    expect(await decided(all, { kind: "write", path: "AGENTS.md" })).toStartWith("ask protected:")
  })

  test("loads the grammar of the shell only for what a shell may read", async () => {
    const policy = await policyWith()
    const without = await policy.optionsFor([run("npm", "test"), write])
    expect(without.parser).toBeNull()
    for (const effect of [script("ls"), run("sh", "-c", "ls"), run("env", "bash", "x.sh")])
      expect((await policy.optionsFor([effect])).parser).not.toBeNull()
  })
})

describe("the policy version", () => {
  test("is the same for the same policy", async () => {
    const user = "rules: [{ name: a, operation: file_read, pattern: a, policy: deny }]"
    const versions = await Promise.all(
      [{ user }, { user }].map(async each => (await policyWith(each)).policyVersion),
    )
    expect(new Set(versions).size).toBe(1)
    expect(versions[0]).toMatch(/^sha256:[0-9a-f]{64}$/)
  })

  test("changes with rules, allowed commands, defaults, --yes and the airgap, and with nothing else", async () => {
    const settings: Setting[] = [
      {},
      { user: "rules: [{ name: a, operation: file_read, pattern: a, policy: deny }]" },
      { user: "rules: [{ name: a, operation: file_read, pattern: b, policy: deny }]" },
      { user: "executor: { allowed_commands: [make] }" },
      { user: "approvals: { file_write: auto }" },
      { yes: true },
      { yes: "file_write:a" },
      { yes: "file_write:b" },
      { isAirgapped: true },
    ]
    const versions = await Promise.all(settings.map(async each => (await policyWith(each)).policyVersion))
    expect(new Set(versions).size).toBe(settings.length)
    const unrelated = await policyWith({ user: "checkpoints: { undo_days: 1 }" })
    expect(unrelated.policyVersion).toBe(versions[0] ?? "")
  })
})
