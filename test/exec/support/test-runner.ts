import { join } from "node:path"
import { connectionRulesFor } from "../../../src/app/wiring/sandbox.ts"
import { systemClock } from "../../../src/base/clock.ts"
import { noFaults } from "../../../src/base/faults.ts"
import {
  type Command,
  type ExecutionOptions,
  type SandboxChoice,
  unlimited,
} from "../../../src/domain/command.ts"
import { ExecutionRecord } from "../../../src/domain/command-result.ts"
import type {
  CapturedOutputs,
  CommandRunner,
  ExecutionContext,
  ExecutionIntent,
  ExecutionSettings,
  Recorder,
} from "../../../src/exec/contract.ts"
import type { RunnerDeps } from "../../../src/exec/execution.ts"
import { createRunner } from "../../../src/exec/runner.ts"
import { homeCredentials } from "../../../src/policy/home-credentials.ts"
import { classify, isAsked, topLevelNames } from "../../../src/policy/protected-paths.ts"
import { createRedactor } from "../../../src/redaction/redactor.ts"
import { environmentRules } from "../../../src/redaction/secret-names.ts"
import { createSandbox, type SelectedSandbox } from "../../../src/sandbox/select.ts"
import { WorkspaceRoot } from "../../../src/workspace/files/root.ts"
import { countingIds } from "../../support/fixed-clock.ts"
import { type TempWorkspace, tempWorkspace } from "../../support/workspace/temp-workspace.ts"

/** Remembers what it is told, as the log would. */
export interface MemoryRecorder extends Recorder {
  readonly intents: ExecutionIntent[]
  readonly records: ExecutionRecord[]
  readonly outputs: CapturedOutputs[]
}

export function memoryRecorder(): MemoryRecorder {
  const intents: ExecutionIntent[] = []
  const records: ExecutionRecord[] = []
  const outputs: CapturedOutputs[] = []
  return {
    intents,
    records,
    outputs,
    started: intent => {
      intents.push(intent)
    },
    finished: (record, captured) => {
      // The log refuses what does not fit the schema, so the tests do as well.
      ExecutionRecord().parse(record)
      records.push(record)
      outputs.push(captured)
      return record
    },
  }
}

export const testSettings: ExecutionSettings = {
  defaultTimeoutMs: 20_000,
  outputBytesMax: 1024 * 1024,
  artifactBytesMax: 16 * 1024 * 1024,
  outputCeilingBytes: 16 * 1024 * 1024 * 1024,
  useShell: false,
  concurrentMax: 4,
  queuedMax: 64,
  environmentMode: "inherit",
  environmentExclude: [],
  environmentInclude: [],
  sandbox: "none",
  network: "none",
  killGraceMs: 100,
}

export interface TestRunner extends Disposable {
  readonly workspace: TempWorkspace
  readonly recorder: MemoryRecorder
  readonly runner: CommandRunner
  /** Runs `/bin/sh -c script`, as a program with arguments and not by the shell option. */
  sh(script: string, options?: ExecutionOptions, context?: ExecutionContext): Promise<ExecutionRecord>
  run(
    argv: readonly string[],
    more?: Partial<Command>,
    options?: ExecutionOptions,
    context?: ExecutionContext,
  ): Promise<ExecutionRecord>
}

/** A runner of real parts on a workspace of its own; only the log is in memory. */
export function testRunner(
  settings: Partial<ExecutionSettings> = {},
  parts: Partial<RunnerDeps> = {},
): TestRunner {
  const workspace = tempWorkspace()
  const root = new WorkspaceRoot(workspace.root)
  const recorder = memoryRecorder()
  const runner = createRunner({
    settings: { ...testSettings, ...settings },
    workspace: root,
    sandboxFor: sandboxesOf(workspace),
    recorder,
    redactor: createRedactor({ secretValues: [], extraPatterns: [] }),
    redactorKnowing: secretValues => createRedactor({ secretValues, extraPatterns: [] }),
    hostEnvironment: workspace.environment,
    owner: "person",
    environmentRules,
    connectionRules: connectionRulesFor,
    clock: systemClock,
    ids: countingIds(),
    faults: noFaults,
    correlation: { runId: "run_test", worktreeId: null, repoSha: null },
    ...parts,
  })
  const run: TestRunner["run"] = (argv, more = {}, options = {}, context = {}) =>
    runner.execute(commandOf(argv, more), options, context)
  return {
    workspace,
    recorder,
    runner,
    run,
    sh: (script, options, context) => run(["/bin/sh", "-c", script], {}, options, context),
    [Symbol.dispose]: () => {
      root[Symbol.dispose]()
      workspace[Symbol.dispose]()
    },
  }
}

/** The real ones, each made once. */
function sandboxesOf({ root, outside, dataHome, environment }: TempWorkspace): RunnerDeps["sandboxFor"] {
  const made = new Map<SandboxChoice, Promise<SelectedSandbox>>()
  const agent = join(root, ".agent")
  const make = (choice: SandboxChoice) =>
    createSandbox(choice, {
      workspaceRoot: root,
      home: join(outside, "home"),
      hostEnvironment: environment,
      protection: { classify, isAsked, topLevelNames, homeCredentials },
      stateDirectories: [agent, dataHome],
      readablePaths: [],
      clock: systemClock,
      unixSockets: "deny",
      dependencyDirectories: [],
      submodules: () => [],
      workDirectory: join(agent, "sandbox"),
      quarantineDirectory: join(agent, "quarantine"),
      resolveHost: () => Promise.reject(new Error("no name is to be looked up")),
    })
  return choice => {
    const known = made.get(choice) ?? make(choice)
    made.set(choice, known)
    return known
  }
}

export function commandOf(
  [executable = "", ...args]: readonly string[],
  more: Partial<Command> = {},
): Command {
  return {
    executable,
    arguments: args,
    workingDirectory: null,
    environment: {},
    timeoutMs: null,
    resourceLimits: unlimited,
    ...more,
  }
}
