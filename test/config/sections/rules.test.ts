import { describe, expect, test } from "bun:test"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { setConfigValue } from "../../../src/config/edit.ts"
import { configSources } from "../../../src/config/file.ts"
import { configuredRules } from "../../../src/config/rules-check.ts"
import { configFixture, executionYaml, failureOf } from "../config-fixture.ts"

function yaml(...lines: readonly string[]): string {
  return `schema_version: "1"\n${lines.map(line => `${line}\n`).join("")}`
}

/** What is wrong with a project file, line by line. */
async function problemsOf(...lines: readonly string[]): Promise<string[]> {
  using fixture = configFixture()
  fixture.project(yaml(...lines))
  const report = await failureOf(() => fixture.load())
  expect(report).toMatchObject({ kind: "config", code: "ACODE-CFG-003" })
  return report.message
    .split("\n")
    .slice(1)
    .map(line => line.trim())
}

async function rulesOf(...lines: readonly string[]) {
  using fixture = configFixture()
  fixture.user(yaml(...lines))
  return configuredRules((await fixture.load()).values)
}

describe("rules in a file", () => {
  test("are read in order, as text or as lists, in either spelling of the operation", async () => {
    const rules = await rulesOf(
      "rules:",
      "  - name: no generated code",
      "    operation: file_write",
      '    pattern: ["dist/**", "!dist/keep/**"]',
      "    policy: deny",
      "    prompt_message: It is built, not written.",
      "    match: [dist/a.js]",
      "    not_match: [dist/keep/a.js, src/a.js]",
      "  - { name: make, operation: TERMINAL_COMMAND, command: make *, policy: auto, match: [make all] }",
      "  - { name: re, operation: terminal_command, command_regex: '^npx tsc( .*)?$', policy: prompt }",
      "  - { name: argv, operation: terminal_command, command: [go, vet], policy: auto, match: [[go, vet, .]] }",
    )
    expect(rules.map(({ name, category, policy }) => [name, category, policy])).toEqual([
      ["no generated code", "FILE_WRITE", "deny"],
      ["make", "TERMINAL_COMMAND", "auto"],
      ["re", "TERMINAL_COMMAND", "prompt"],
      ["argv", "TERMINAL_COMMAND", "auto"],
    ])
    expect(rules[0]?.message).toBe("It is built, not written.")
    expect(rules[1]?.command).toEqual(["make", "*"])
  })

  test("whose examples fail are refused with the place of each example", async () => {
    expect(
      await problemsOf(
        "rules:",
        "  - name: tests only",
        "    operation: file_write",
        "    pattern: test/**",
        "    policy: auto",
        "    match:",
        "      - test/a.ts",
        "      - src/a.ts",
        "    not_match:",
        "      - test/b.ts",
      ),
    ).toEqual([
      ".agent/config.yml:9:9 rules[0].match[1]: is not matched by the rule",
      ".agent/config.yml:11:9 rules[0].not_match[0]: is matched by the rule",
    ])
  })

  test("are told everything that is wrong with them at once, each thing once", async () => {
    expect(
      await problemsOf(
        "rules:",
        "  - { name: a, operation: file_write, pattern: 'x{', policy: allow }",
        "  - { name: b, operation: file_write, pattern: 'x{', policy: deny }",
        "  - { name: c, operation: terminal_command, command: '* push', policy: deny }",
        "  - { name: d, operation: terminal_command, command_regex: 'rm', policy: deny }",
        "  - { name: e, operation: file_read, policy: deny }",
      ),
    ).toEqual([
      '.agent/config.yml:3:62 rules[0].policy: is "allow"; allowed: auto, prompt, deny, skip',
      '.agent/config.yml:4:48 rules[1].pattern: "x{" is not a glob',
      ".agent/config.yml:5:54 rules[2].command: does not name the program",
      ".agent/config.yml:6:60 rules[3].command_regex: is not anchored: it must begin with ^ and end with $, " +
        "with alternatives in parentheses",
      ".agent/config.yml:7:5 rules[4].pattern: is missing",
    ])
  })

  test("with two of one name are refused, with an unknown key suggest the known one", async () => {
    const rule = "operation: file_read, pattern: a, policy: deny"
    expect(await problemsOf(`rules: [{ name: a, ${rule} }, { name: a, ${rule} }]`)).toEqual([
      '.agent/config.yml:2:78 rules[1].name: "a" is used twice',
    ])
    const [unknown] = await problemsOf(`rules: [{ name: a, ${rule}, patern: b }]`)
    expect(unknown).toStartWith(
      ".agent/config.yml:2:68 rules[0].patern: is not a known key; did you mean pattern?",
    )
  })

  test("of the user and of the project may share a name", async () => {
    using fixture = configFixture()
    const rule = (policy: string) =>
      yaml(`rules: [{ name: a, operation: file_read, pattern: a, policy: ${policy} }]`)
    fixture.user(rule("prompt"))
    fixture.project(rule("deny"))
    const { values } = await fixture.load()
    expect(configuredRules(values).map(({ policy }) => policy)).toEqual(["prompt", "deny"])
  })

  test("are at most five hundred", async () => {
    const entries = Array.from({ length: 501 }, () => "1").join(", ")
    const problems = await problemsOf(`rules: [${entries}]`)
    expect(problems.some(problem => problem.includes("rules: has too many entries"))).toBe(true)
  })

  test("are checked when they are set, and a wrong one leaves the file as it was", async () => {
    using fixture = configFixture()
    fixture.project(yaml("rules: []"))
    const { project } = configSources(fixture.workspace.root, fixture.environment(), null)
    const set = (valueText: string) =>
      setConfigValue({ source: project, key: "rules", valueText, ensureDirectory: () => undefined })
    const right = "{name: a, operation: file_read, pattern: a, policy: deny, match: [a]}"
    await set(`[${right}]`)
    const before = readFileSync(fixture.projectPath, "utf8")
    const report = await failureOf(() => set(`[${right.replace("match: [a]", "match: [b]")}]`))
    expect(report).toMatchObject({ code: "ACODE-CFG-003", message: expect.stringContaining("not matched") })
    expect(readFileSync(fixture.projectPath, "utf8")).toBe(before)
    expect((await fixture.load()).values.rules).toHaveLength(1)
  })

  test("given in another way than a file are checked too", async () => {
    using fixture = configFixture()
    const rule = { name: "a", operation: "file_read", pattern: "a", policy: "deny", match: ["b"] }
    const report = await failureOf(() => fixture.load({ flags: { values: { rules: [rule] } } }))
    expect(report.message).toContain("command line rules: is not matched by the rule")
  })
})

