import { describe, expect, test } from "bun:test"
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { dirname, join } from "node:path"
import { sha256Hex } from "../../src/base/canonical.ts"
import { type EditedConfig, setConfigValue } from "../../src/config/edit.ts"
import { configSources } from "../../src/config/file.ts"
import { type ConfigFixture, configFixture, failureOf } from "./config-fixture.ts"

function set(fixture: ConfigFixture, key: string, valueText: string): Promise<EditedConfig> {
  const { project } = configSources(fixture.workspace.root, fixture.environment(), null)
  const ensureDirectory = () => mkdirSync(dirname(project.path), { recursive: true })
  return setConfigValue({ source: project, key, valueText, ensureDirectory })
}

function fileOf(fixture: ConfigFixture): string {
  return readFileSync(fixture.projectPath, "utf8")
}

const commented = `# what this project needs
schema_version: "1" # do not change

execution:
    # our tests are slow
    default_timeout_seconds: 600   # ten minutes
    max_concurrent:   2
    readable_paths:
    - /opt/a   # the compiler
    - '/opt/b'

    environment: { mode:   merge,  include: [PATH] }
    audit:
        # a year
        retention_days: 365

# the end
`

describe("setting a key", () => {
  test.each([
    [
      "a value",
      "execution.default_timeout_seconds",
      "5",
      "default_timeout_seconds: 600 ",
      "default_timeout_seconds: 5 ",
    ],
    [
      "a value in a map on one line",
      "execution.environment.mode",
      "replace",
      "mode:   merge,",
      "mode:   replace,",
    ],
    [
      "a list on one line",
      "execution.environment.include",
      "[PATH, JAVA_HOME]",
      "[PATH]",
      '["PATH", "JAVA_HOME"]',
    ],
    [
      "a value in a nested section",
      "execution.audit.retention_days",
      "30",
      "retention_days: 365",
      "retention_days: 30",
    ],
    [
      "a list in lines",
      "execution.readable_paths",
      "[/x, ~/y, /z]",
      "    - /opt/a   # the compiler\n    - '/opt/b'\n",
      "    - /x\n    - ~/y\n    - /z\n",
    ],
    [
      "a new key at the end of its section",
      "execution.audit.include_output",
      "false",
      "        retention_days: 365\n",
      "        retention_days: 365\n        include_output: false\n",
    ],
    [
      "a new key in a section that ends with another one",
      "execution.network",
      "host",
      "        retention_days: 365\n",
      "        retention_days: 365\n    network: host\n",
    ],
    [
      "a new section",
      "execution.limits.memory_mb",
      "512",
      "        retention_days: 365\n",
      "        retention_days: 365\n    limits:\n      memory_mb: 512\n",
    ],
  ])("changes nothing but %s", async (_what, key, value, before, after) => {
    using fixture = configFixture()
    fixture.project(commented)
    await set(fixture, key, value)
    expect(fileOf(fixture)).toBe(commented.replace(before, after))
  })

  test("empties a list and fills it again, and every comment outside it stays", async () => {
    using fixture = configFixture()
    fixture.project(commented)
    await set(fixture, "execution.readable_paths", "[]")
    expect((await fixture.load()).values.execution.readable_paths).toEqual([])
    await set(fixture, "execution.readable_paths", "[/again]")
    for (const comment of [
      "# what this",
      "# do not change",
      "# our tests",
      "# ten minutes",
      "# a year",
      "# the end",
    ])
      expect(fileOf(fixture)).toContain(comment)
  })

  test("adds to a map on one line", async () => {
    using fixture = configFixture()
    fixture.project('schema_version: "1"\nexecution: {max_concurrent: 2} # short\n')
    await set(fixture, "execution.use_shell", "false")
    expect(fileOf(fixture)).toContain("# short")
    expect((await fixture.load()).origins.get("execution.use_shell")).toBe("project")
  })

  test.each([
    [
      "a section without content",
      'schema_version: "1"\nexecution:\n  # nothing yet\n',
      "execution:\n  max_concurrent: 3\n  # nothing",
    ],
    ["a file without its last newline", 'schema_version: "1"', '"1"\nexecution:\n  max_concurrent: 3'],
    [
      "a key without a value",
      'schema_version: "1"\nexecution:\n  max_concurrent:\n',
      "  max_concurrent: 3\n",
    ],
    ["an empty file", "", 'schema_version: "1"\nexecution:\n  max_concurrent: 3\n'],
    ["a file of comments", "# hello", '# hello\nschema_version: "1"\nexecution:\n  max_concurrent: 3\n'],
    [
      "a value in several lines",
      'schema_version: "1"\nexecution:\n  max_concurrent: >-\n    2\n',
      "max_concurrent: 3\n",
    ],
    ["a JSON file", '{"schema_version": "1", "execution": {"max_concurrent": 2}}', '"max_concurrent": 3}'],
  ])("works in %s", async (_what, before, expected) => {
    using fixture = configFixture()
    fixture.project(before)
    await set(fixture, "execution.max_concurrent", "3")
    expect(fileOf(fixture)).toContain(expected)
    expect((await fixture.load()).values.execution.max_concurrent).toBe(3)
  })

  test("keeps Windows line ends and a byte order mark", async () => {
    using fixture = configFixture()
    fixture.project(`\ufeff${commented.replaceAll("\n", "\r\n")}`)
    await set(fixture, "execution.max_concurrent", "3")
    await set(fixture, "execution.limits.processes", "9")
    const text = fileOf(fixture)
    expect(text).toStartWith("\ufeff#")
    expect(text.replaceAll("\r\n", "")).not.toContain("\n")
    expect(text).toContain("    limits:\r\n      processes: 9\r\n")
  })

  test("makes the directory and the file when they are missing", async () => {
    using fixture = configFixture()
    rmSync(dirname(fixture.projectPath), { recursive: true })
    const edited = await set(fixture, "execution.sandbox", "bwrap")
    const text = 'schema_version: "1"\nexecution:\n  sandbox: bwrap\n'
    expect(fileOf(fixture)).toBe(text)
    expect(edited).toEqual({ value: "bwrap", hashBefore: null, hashAfter: `sha256:${sha256Hex(text)}` })
    expect(readdirSync(dirname(fixture.projectPath))).toEqual(["config.yml"])
  })

  test("tells the hash before and after, which is what trust is bound to", async () => {
    using fixture = configFixture()
    fixture.project(commented)
    const before = (await fixture.load()).projectFile.hash
    const edited = await set(fixture, "execution.max_concurrent", "8")
    expect(edited.hashBefore).toBe(before)
    expect(edited.hashAfter).toBe((await fixture.load()).projectFile.hash ?? "")
  })

  test("keeps the mode of the file and writes through a symlink inside the workspace", async () => {
    using fixture = configFixture()
    const real = fixture.workspace.write("shared.yml", commented)
    chmodSync(real, 0o640)
    symlinkSync("../shared.yml", fixture.projectPath)
    await set(fixture, "execution.max_concurrent", "3")
    expect(readFileSync(real, "utf8")).toContain("max_concurrent:   3")
    expect(statSync(real).mode & 0o777).toBe(0o640)
  })

  test.each([
    ["execution.limits.memory_mb", "null", null],
    ["execution.limits.memory_mb", "64", 64],
    ["execution.use_shell", "true", true],
    ["execution.kill_grace_seconds", "0.25", 0.25],
    ["schema_version", "1", "1"],
    ["execution.network", "none", "none"],
    ["execution.environment.exclude_patterns", '["*_X", "Y?"]', ["*_X", "Y?"]],
    ["execution.redaction.patterns", "['a: b', \"#c\"]", ["a: b", "#c"]],
  ])("%s to %s writes the value of its type", async (key, text, expected) => {
    using fixture = configFixture()
    expect((await set(fixture, key, text)).value).toEqual(expected)
    const { projectFile } = await fixture.load()
    expect(projectFile.exists).toBe(true)
  })
})

