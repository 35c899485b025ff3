import { describe, expect, test } from "bun:test"
import { sha256Hex } from "../../src/base/canonical.ts"
import type { Config } from "../../src/config/schema.ts"
import { trustProject } from "../../src/config/trust.ts"
import { fixedClock } from "../support/fixed-clock.ts"
import { type ConfigFixture, configFixture, executionYaml } from "./config-fixture.ts"

type Execution = Config["execution"]

function trust(fixture: ConfigFixture, hash: string | null): void {
  const { root, dataHome } = fixture.workspace
  if (hash === null) throw new Error("there is no file to trust")
  trustProject({ workspaceRoot: root, configPath: fixture.projectPath, dataHome }, hash, fixedClock())
}

/** What each file says, what holds while nobody trusts the project, what holds afterwards, and what is told. */
const cases: readonly {
  readonly name: string
  readonly user?: string
  readonly project: string
  readonly read: (execution: Execution) => unknown
  readonly untrusted: unknown
  readonly trusted: unknown
  readonly loosens: readonly string[]
}[] = [
  {
    name: "no sandbox",
    project: "sandbox: none",
    read: execution => execution.sandbox,
    untrusted: "auto",
    trusted: "none",
    loosens: ["execution.sandbox"],
  },
  {
    name: "a stricter sandbox",
    project: "sandbox: bwrap",
    read: execution => execution.sandbox,
    untrusted: "bwrap",
    trusted: "bwrap",
    loosens: [],
  },
  {
    name: "another sandbox that is no stricter than the user's",
    user: "sandbox: bwrap",
    project: "sandbox: container",
    read: execution => execution.sandbox,
    untrusted: "bwrap",
    trusted: "container",
    loosens: ["execution.sandbox"],
  },
  {
    name: "a weaker sandbox than the user's, although it is the default",
    user: "sandbox: bwrap",
    project: "sandbox: auto",
    read: execution => execution.sandbox,
    untrusted: "bwrap",
    trusted: "auto",
    loosens: ["execution.sandbox"],
  },
  {
    name: "a sandbox where the user wants none",
    user: "sandbox: none",
    project: "sandbox: auto",
    read: execution => execution.sandbox,
    untrusted: "auto",
    trusted: "auto",
    loosens: [],
  },
  {
    name: "what the user allows anyway",
    user: "network: host",
    project: "network: host",
    read: execution => execution.network,
    untrusted: "host",
    trusted: "host",
    loosens: [],
  },
  {
    name: "the host's network",
    project: "network: host",
    read: execution => execution.network,
    untrusted: "none",
    trusted: "host",
    loosens: ["execution.network"],
  },
  {
    name: "a shell",
    project: "use_shell: true",
    read: execution => execution.use_shell,
    untrusted: false,
    trusted: true,
    loosens: ["execution.use_shell"],
  },
  {
    name: "UNIX sockets",
    project: "unix_sockets: allow",
    read: execution => execution.unix_sockets,
    untrusted: "deny",
    trusted: "allow",
    loosens: ["execution.unix_sockets"],
  },
  {
    name: "more variables",
    project: "environment: { include: [PATH, HOME, AWS_SECRET_ACCESS_KEY] }",
    read: execution => execution.environment.include,
    untrusted: ["PATH", "HOME"],
    trusted: ["PATH", "HOME", "AWS_SECRET_ACCESS_KEY"],
    loosens: ["execution.environment.include"],
  },
  {
    name: "fewer variables",
    project: "environment: { include: [PATH] }",
    read: execution => execution.environment.include,
    untrusted: ["PATH"],
    trusted: ["PATH"],
    loosens: [],
  },
  {
    name: "the host environment although the user replaces it",
    user: "environment: { mode: replace }",
    project: "environment: { mode: inherit }",
    read: execution => execution.environment.mode,
    untrusted: "replace",
    trusted: "inherit",
    loosens: ["execution.environment.mode"],
  },
  {
    name: "more readable paths than the user's",
    user: "readable_paths: [/opt/a]",
    project: "readable_paths: [/opt/a, ~/.ssh]",
    read: execution => execution.readable_paths,
    untrusted: ["/opt/a"],
    trusted: ["/opt/a", "~/.ssh"],
    loosens: ["execution.readable_paths"],
  },
  {
    name: "more output",
    project: "max_output_kb: 4096",
    read: execution => execution.max_output_kb,
    untrusted: 1024,
    trusted: 4096,
    loosens: ["execution.max_output_kb"],
  },
  {
    name: "less output",
    project: "max_output_kb: 64",
    read: execution => execution.max_output_kb,
    untrusted: 64,
    trusted: 64,
    loosens: [],
  },
  {
    name: "history that is kept for a day",
    project: "audit: { retention_days: 1 }",
    read: execution => execution.audit.retention_days,
    untrusted: 90,
    trusted: 1,
    loosens: ["execution.audit.retention_days"],
  },
  {
    name: "a pattern that hides code from whoever is asked",
    project: "redaction: { patterns: ['curl .*'] }",
    read: execution => execution.redaction.patterns,
    untrusted: [],
    trusted: ["curl .*"],
    loosens: ["execution.redaction.patterns"],
  },
]