describe("allowed commands", () => {
  test("are rules behind the others that let a command through", async () => {
    const rules = await rulesOf(
      'executor: { allowed_commands: ["make build", [go, vet, "./..."]] }',
      "rules: [{ name: a, operation: terminal_command, command: make, policy: prompt }]",
    )
    expect(rules.map(({ name, policy, command }) => ({ name, policy, command }))).toEqual([
      { name: "a", policy: "prompt", command: ["make"] },
      { name: "executor.allowed_commands[0]", policy: "auto", command: ["make", "build"] },
      { name: "executor.allowed_commands[1]", policy: "auto", command: ["go", "vet", "./..."] },
    ])
  })

  test("must name their program, and are told with their place", async () => {
    expect(await problemsOf("executor:", "  allowed_commands:", "    - make", '    - "* test"')).toEqual([
      ".agent/config.yml:5:7 executor.allowed_commands[1]: does not name the program",
    ])
  })
})

test("a rule that nobody checked is never left out in silence", async () => {
  using fixture = configFixture()
  const { values } = await fixture.load()
  const broken = { name: "b", operation: "file_read", pattern: "x{", policy: "deny" } as const
  const report = await failureOf(() => configuredRules({ ...values, rules: [broken] }))
  expect(report).toMatchObject({ code: "ACODE-CFG-003", message: expect.stringContaining('rules "b"') })
})

test("a file without rules is read without the tables of the policy room", () => {
  using fixture = configFixture()
  const source = (name: string) => JSON.stringify(join(import.meta.dir, "../../../src", name))
  const loaded = (text: string) => {
    fixture.project(text)
    const script = `
      const { loadConfig } = await import(${source("config/config.ts")})
      const { readEnvironment } = await import(${source("config/environment.ts")})
      const flags = { configFile: null, values: {} }
      await loadConfig({ workspaceRoot: process.cwd(), environment: readEnvironment(), flags })
      const modules = Object.keys(require.cache)
      console.log(["rules/reader", "programs/shipped", "config/schema"].filter(name => modules.some(path => path.includes(name))).join())`
    const { stdout, stderr } = Bun.spawnSync([process.execPath, "-e", script], {
      cwd: fixture.workspace.root,
      env: { ...fixture.workspace.environment },
    })
    return stdout.toString().trim() || stderr.toString()
  }
  expect(loaded(executionYaml("max_queued: 3"))).toBe("config/schema")
  expect(loaded(yaml("rules: [{ name: a, operation: file_read, pattern: a, policy: deny }]"))).toBe(
    "rules/reader,programs/shipped,config/schema",
  )
})
