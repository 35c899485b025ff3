import { describe, expect, test } from "bun:test"
import { readFileSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { sha256Hex } from "../../src/base/canonical.ts"
import { defaultConfig } from "../../src/config/defaults.ts"
import { getConfigValue } from "../../src/config/keys.ts"
import { configFixture, executionYaml, failureOf } from "./config-fixture.ts"

describe("a configuration without files", () => {
  test("is the defaults, and nobody is told anything", async () => {
    using fixture = configFixture()
    const loaded = await fixture.load()
    expect(loaded.values).toEqual(defaultConfig)
    expect(new Set(loaded.origins.values())).toEqual(new Set(["default"]))
    expect(loaded.notices).toEqual([])
    expect(loaded.projectFile).toEqual({
      path: fixture.projectPath,
      shown: ".agent/config.yml",
      exists: false,
      hash: null,
      trusted: false,
      loosens: [],
    })
    expect(loaded.userFile).toEqual({
      path: fixture.userPath,
      shown: "~/config/acode/config.yml",
      exists: false,
    })
  })

  test("is the same when the directories do not exist either", async () => {
    using fixture = configFixture()
    const loaded = await fixture.load({ variables: { XDG_CONFIG_HOME: "/nonexistent/config" } })
    expect(loaded.values).toEqual(defaultConfig)
  })

  test("loads neither the YAML parser nor the schema library", () => {
    const graph = staticImports(join(import.meta.dir, "../../src/config/config.ts"))
    expect(graph.files.map(file => file.split("/").at(-1))).toContain("merge.ts")
    expect(graph.packages.filter(name => !name.startsWith("node:"))).toEqual([])
  })
})

describe("precedence", () => {
  const key = "execution.default_timeout_seconds"
  const variable = "ACODE_EXECUTION_DEFAULT_TIMEOUT_SECONDS"
  const sources = ["user", "project", "environment", "flag"] as const
  const seconds = { default: 300, user: 11, project: 12, environment: 13, flag: 14 }

  // Every subset of the four sources: the strongest that speaks wins.
  for (let subset = 0; subset < 16; subset++) {
    const speaking = sources.filter((_, index) => (subset & (1 << index)) !== 0)
    const winner = speaking.at(-1) ?? "default"
    test(`of ${speaking.join(", ") || "nothing"}: ${winner} wins`, async () => {
      using fixture = configFixture()
      if (speaking.includes("user")) fixture.user(executionYaml(`default_timeout_seconds: ${seconds.user}`))
      if (speaking.includes("project"))
        fixture.project(executionYaml(`default_timeout_seconds: ${seconds.project}`))
      const loaded = await fixture.load({
        variables: speaking.includes("environment") ? { [variable]: String(seconds.environment) } : {},
        flags: { values: speaking.includes("flag") ? { [key]: seconds.flag } : {} },
      })
      expect(loaded.values.execution.default_timeout_seconds).toBe(seconds[winner])
      expect(loaded.origins.get(key)).toBe(winner)
      expect(loaded.origins.get("execution.max_concurrent")).toBe("default")
    })
  }

  test("a file says nothing about the keys it leaves out", async () => {
    using fixture = configFixture()
    fixture.user(executionYaml("limits:", "  memory_mb: 700", "  processes: 70"))
    fixture.project(executionYaml("limits:", "  memory_mb: 600"))
    const { values, origins } = await fixture.load()
    expect(values.execution.limits).toEqual({
      ...defaultConfig.execution.limits,
      memory_mb: 600,
      processes: 70,
    })
    expect(origins.get("execution.limits.memory_mb")).toBe("project")
    expect(origins.get("execution.limits.processes")).toBe("user")
  })

  test("a section without content says nothing", async () => {
    using fixture = configFixture()
    fixture.project('schema_version: "1"\nexecution:\n  audit:\n  # retention_days: 3\n')
    expect((await fixture.load()).values).toEqual(defaultConfig)
    fixture.project('schema_version: "1"\nexecution:\n')
    expect((await fixture.load()).values).toEqual(defaultConfig)
  })

  test("lists that protect grow with every source and lose nothing", async () => {
    using fixture = configFixture()
    fixture.user(
      executionYaml('environment: { exclude_patterns: ["USER_*"] }', 'redaction: { patterns: ["u"] }'),
    )
    fixture.project(executionYaml('environment: { exclude_patterns: ["PROJECT_*", "USER_*"] }'))
    const { values, origins, notices } = await fixture.load()
    expect(values.execution.environment.exclude_patterns).toEqual([
      ...defaultConfig.execution.environment.exclude_patterns,
      "USER_*",
      "PROJECT_*",
    ])
    expect(values.execution.redaction.patterns).toEqual(["u"])
    expect(origins.get("execution.environment.exclude_patterns")).toBe("project")
    expect(notices).toEqual([])
  })

  test("a project cannot empty a list that protects, trusted or not", async () => {
    using fixture = configFixture()
    fixture.user(executionYaml('redaction: { patterns: ["u"] }'))
    const text = executionYaml("redaction: { patterns: [] }", "environment: { exclude_patterns: [] }")
    fixture.project(text)
    for (const variables of [{}, { ACODE_TRUST_PROJECT: `sha256:${sha256Hex(text)}` }]) {
      const { execution } = (await fixture.load({ variables })).values
      expect(execution.redaction.patterns).toEqual(["u"])
      expect(execution.environment.exclude_patterns).toEqual(
        defaultConfig.execution.environment.exclude_patterns,
      )
    }
  })

  test.each([
    ["ACODE_EXECUTION_SANDBOX", "bwrap", "execution.sandbox", "bwrap"],
    ["ACODE_EXECUTION_NETWORK", "host", "execution.network", "host"],
    ["ACODE_EXECUTION_DEFAULT_TIMEOUT_SECONDS", "0.5", "execution.default_timeout_seconds", 0.5],
    ["ACODE_EXECUTION_MAX_CONCURRENT", "2", "execution.max_concurrent", 2],
  ])("%s sets its key", async (variable, text, key, expected) => {
    using fixture = configFixture()
    const { values, origins } = await fixture.load({ variables: { [variable]: text } })
    expect(getConfigValue(values, key)).toBe(expected)
    expect(origins.get(key)).toBe("environment")
    const empty = await fixture.load({ variables: { [variable]: "" } })
    expect(empty.values).toEqual(defaultConfig)
  })

  test.each([
    ["ACODE_EXECUTION_SANDBOX", "docker", "allowed: auto, native, perl, bwrap, container, reduced, none"],
    ["ACODE_EXECUTION_DEFAULT_TIMEOUT_SECONDS", "soon", "allowed: a number from 0.001 to 604800"],
    ["ACODE_EXECUTION_DEFAULT_TIMEOUT_SECONDS", "0x10", "allowed: a number from"],
    ["ACODE_EXECUTION_MAX_CONCURRENT", "17", "allowed: a whole number from 1 to 16"],
  ])("%s=%s is refused with the variable and what is allowed", async (variable, text, allowed) => {
    using fixture = configFixture()
    const report = await failureOf(() => fixture.load({ variables: { [variable]: text } }))
    expect(report).toMatchObject({ kind: "config", code: "ACODE-CFG-003", where: variable })
    expect(report.message).toContain(allowed)
  })

  test("a flag is validated like everything else", async () => {
    using fixture = configFixture()
    const wrong = await failureOf(() => fixture.load({ flags: { values: { "execution.network": "wifi" } } }))
    expect(wrong).toMatchObject({ code: "ACODE-CFG-003", where: "command line" })
    const unknown = await failureOf(() =>
      fixture.load({ flags: { values: { "execution.netwrok": "none" } } }),
    )
    expect(unknown).toMatchObject({
      kind: "usage",
      code: "ACODE-CFG-005",
      hint: "did you mean execution.network?",
    })
  })
})

describe("another file in place of the project file", () => {
  test("is named by --config, or else by ACODE_CONFIG_FILE, and may lie anywhere", async () => {
    using fixture = configFixture()
    fixture.project(executionYaml("max_concurrent: 1"))
    const byFlag = join(fixture.workspace.outside, "flag.yml")
    const byVariable = join(fixture.workspace.root, "variable.yml")
    writeFileSync(byFlag, executionYaml("max_concurrent: 2"))
    writeFileSync(byVariable, executionYaml("max_concurrent: 3"))
    const variables = { ACODE_CONFIG_FILE: byVariable }
    const fromVariable = await fixture.load({ variables })
    expect(fromVariable.values.execution.max_concurrent).toBe(3)
    expect(fromVariable.projectFile.shown).toBe("variable.yml")
    const fromFlag = await fixture.load({ variables, flags: { configFile: byFlag } })
    expect(fromFlag.values.execution.max_concurrent).toBe(2)
    expect(fromFlag.origins.get("execution.max_concurrent")).toBe("project")
    expect(fromFlag.projectFile.path).toBe(byFlag)
  })

  test("has to exist, because somebody named it", async () => {
    using fixture = configFixture()
    const configFile = join(fixture.workspace.root, "missing.yml")
    const report = await failureOf(() => fixture.load({ flags: { configFile } }))
    expect(report).toMatchObject({ code: "ACODE-CFG-001", where: "missing.yml" })
    expect(report.message).toContain("does not exist")
  })

  test("has to be trusted like the project file", async () => {
    using fixture = configFixture()
    const configFile = join(fixture.workspace.outside, "ci.yml")
    writeFileSync(configFile, executionYaml("network: host"))
    const { values, projectFile } = await fixture.load({ flags: { configFile } })
    expect(values.execution.network).toBe("none")
    expect(projectFile.loosens).toEqual(["execution.network"])
  })
})

describe("one value", () => {
  test("is read by its dotted key, and a section by its own", async () => {
    using fixture = configFixture()
    const { values } = await fixture.load()
    expect(getConfigValue(values, "execution.audit.retention_days")).toBe(90)
    expect(getConfigValue(values, "execution.limits.memory_mb")).toBeNull()
    expect(getConfigValue(values, "execution.audit")).toEqual(defaultConfig.execution.audit)
    expect(getConfigValue(values, "schema_version")).toBe("1")
  })

  test.each([
    ["execution.max_concurent", "did you mean execution.max_concurrent?"],
    ["execution.audit.retention", "did you mean execution.audit.retention_days?"],
    ["", "`acode config show` lists all keys"],
    ["__proto__", "`acode config show` lists all keys"],
    ["execution.toString", "`acode config show` lists all keys"],
    ["execution.max_concurrent.x", "did you mean execution.max_concurrent?"],
  ])("is refused under the unknown key %p", async (key, hint) => {
    using fixture = configFixture()
    const { values } = await fixture.load()
    const report = await failureOf(() => getConfigValue(values, key))
    expect(report).toMatchObject({ kind: "usage", code: "ACODE-CFG-005", hint })
  })
})

function staticImports(entry: string): { files: string[]; packages: string[] } {
  const transpiler = new Bun.Transpiler({ loader: "ts" })
  const files = new Set<string>()
  const packages = new Set<string>()
  const visit = (file: string): void => {
    if (files.has(file)) return
    files.add(file)
    const source = transpiler.transformSync(readFileSync(file, "utf8"))
    for (const { path, kind } of transpiler.scanImports(source)) {
      if (kind !== "import-statement") continue
      if (path.startsWith(".")) visit(join(dirname(file), path))
      else packages.add(path)
    }
  }
  visit(entry)
  return { files: [...files], packages: [...packages] }
}
