import { describe, expect, test } from "bun:test"
import { printable } from "../../src/base/text.ts"
import { listConfigKeys } from "../../src/config/reference.ts"
import { configFixture, executionYaml, failureOf } from "./config-fixture.ts"

describe("everything that is wrong", () => {
  test("in a file is told at once, each with its place, its key and what is allowed", async () => {
    using fixture = configFixture()
    fixture.project(
      [
        "schema_version: 1",
        "execution:",
        "  max_concurrent: 99   # too many",
        "  sandbox: docker",
        "  use_shel: true",
        "  audit: {enabled: false}",
        "  environment:",
        "    include:",
        "      - PATH",
        "      - 3",
        '      - "NOT A NAME"',
        "frobnicate: 1",
        "",
      ].join("\n"),
    )
    const report = await failureOf(() => fixture.load())
    expect(report).toMatchObject({ kind: "config", code: "ACODE-CFG-003", where: ".agent/config.yml:1:17" })
    expect(report.hint).toContain("acode schema config")
    expect(report.message.split("\n")).toEqual([
      "8 problems in the configuration:",
      '  .agent/config.yml:1:17 schema_version: is 1; allowed: "1"',
      "  .agent/config.yml:3:19 execution.max_concurrent: is 99; allowed: a whole number from 1 to 16",
      '  .agent/config.yml:4:12 execution.sandbox: is "docker"; allowed: auto, native, perl, bwrap, container, reduced, none',
      "  .agent/config.yml:10:9 execution.environment.include[1]: is 3; " +
        "allowed: a variable name such as JAVA_HOME",
      '  .agent/config.yml:11:9 execution.environment.include[2]: is "NOT A NAME"; ' +
        "allowed: a variable name such as JAVA_HOME",
      "  .agent/config.yml:6:20 execution.audit.enabled: recording cannot be turned off: " +
        "every execution is recorded; allowed: true",
      "  .agent/config.yml:5:3 execution.use_shel: is not a known key; did you mean use_shell?; allowed: " +
        "default_timeout_seconds, max_output_kb, artifact_max_mb, output_ceiling_mb, use_shell, max_concurrent, max_queued, " +
        "kill_grace_seconds, sandbox, network, unix_sockets, readable_paths, environment, audit, redaction, limits",
      "  .agent/config.yml:12:1 frobnicate: is not a known key; allowed: schema_version, execution, " +
        "approvals, rules, executor, orchestration, planner, commands, mode, model, models, checkpoints, storage, code, skills",
    ])
  })

  test("in both files, the environment and the command line is told together", async () => {
    using fixture = configFixture()
    fixture.user(executionYaml("max_queued: -1"))
    fixture.project(executionYaml("network: wifi"))
    const report = await failureOf(() =>
      fixture.load({
        variables: { ACODE_EXECUTION_SANDBOX: "jail" },
        flags: { values: { "execution.max_concurrent": 0 } },
      }),
    )
    expect(report.message.split("\n").map(line => line.trim().split(" ")[0])).toEqual([
      "4",
      "~/config/acode/config.yml:3:15",
      ".agent/config.yml:3:12",
      "ACODE_EXECUTION_SANDBOX",
      "command",
    ])
  })

  test("is one line when it is one thing", async () => {
    using fixture = configFixture()
    fixture.project(executionYaml("redaction: { enabled: false }"))
    const report = await failureOf(() => fixture.load())
    expect(report.message).toBe(
      "1 problem in the configuration:\n  .agent/config.yml:3:25 execution.redaction.enabled: " +
        "redaction cannot be turned off: no secret is ever stored; allowed: true",
    )
  })

  test("is counted beyond a hundred lines", async () => {
    using fixture = configFixture()
    const unknown = Array.from({ length: 150 }, (_, index) => `unknown_${index}: 1`)
    fixture.project(executionYaml(...unknown))
    const { message } = await failureOf(() => fixture.load())
    expect(message).toStartWith("150 problems in the configuration:")
    expect(message).toEndWith("  and 50 more")
  })

  test("is safe to print, and long values are cut", async () => {
    using fixture = configFixture()
    fixture.project(`schema_version: "\\e]0;owned\\a${"x".repeat(500)}"\n"\\e[2J": 1\n`)
    const { message } = await failureOf(() => fixture.load())
    expect(printable(message)).toBe(message)
    expect(Math.max(...message.split("\n").map(line => line.length))).toBeLessThan(220)
  })

  test.each([
    ["no version", "execution:\n  max_concurrent: 2\n", "1:1 schema_version: is missing"],
    ["a version of another format", 'schema_version: "2"\n', '1:17 schema_version: is "2"; allowed: "1"'],
    ["a list", "- a\n", "1:1: is a list; allowed: a section"],
    ["only text", "hello\n", '1:1: is "hello"; allowed: a section'],
    [
      "a section that is text",
      'schema_version: "1"\nexecution: yes\n',
      '2:12 execution: is "yes"; allowed: a section',
    ],
    [
      "a section that is a list",
      'schema_version: "1"\nexecution: []\n',
      "2:12 execution: is a list; allowed: a section",
    ],
    ["a value that is a section", executionYaml("sandbox: {a: 1}"), "3:12 execution.sandbox: is a section"],
    ["a null value", executionYaml("sandbox:"), "execution.sandbox: is null; allowed: auto"],
    [
      "a key with a dangerous name",
      'schema_version: "1"\n__proto__: 1\n',
      "2:1 __proto__: is not a known key",
    ],
  ])("with %s is told", async (_what, text, expected) => {
    using fixture = configFixture()
    fixture.project(text)
    const report = await failureOf(() => fixture.load())
    expect(report.code).toBe("ACODE-CFG-003")
    expect(report.message).toContain(expected)
  })

  test("with the YAML itself has the code of its kind", async () => {
    using fixture = configFixture()
    fixture.project("a: 1\na: 2\n")
    expect(await failureOf(() => fixture.load())).toMatchObject({
      code: "ACODE-CFG-002",
      where: ".agent/config.yml:2:1",
    })
    fixture.project("[".repeat(200_000))
    expect(await failureOf(() => fixture.load())).toMatchObject({ code: "ACODE-CFG-004" })
  })

  test("with a redaction pattern is what policy says of it", async () => {
    using fixture = configFixture()
    fixture.project(executionYaml("redaction:", "  patterns:", '    - "fine"', '    - "(unclosed"'))
    const { message } = await failureOf(() => fixture.load())
    expect(message).toContain(".agent/config.yml:6:9 execution.redaction.patterns[1]: is not usable: ")
  })

  test("is nothing when the patterns are the ones people know", async () => {
    using fixture = configFixture()
    const patterns = [
      "(?i)(api[_-]?key|apikey)[\\s:=]+['\"]?[a-zA-Z0-9_-]{20,}['\"]?",
      "sk-[a-zA-Z0-9]{20,}",
      "ghp_[a-zA-Z0-9]{36}",
    ]
    fixture.user(executionYaml(`redaction: { patterns: ${JSON.stringify(patterns)} }`))
    expect((await fixture.load()).values.execution.redaction.patterns).toEqual(patterns)
  })
})

