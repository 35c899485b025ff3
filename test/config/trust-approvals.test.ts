import { describe, expect, test } from "bun:test"
import type { Config } from "../../src/config/schema.ts"
import { trustProject } from "../../src/config/trust.ts"
import { fixedClock } from "../support/fixed-clock.ts"
import { configFixture } from "./config-fixture.ts"

function yaml(...lines: readonly string[]): string {
  return `schema_version: "1"\n${lines.map(line => `${line}\n`).join("")}`
}

function rule(name: string, policy: string): string {
  return `{ name: ${name}, operation: terminal_command, command: ${name}, policy: ${policy} }`
}

/** What each file says, what holds while nobody trusts the project, what holds afterwards, and what is told. */
const cases: readonly {
  readonly name: string
  readonly user?: string
  readonly project: string
  readonly read: (config: Config) => unknown
  readonly untrusted: unknown
  readonly trusted: unknown
  readonly loosens: readonly string[]
}[] = [
  {
    name: "unasked writes",
    project: "approvals: { file_write: auto }",
    read: ({ approvals }) => approvals.file_write,
    untrusted: "prompt",
    trusted: "auto",
    loosens: ["approvals.file_write"],
  },
  {
    name: "no writes at all",
    project: "approvals: { file_write: deny }",
    read: ({ approvals }) => approvals.file_write,
    untrusted: "deny",
    trusted: "deny",
    loosens: [],
  },
  {
    name: "a question where the user refuses",
    user: "approvals: { terminal_commands: deny }",
    project: "approvals: { terminal_commands: prompt }",
    read: ({ approvals }) => approvals.terminal_commands,
    untrusted: "deny",
    trusted: "prompt",
    loosens: ["approvals.terminal_commands"],
  },
  {
    name: "reads to be asked",
    project: "approvals: { file_read: prompt }",
    read: ({ approvals }) => approvals.file_read,
    untrusted: "prompt",
    trusted: "prompt",
    loosens: [],
  },
  {
    name: "questions that stay open",
    project: "approvals: { non_interactive: rest, timeout_seconds: 0 }",
    read: ({ approvals }) => [approvals.non_interactive, approvals.timeout_seconds],
    untrusted: ["deny", 300],
    trusted: ["rest", 0],
    loosens: ["approvals.non_interactive", "approvals.timeout_seconds"],
  },
  {
    name: "rules of every kind",
    project: `rules: [${["auto", "prompt", "skip", "deny"].map(policy => rule(policy, policy)).join(", ")}]`,
    read: ({ rules }) => rules.map(({ name }) => name),
    untrusted: ["skip", "deny"],
    trusted: ["auto", "prompt", "skip", "deny"],
    loosens: ["rules"],
  },
  {
    name: "rules that only refuse",
    project: `rules: [${rule("a", "deny")}, ${rule("b", "skip")}]`,
    read: ({ rules }) => rules.map(({ name }) => name),
    untrusted: ["a", "b"],
    trusted: ["a", "b"],
    loosens: [],
  },
  {
    name: "rules beside the user's, which stay in force and first",
    user: `rules: [${rule("mine", "deny")}]`,
    project: `rules: [${rule("theirs", "deny")}, ${rule("loose", "auto")}]`,
    read: ({ rules }) => rules.map(({ name }) => name),
    untrusted: ["mine", "theirs"],
    trusted: ["theirs", "loose", "mine"],
    loosens: ["rules"],
  },
  {
    name: "no rules, which takes none away",
    user: `rules: [${rule("mine", "deny")}]`,
    project: "rules: []",
    read: ({ rules }) => rules.map(({ name }) => name),
    untrusted: ["mine"],
    trusted: ["mine"],
    loosens: [],
  },
  {
    name: "allowed commands",
    user: "executor: { allowed_commands: [make, [go, vet]] }",
    project: "executor: { allowed_commands: [[go, vet], curl] }",
    read: ({ executor }) => executor.allowed_commands,
    untrusted: [["go", "vet"]],
    trusted: [["go", "vet"], "curl"],
    loosens: ["executor.allowed_commands"],
  },
  {
    name: "fewer checkpoints, which can be undone for a shorter time",
    project: "checkpoints: { max_file_mb: 1, undo_days: 1 }",
    read: ({ checkpoints }) => checkpoints,
    untrusted: { max_file_mb: 64, max_total_mb: 2048, max_ignored_entries: 50_000, undo_days: 7 },
    trusted: { max_file_mb: 1, max_total_mb: 2048, max_ignored_entries: 50_000, undo_days: 1 },
    loosens: ["checkpoints.max_file_mb", "checkpoints.undo_days"],
  },
]

describe("a project file that asks for", () => {
  test.each(cases.map(entry => [entry.name, entry] as const))("%s", async (_name, entry) => {
    using fixture = configFixture()
    if (entry.user !== undefined) fixture.user(yaml(entry.user))
    fixture.project(yaml(entry.project))

    const before = await fixture.load()
    expect(entry.read(before.values)).toEqual(entry.untrusted)
    expect(before.projectFile).toMatchObject({ trusted: false, loosens: entry.loosens })
    expect(before.notices).toHaveLength(entry.loosens.length > 0 ? 1 : 0)

    const { root, dataHome } = fixture.workspace
    const subject = { workspaceRoot: root, configPath: fixture.projectPath, dataHome }
    trustProject(subject, before.projectFile.hash ?? "", fixedClock())
    const after = await fixture.load()
    expect(entry.read(after.values)).toEqual(entry.trusted)
    expect(after.projectFile).toMatchObject({ trusted: true, loosens: entry.loosens })
  })
})
