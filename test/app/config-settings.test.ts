import { expect, test } from "bun:test"
import {
  toApprovalSettings,
  toAuditSettings,
  toCheckpointSettings,
  toConfinementSettings,
  toExecutionSettings,
  toResourceLimits,
} from "../../src/app/config-settings.ts"
import { optionProblems } from "../../src/domain/command-validation.ts"
import { shippedDefaults } from "../../src/policy/levels.ts"
import { configFixture, executionYaml } from "./config-fixture.ts"

test("the defaults become settings in the units of the code", async () => {
  using fixture = configFixture()
  const { values } = await fixture.load()
  expect(toExecutionSettings(values)).toEqual({
    defaultTimeoutMs: 300_000,
    outputBytesMax: 1024 * 1024,
    artifactBytesMax: 16 * 1024 * 1024,
    outputCeilingBytes: 16 * 1024 * 1024 * 1024,
    useShell: false,
    concurrentMax: 4,
    queuedMax: 1000,
    environmentMode: "inherit",
    environmentExclude: ["*_TOKEN", "*_KEY", "*_SECRET", "*_PASSWORD"],
    environmentInclude: ["PATH", "HOME", "TEMP", "TMP"],
    sandbox: "auto",
    network: "none",
    killGraceMs: 500,
  })
  expect(toResourceLimits(values)).toEqual({
    memoryBytesMax: null,
    processesMax: null,
    cpuSecondsMax: null,
    fileBytesMax: null,
  })
  expect(toConfinementSettings(values, "/home/me")).toEqual({ allowUnixSockets: false, readablePaths: [] })
  expect(toAuditSettings(values)).toEqual({
    retentionMs: 90 * 86_400_000,
    includeOutput: true,
    inlineOutputBytesMax: 10_240,
  })
})

test("a person's values become settings", async () => {
  using fixture = configFixture()
  fixture.user(
    executionYaml(
      "default_timeout_seconds: 1.5",
      "kill_grace_seconds: 0",
      "unix_sockets: allow",
      "readable_paths: [/opt/jdk, ~/tools]",
      "limits: { memory_mb: 512, processes: 64, cpu_seconds: 30, file_mb: 1 }",
      "audit: { retention_days: 1, include_output: false, max_output_bytes: 0 }",
    ),
  )
  const { values } = await fixture.load()
  expect(toExecutionSettings(values)).toMatchObject({ defaultTimeoutMs: 1500, killGraceMs: 0 })
  expect(toResourceLimits(values)).toEqual({
    memoryBytesMax: 512 * 1024 * 1024,
    processesMax: 64,
    cpuSecondsMax: 30,
    fileBytesMax: 1024 * 1024,
  })
  expect(toConfinementSettings(values, "/home/me")).toEqual({
    allowUnixSockets: true,
    readablePaths: ["/opt/jdk", "/home/me/tools"],
  })
  expect(toAuditSettings(values)).toEqual({
    retentionMs: 86_400_000,
    includeOutput: false,
    inlineOutputBytesMax: 0,
  })
})

test("what the configuration allows at its edges the command runner accepts", async () => {
  using fixture = configFixture()
  for (const lines of [
    ["default_timeout_seconds: 0.001", "max_output_kb: 1"],
    ["default_timeout_seconds: 604800", "max_output_kb: 262144"],
  ]) {
    fixture.user(executionYaml(...lines))
    const settings = toExecutionSettings((await fixture.load()).values)
    const { defaultTimeoutMs: timeoutMs, outputBytesMax } = settings
    expect(optionProblems({ timeoutMs, outputBytesMax })).toEqual([])
  }
})

test("what is asked by default is what policy ships, and questions end in time", async () => {
  using fixture = configFixture()
  const { values } = await fixture.load()
  expect(toApprovalSettings(values)).toEqual({
    defaults: shippedDefaults,
    nonInteractive: "deny",
    timeoutMs: 300_000,
  })
  expect(toCheckpointSettings(values)).toEqual({
    limits: { fileBytesMax: 64 * 1024 * 1024, totalBytesMax: 2048 * 1024 * 1024 },
    undoMs: 7 * 86_400_000,
  })
})

test("every kind of approval is the one its key names", async () => {
  using fixture = configFixture()
  const keys = {
    file_read: "FILE_READ",
    file_write: "FILE_WRITE",
    file_delete: "FILE_DELETE",
    directory_create: "DIRECTORY_CREATE",
    terminal_commands: "TERMINAL_COMMAND",
    external_requests: "EXTERNAL_REQUEST",
  }
  for (const [key, category] of Object.entries(keys)) {
    fixture.user(
      `schema_version: "1"\napprovals: { ${key}: skip, non_interactive: rest, timeout_seconds: 0 }\n`,
    )
    const settings = toApprovalSettings((await fixture.load()).values)
    expect(settings).toEqual({
      defaults: { ...shippedDefaults, [category]: "skip" },
      nonInteractive: "rest",
      timeoutMs: null,
    })
  }
})
