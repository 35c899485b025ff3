import type { Clock, Ids } from "../base/clock.ts"
import type { Faults } from "../base/faults.ts"
import type {
  CaptureMode,
  Command,
  EnvironmentMode,
  ExecutionOptions,
  NetworkChoice,
  SandboxChoice,
} from "../domain/command.ts"
import type { CorrelationIds, RecordedCommand } from "../domain/command-result.ts"
import {
  assertValidCommand,
  commandProblems,
  invalidCommand,
  optionProblems,
} from "../domain/command-validation.ts"
import { hostPatternText, readHostPattern } from "../domain/hosts.ts"
import type { EnvironmentRules, Redactor } from "../policy/contract.ts"
import type { Sandbox } from "../sandbox/contract.ts"
import type { ConnectionRules } from "../sandbox/proxy/contract.ts"
import type { ExecutionContext, HostRefusal, Recorder, WorkspacePaths } from "./contract.ts"
import { appliedVariables, type CommandOwner, childEnvironment } from "./environment.ts"
import { recordedCommand, secretValuesOf } from "./recorded-command.ts"
import type { ExecutionSettings } from "./settings.ts"
import { realWritablePath } from "./writable.ts"

/** Everything the runner is made of; `app/wire` puts it together. */
export interface RunnerParts {
  readonly settings: ExecutionSettings
  readonly workspace: WorkspacePaths
  /** Throws ACODE-EXE-010 when the choice cannot be had. The notice is what a person is told about it. */
  readonly sandboxFor: (choice: SandboxChoice) => Promise<{ sandbox: Sandbox; notice: string | null }>
  readonly recorder: Recorder
  readonly redactor: Redactor
  /** The same redactor with further secret values, for a command that was given some. */
  readonly redactorKnowing: (secretValues: readonly string[]) => Redactor
  readonly hostEnvironment: Readonly<Record<string, string>>
  readonly owner: CommandOwner
  readonly environmentRules: EnvironmentRules
  /** What a command that is held to a list of hosts may connect to. */
  readonly connectionRules: (hosts: readonly string[], hostRefusal: HostRefusal | null) => ConnectionRules
  readonly clock: Clock
  readonly ids: Ids
  readonly faults: Faults
  readonly correlation: Pick<CorrelationIds, "runId" | "worktreeId" | "repoSha">
}

/** One command with everything decided about it, before anything has happened. */
export interface Execution {
  readonly id: string
  readonly command: Command
  /** All of it, as the process gets it. */
  readonly environment: Readonly<Record<string, string>>
  readonly recorded: RecordedCommand
  readonly correlationIds: CorrelationIds
  readonly redactor: Redactor
  readonly timeoutMs: number
  readonly useShell: boolean
  readonly capture: CaptureMode
  readonly outputBytesMax: number
  readonly sandbox: SandboxChoice
  readonly network: NetworkChoice
  /** In one spelling each; none but with the network `hosts`. */
  readonly hosts: readonly string[]
  /** Absolute and resolved. */
  readonly writable: readonly string[]
  readonly consented: readonly string[]
  readonly context: ExecutionContext
}

/** Validates and fills in the defaults; throws one Failure that lists everything that is wrong. */
export function planExecution(
  parts: RunnerParts,
  given: Command,
  options: ExecutionOptions,
  context: ExecutionContext,
): Execution {
  const { settings, environmentRules: rules } = parts
  if (given === null || given === undefined)
    throw invalidCommand([{ property: "command", message: "is missing" }])
  const problems = [...commandProblems(given), ...optionProblems(options)]
  if (problems.length > 0) throw invalidCommand(problems)
  const command = assertValidCommand(given)
  const secretValues = secretValuesOf(command, rules)
  const redactor = secretValues.length === 0 ? parts.redactor : parts.redactorKnowing(secretValues)
  const timeoutMs = options.timeoutMs ?? command.timeoutMs ?? settings.defaultTimeoutMs
  const environmentMode = options.environmentMode ?? settings.environmentMode
  const useShell = options.useShell ?? settings.useShell
  const workingDirectory = parts.workspace.directory(command.workingDirectory ?? ".").relative
  const id = parts.ids.next("exe")
  const environment = environmentOf(parts, command, environmentMode, id)
  return {
    id,
    command,
    environment,
    recorded: recordedCommand(
      { ...command, environment: appliedVariables(command.environment, environment) },
      { workingDirectory, timeoutMs, shell: useShell, environmentMode },
      redactor,
      rules,
    ),
    correlationIds: { ...noCorrelation, ...parts.correlation, ...context.correlationIds },
    redactor,
    timeoutMs,
    useShell,
    capture: options.capture ?? "all",
    outputBytesMax: options.outputBytesMax ?? settings.outputBytesMax,
    sandbox: options.sandbox ?? settings.sandbox,
    network: options.network ?? settings.network,
    hosts: options.network === "hosts" ? (options.hosts ?? []).map(spelledHost) : [],
    writable: options.writable?.map(path => realWritablePath(parts.workspace.path, path)) ?? [],
    consented: options.consented ?? [],
    context,
  }
}

/** What cannot be read was refused with the other problems of the options. */
function spelledHost(text: string): string {
  const reading = readHostPattern(text)
  return "pattern" in reading ? hostPatternText(reading.pattern) : text
}

function environmentOf(
  { hostEnvironment: host, owner, settings, environmentRules: rules }: RunnerParts,
  { environment: command }: Command,
  mode: EnvironmentMode,
  executionId: string,
) {
  const { environmentExclude: exclude, environmentInclude: include } = settings
  return childEnvironment({ executionId, owner, mode, host, command, exclude, include, rules })
}

const noCorrelation: CorrelationIds = {
  runId: "",
  sessionId: null,
  taskId: null,
  stepId: null,
  toolCallId: null,
  worktreeId: null,
  repoSha: null,
}