describe("a project file that asks for", () => {
  test.each(cases.map(entry => [entry.name, entry] as const))("%s", async (_name, entry) => {
    using fixture = configFixture()
    if (entry.user !== undefined) fixture.user(executionYaml(entry.user))
    fixture.project(executionYaml(entry.project))

    const before = await fixture.load()
    expect(entry.read(before.values.execution)).toEqual(entry.untrusted)
    expect(before.projectFile).toMatchObject({ exists: true, trusted: false, loosens: entry.loosens })
    expect(before.notices).toHaveLength(entry.loosens.length > 0 ? 1 : 0)

    trust(fixture, before.projectFile.hash)
    const after = await fixture.load()
    expect(entry.read(after.values.execution)).toEqual(entry.trusted)
    expect(after.projectFile).toMatchObject({ trusted: true, loosens: entry.loosens })
    expect(after.notices).toEqual([])
  })
})

describe("trust of the project file", () => {
  const loose = executionYaml("sandbox: none", "network: host", "default_timeout_seconds: 5")

  test("is missed in one line that names every ignored key and the way out", async () => {
    using fixture = configFixture()
    fixture.project(loose)
    const { notices, values, origins } = await fixture.load()
    expect(notices).toEqual([
      ".agent/config.yml is not trusted, so it cannot loosen execution.sandbox, execution.network; " +
        "`acode config trust` trusts it",
    ])
    expect(values.execution.default_timeout_seconds).toBe(5)
    expect(origins.get("execution.default_timeout_seconds")).toBe("project")
    expect(origins.get("execution.sandbox")).toBe("default")
  })

  test("ends with any change of the file, a comment included", async () => {
    using fixture = configFixture()
    fixture.project(loose)
    trust(fixture, (await fixture.load()).projectFile.hash)
    fixture.project(`${loose}# harmless\n`)
    const { values, projectFile } = await fixture.load()
    expect(projectFile.trusted).toBe(false)
    expect(values.execution.sandbox).toBe("auto")
  })

  test("is given for one invocation by the hash of the file", async () => {
    using fixture = configFixture()
    fixture.project(loose)
    const hash = `sha256:${sha256Hex(loose)}`
    const right = await fixture.load({ variables: { ACODE_TRUST_PROJECT: hash } })
    expect([right.projectFile.hash, right.projectFile.trusted]).toEqual([hash, true])
    expect(right.values.execution.network).toBe("host")
    const wrong = await fixture.load({ variables: { ACODE_TRUST_PROJECT: `sha256:${"0".repeat(64)}` } })
    expect(wrong.projectFile.trusted).toBe(false)
    expect((await fixture.load()).projectFile.trusted).toBe(false)
  })

  test("is not needed by a person's own file, environment or command line", async () => {
    using fixture = configFixture()
    fixture.user(executionYaml("sandbox: none"))
    const { values, notices } = await fixture.load({
      variables: { ACODE_EXECUTION_NETWORK: "host" },
      flags: { values: { "execution.use_shell": true } },
    })
    expect([values.execution.sandbox, values.execution.network, values.execution.use_shell]).toEqual([
      "none",
      "host",
      true,
    ])
    expect(notices).toEqual([])
  })

  test("does not stand in the way of a person who loosens what the project asks to tighten", async () => {
    using fixture = configFixture()
    fixture.project(executionYaml("sandbox: bwrap"))
    const { values, origins } = await fixture.load({ variables: { ACODE_EXECUTION_SANDBOX: "none" } })
    expect([values.execution.sandbox, origins.get("execution.sandbox")]).toEqual(["none", "environment"])
  })

  test("of the part of a list that counts is told as coming from the project", async () => {
    using fixture = configFixture()
    fixture.project(executionYaml("environment: { include: [PATH, EXTRA] }"))
    const { values, origins } = await fixture.load()
    expect(values.execution.environment.include).toEqual(["PATH"])
    expect(origins.get("execution.environment.include")).toBe("project")
  })
})