/** Values that are wrong for a key, beside what no key accepts. */
const wrongValues: Readonly<Record<string, readonly string[]>> = {
  schema_version: ['"2"', "1", "null", '"1.0.0"'],
  "execution.default_timeout_seconds": ["0", "-1", "604801", '"300"', ".nan", ".inf", "null"],
  "execution.max_output_kb": ["0", "1.5", "262145", "true"],
  "execution.artifact_max_mb": ["0", "1025", "-1"],
  "execution.output_ceiling_mb": ["0", "1048577", "lots"],
  "execution.use_shell": ['"true"', "1", "yes", "null"],
  "execution.max_concurrent": ["0", "17", "2.5", '"4"'],
  "execution.max_queued": ["-1", "100001", "0.5"],
  "execution.kill_grace_seconds": ["-0.1", "61", '"1"'],
  "execution.sandbox": ["docker", "AUTO", "true", "null"],
  "execution.network": ["all", "true", "null"],
  "execution.unix_sockets": ["yes", "true"],
  "execution.readable_paths": ["/opt", "[relative]", "[~root]", '[""]', "[1]", `[${"/a, ".repeat(201)}]`],
  "execution.environment.mode": ["keep", "null"],
  "execution.environment.exclude_patterns": ['["A B"]', '["A=B"]', '[""]', '"*"', "[[]]"],
  "execution.environment.include": ['["*_X"]', '["1A"]', "PATH", "[null]"],
  "execution.audit.enabled": ["false", "null", '"true"'],
  "execution.audit.retention_days": ["0", "36501", "1.5"],
  "execution.audit.include_output": ["0", "null"],
  "execution.audit.max_output_bytes": ["-1", "65537"],
  "execution.redaction.enabled": ["false", "0"],
  "execution.redaction.patterns": ["x", "[1]", `["${"x".repeat(1001)}"]`],
  "execution.limits.memory_mb": ["3", "1048577", '"512"', "false"],
  "execution.limits.processes": ["0", "65537"],
  "execution.limits.cpu_seconds": ["0", "604801"],
  "execution.limits.file_mb": ["0", "1048577", "0.5"],
  "approvals.file_read": ["ask", "true", "null"],
  "approvals.file_write": ["allow", "AUTO"],
  "approvals.file_delete": ["never", "1"],
  "approvals.directory_create": ["[auto]"],
  "approvals.terminal_commands": ["all", '""'],
  "approvals.external_requests": ["none", "null"],
  "approvals.non_interactive": ["auto", "fail", "null"],
  "approvals.timeout_seconds": ["-1", "0.5", "604801", '"300"', "null"],
  rules: ["x", "null", "[1]", "[{}]", "[[]]"],
  "executor.allowed_commands": ["make", "[1]", "[[]]", '[""]', "[[1]]"],
  "executor.max_turns_per_step": ["0", "1001", "1.5", "null"],
  "executor.step_timeout_seconds": ["0", "604801", "null", '"1"'],
  "orchestration.planner_timeout_seconds": ["0", "-1", "604801", '"1"'],
  "orchestration.executor_timeout_seconds": ["0", "true"],
  "orchestration.verifier_timeout_seconds": ["0", "[]"],
  "orchestration.reviewer_timeout_seconds": ["0.001", '""'],
  "orchestration.cycle_limit": ["-1", "11", "1.5", "null"],
  "orchestration.step_retry_limit": ["-1", "21", "null"],
  "orchestration.stage_retry_limit": ["-1", "21", "0.5"],
  "planner.explore_turns_max": ["-1", "1001", "0.5", "null"],
  "commands.setup": ["1", "[]", "[1]", '""'],
  "commands.build": ["1", "[]", "[1]", '""'],
  "commands.test": ["1", "[]", "[1]", '""'],
  "commands.lint": ["1", "[]", "[1]", '""'],
  "commands.format": ["1", "[]", "[1]", '""'],
  "commands.start": ["1", "[]", "[1]", '""'],
  "mode.default": ["burst", "LocalOnly", "null"],
  "mode.allow_burst": ['"true"', "1"],
  "mode.airgapped_lock": ["null", "on"],
  "model.provider": ["azure", "Ollama", "null"],
  "model.name": ["1", '""', '"two words"', `"${"x".repeat(201)}"`],
  "model.endpoint": ["1", "localhost:11434", '"ftp://host"', '"unix:relative"', '"http://a b"'],
  "model.timeout_seconds": ["0", "86401", "null"],
  "model.connect_timeout_seconds": ["0", '"5"'],
  "model.first_token_timeout_seconds": ["0.001", "null"],
  "model.token_timeout_seconds": ["-1", "true"],
  "model.retry_count": ["-1", "11", "1.5", "null"],
  "model.keep_alive": ["30", '"half an hour"', "null"],
  "model.streaming": ['"yes"', "0"],
  "model.edit_format": [`"udiff"`, "true", "null"],
  "model.parameters.temperature": ["-0.1", "2.1", '"1"'],
  "model.parameters.top_p": ["-1", "1.5"],
  "model.parameters.max_tokens": ["15", "1.5", "null"],
  "model.parameters.context_window": ["1023", "10000001", '"8192"'],
  "model.prices.input": ["-1", '"3"'],
  "model.prices.output": ["-0.5", "true"],
  "models.planner": ["1", "[]"],
  "models.executor": ['""'],
  "models.verifier": ["true"],
  "models.reviewer": ['"a b"'],
  "models.tiers.opus": ["1"],
  "models.tiers.sonnet": ['"a b"'],
  "models.tiers.haiku": ['""'],
  "checkpoints.max_file_mb": ["0", "65537", "1.5"],
  "checkpoints.max_total_mb": ["0", "1048577", "null"],
  "checkpoints.max_ignored_entries": ["-1", "10000001", '"7"'],
  "checkpoints.undo_days": ["0", "3651", '"7"'],
  "storage.max_total_mb": ["0", "16777217", "1.5"],
  "storage.quarantine_days": ["0", "3651", "null"],
  "code.enabled": ["maybe", "1", "null"],
  "code.max_file_kb": ["0", "65537", "1.5"],
  "code.exclude": ['"a"', "[1]", "{}"],
  "code.check_timeout_seconds": ["0", "86401", "soon"],
  "code.checkers": ["null", "[tsc]", "[{checker: cargo, command: []}]", "[{checker: clippy, command: [x]}]"],
  "skills.workspace": ["../other", "/etc", "a//b"],
  "skills.directories": ["relative/path", "[1]", "{}"],
  "skills.default_tier": ["huge", "3", "null"],
  "skills.timeout_seconds": ["0", "86401", "soon"],
  "skills.max_tokens": ["15", "1.5", "null"],
  "skills.retry_count": ["-1", "21", "often"],
  "skills.retry_delay_ms": ["-1", "600001", "1.5"],
  "skills.retry_jitter": ["maybe", "1", "null"],
  "skills.retryable": ["[ABORTED]", "API_ERROR", "{}"],
  "skills.squads": ["{}", "[a]", "[{name: ../x, skills: []}]"],
  "skills.foundation": ["1", "[]", "null"],
  "skills.context": ["../x", "/etc/x", "1"],
  "skills.strict_context": ["maybe", "1", "null"],
  "skills.max_parallel": ["0", "33", "1.5"],
}

describe("a value of the wrong type or out of range", () => {
  test("is tried for every key there is", () => {
    expect(Object.keys(wrongValues)).toEqual(listConfigKeys().map(({ key }) => key))
  })

  test.each(Object.entries(wrongValues))("is refused for %s, and so is a section", async (key, values) => {
    using fixture = configFixture()
    const { type } = listConfigKeys().find(entry => entry.key === key) ?? { type: "" }
    for (const value of [...values, "{a: 1}"]) {
      fixture.project(fileWith(key, value))
      const report = await failureOf(() => fixture.load())
      expect(report, value).toMatchObject({ kind: "config", code: "ACODE-CFG-003" })
      expect(report.message, value).toContain(` ${key}`)
      expect(report.message, value).toContain("; allowed: ")
      expect(type, key).not.toBe("")
    }
  })
})

/** A file that sets one key to a YAML value. */
function fileWith(key: string, value: string): string {
  if (key === "schema_version") return `schema_version: ${value}\n`
  const lines = key.split(".").map((part, depth) => `${"  ".repeat(depth)}${part}:`)
  return `schema_version: "1"\n${lines.join("\n")} ${value}\n`
}
