import { expect, test } from "bun:test"
import {
  toApprovalSettings,
  toAuditSettings,
  toCheckpointSettings,
  toConfinementSettings,
  toExecutionSettings,
  toPipelineLimits,
  toResourceLimits,
} from "../../src/config/settings.ts"
import { optionProblems } from "../../src/domain/command-validation.ts"
import { defaultLimits } from "../support/pipeline/default-limits.ts"
import { shippedDefaults } from "../support/plan/shipped-decisions.ts"
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
    ignoredEntriesMax: 50_000,
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

test("a session that nobody configured is bounded as the pipeline itself says", async () => {
  using fixture = configFixture()
  expect(toPipelineLimits((await fixture.load()).values)).toEqual(defaultLimits)
})

test("the limits of a session are configured in seconds, null lifting them", async () => {
  using fixture = configFixture()
  fixture.user(
    [
      'schema_version: "1"',
      "executor: { max_turns_per_step: 4, step_timeout_seconds: 0.25 }",
      "orchestration:",
      "  planner_timeout_seconds: null",
      "  executor_timeout_seconds: 1.5",
      "  verifier_timeout_seconds: 2",
      "  reviewer_timeout_seconds: 3",
      "  cycle_limit: 0",
      "  step_retry_limit: 7",
      "  stage_retry_limit: 5",
      "planner: { explore_turns_max: 5 }",
      "model: { retry_count: 0 }",
      "",
    ].join("\n"),
  )
  expect(toPipelineLimits((await fixture.load()).values)).toEqual({
    cyclesMax: 0,
    turnsMax: 4,
    exploreTurnsMax: 5,
    stepRetriesMax: 7,
    modelRetriesMax: 0,
    stageRetriesMax: { planner: 5, executor: 5, verifier: 5, reviewer: 1 },
    stageTimeoutMs: { planner: null, executor: 1500, verifier: 2000, reviewer: 3000 },
    stepTimeoutMs: 250,
    contextTokensMax: null,
    tokensMax: null,
  })
})

test("a stage that is never tried again is not reviewed again either", async () => {
  using fixture = configFixture()
  fixture.user('schema_version: "1"\norchestration: { stage_retry_limit: 0 }\n')
  const { stageRetriesMax } = toPipelineLimits((await fixture.load()).values)
  expect(stageRetriesMax).toEqual({ planner: 0, executor: 0, verifier: 0, reviewer: 0 })
})