describe("nothing is written", () => {
  test.each([
    [
      "an unknown key",
      "execution.max_concurent",
      "3",
      "ACODE-CFG-005",
      "did you mean execution.max_concurrent?",
    ],
    ["a section", "execution.audit", "{}", "ACODE-CFG-005", "execution.audit.retention_days"],
    ["a value out of range", "execution.max_concurrent", "17", "ACODE-CFG-003", ""],
    ["a value of the wrong type", "execution.max_concurrent", "many", "ACODE-CFG-003", ""],
    ["a value that is not YAML", "execution.readable_paths", "[", "ACODE-CFG-003", ""],
    ["a single word for a list", "execution.readable_paths", "/opt", "ACODE-CFG-003", ""],
    ["nothing for a number", "execution.max_concurrent", "", "ACODE-CFG-003", ""],
    ["a word that is not a choice", "execution.network", "wifi", "ACODE-CFG-003", ""],
    ["an attempt to stop recording", "execution.audit.enabled", "false", "ACODE-CFG-003", ""],
    ["a pattern that cannot be used", "execution.redaction.patterns", '["(open"]', "ACODE-CFG-003", ""],
  ])("for %s", async (_what, key, value, code, hint) => {
    using fixture = configFixture()
    rmSync(dirname(fixture.projectPath), { recursive: true })
    const report = await failureOf(() => set(fixture, key, value))
    expect<string>(report.code).toBe(code)
    expect(report.hint ?? "").toContain(hint)
    expect(existsSync(dirname(fixture.projectPath))).toBe(false)
  })

  test.each([
    [
      "another key of the file is not valid",
      'schema_version: "1"\nexecution:\n  sandbox: jail\n',
      "ACODE-CFG-003",
    ],
    ["the file has no version", "execution:\n  max_queued: 1\n", "ACODE-CFG-003"],
    ["the file is not YAML", "a: [\n", "ACODE-CFG-002"],
    ["a key stands twice in the file", 'schema_version: "1"\nschema_version: "1"\n', "ACODE-CFG-002"],
    ["text stands where the section belongs", 'schema_version: "1"\nexecution: text\n', "ACODE-CFG-001"],
  ])("when %s", async (_what, before, code) => {
    using fixture = configFixture()
    fixture.project(before)
    expect<string>((await failureOf(() => set(fixture, "execution.max_concurrent", "3"))).code).toBe(code)
    expect(fileOf(fixture)).toBe(before)
    expect(readdirSync(dirname(fixture.projectPath))).toEqual(["config.yml"])
  })

  test("when other keys would change with it, because they share the value", async () => {
    using fixture = configFixture()
    const before = 'schema_version: "1"\nexecution:\n  max_concurrent: &n 2\n  max_queued: *n\n'
    fixture.project(before)
    const report = await failureOf(() => set(fixture, "execution.max_concurrent", "3"))
    expect(report.message).toContain("edit the file")
    expect(fileOf(fixture)).toBe(before)
    await set(fixture, "execution.max_queued", "7")
    expect((await fixture.load()).values.execution).toMatchObject({ max_concurrent: 2, max_queued: 7 })
  })

  test("through a symlink out of the workspace, or into a FIFO", async () => {
    using fixture = configFixture()
    const outside = join(fixture.workspace.outside, "outside.yml")
    writeFileSync(outside, commented)
    symlinkSync(outside, fixture.projectPath)
    expect((await failureOf(() => set(fixture, "execution.max_concurrent", "3"))).code).toBe("ACODE-CFG-001")
    expect(readFileSync(outside, "utf8")).toBe(commented)
    rmSync(fixture.projectPath)
    Bun.spawnSync(["mkfifo", fixture.projectPath])
    expect((await failureOf(() => set(fixture, "execution.max_concurrent", "3"))).code).toBe("ACODE-CFG-001")
  })

  test("and the mistake that is corrected is the one that was in the way", async () => {
    using fixture = configFixture()
    fixture.project('schema_version: "1"\nexecution:\n  sandbox: jail # oops\n')
    await set(fixture, "execution.sandbox", "auto")
    expect(fileOf(fixture)).toBe('schema_version: "1"\nexecution:\n  sandbox: auto # oops\n')
  })
})
