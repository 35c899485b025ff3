import { realpathSync } from "node:fs"
import { basename, dirname, join, resolve } from "node:path"
import { errnoOf } from "../base/assert.ts"
import type { Clock, Ids } from "../base/clock.ts"
import type { Faults } from "../base/faults.ts"
import { quotedPath } from "../base/path-names.ts"
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
import type { EnvironmentRules, Redactor } from "../redaction/contract.ts"
import type { Sandbox } from "../sandbox/contract.ts"
import type { ConnectionRules } from "../sandbox/proxy/contract.ts"
import type {
  ExecutionContext,
  ExecutionSettings,
  HostRefusal,
  Recorder,
  WorkspacePaths,
} from "./contract.ts"
import { appliedVariables, type CommandOwner, childEnvironment } from "./environment.ts"

/** Everything the runner is made of; `app/wiring/wire` puts it together. */
export interface RunnerDeps {
  readonly settings: ExecutionSettings
  readonly workspace: WorkspacePaths
  /** Throws ACODE-EXE-010 when the choice is not available. The notice is for the user. */
  readonly sandboxFor: (choice: SandboxChoice) => Promise<{ sandbox: Sandbox; notice: string | null }>
  readonly recorder: Recorder
  readonly redactor: Redactor
  /** The same redactor with further secret values, for a command that was given some. */
  readonly redactorKnowing: (secretValues: readonly string[]) => Redactor
  readonly hostEnvironment: Readonly<Record<string, string>>
  readonly owner: CommandOwner
  readonly environmentRules: EnvironmentRules
  /** Returns the rules for the connections of a command with a list of hosts. */
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
  /** Hosts in their one spelling; empty unless the network is `hosts`. */
  readonly hosts: readonly string[]
  /** Absolute and resolved. */
  readonly writable: readonly string[]
  readonly consented: readonly string[]
  readonly context: ExecutionContext
}

/** Validates and fills in the defaults; throws one Failure that lists everything that is wrong. */
export function planExecution(
  deps: RunnerDeps,
  given: Command,
  options: ExecutionOptions,
  context: ExecutionContext,
): Execution {
  const { settings, environmentRules: rules } = deps
  if (given === null || given === undefined)
    throw invalidCommand([{ property: "command", message: "is missing" }])
  const problems = [...commandProblems(given), ...optionProblems(options)]
  if (problems.length > 0) throw invalidCommand(problems)
  const command = assertValidCommand(given)
  const secretValues = commandSecretValues(command, rules)
  const redactor = secretValues.length === 0 ? deps.redactor : deps.redactorKnowing(secretValues)
  const timeoutMs = options.timeoutMs ?? command.timeoutMs ?? settings.defaultTimeoutMs
  const environmentMode = options.environmentMode ?? settings.environmentMode
  const useShell = options.useShell ?? settings.useShell
  const workingDirectory = deps.workspace.directory(command.workingDirectory ?? ".").relative
  const id = deps.ids.next("exe")
  const environment = environmentOf(deps, command, environmentMode, id)
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
    correlationIds: { ...noCorrelation, ...deps.correlation, ...context.correlationIds },
    redactor,
    timeoutMs,
    useShell,
    capture: options.capture ?? "all",
    outputBytesMax: options.outputBytesMax ?? settings.outputBytesMax,
    sandbox: options.sandbox ?? settings.sandbox,
    network: options.network ?? settings.network,
    hosts: options.network === "hosts" ? (options.hosts ?? []).map(spelledHost) : [],
    writable: options.writable?.map(path => realWritablePath(deps.workspace.path, path)) ?? [],
    consented: options.consented ?? [],
    context,
  }
}

/** Returns a host in its one spelling. Unreadable ones were refused with the other problems of the options. */
function spelledHost(text: string): string {
  const reading = readHostPattern(text)
  return "pattern" in reading ? hostPatternText(reading.pattern) : text
}

function environmentOf(
  { hostEnvironment: host, owner, settings, environmentRules: rules, redactor }: RunnerDeps,
  { environment: command }: Command,
  mode: EnvironmentMode,
  executionId: string,
) {
  const { environmentExclude: exclude, environmentInclude: include } = settings
  const redactText = (value: string) => redactor.redactText(value)
  return childEnvironment({ executionId, owner, mode, host, command, exclude, include, rules, redactText })
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

interface RecordedForm {
  readonly workingDirectory: string
  readonly timeoutMs: number
  readonly shell: boolean
  readonly environmentMode: EnvironmentMode
}

/** The recorded value of a variable whose name marks a secret: the record shows only that it was set. */
const hiddenValue = "[REDACTED:environment]"

/** The command as it may be written down: no secret, no path of this machine that the person did not type. */
export function recordedCommand(
  command: Command,
  form: RecordedForm,
  redactor: Redactor,
  rules: EnvironmentRules,
): RecordedCommand {
  const variable = ([name, value]: [string, string | null]): [string, string | null] => {
    if (value === null) return [name, null]
    return [name, rules.isSecretName(name) ? hiddenValue : redactor.redactText(value)]
  }
  return {
    executable: redactor.redactText(command.executable),
    arguments: command.arguments.map(argument => redactor.redactText(argument)),
    workingDirectory: redactor.redactText(form.workingDirectory),
    timeoutMs: form.timeoutMs,
    shell: form.shell,
    environmentMode: form.environmentMode,
    environment: Object.fromEntries(Object.entries(command.environment).map(variable)),
    resourceLimits: { ...command.resourceLimits },
  }
}

/** Values a person gave to this command alone and whose names call them secret: its output must not show them. */
export function commandSecretValues(command: Command, rules: EnvironmentRules): readonly string[] {
  return Object.entries(command.environment).flatMap(([name, value]) =>
    value !== null && rules.isSecretName(name) ? [value] : [],
  )
}

/** A path a person opens for one command: absolute, with the symlinks of what exists of it resolved. */
export function realWritablePath(workspaceRoot: string, typed: string): string {
  try {
    return realPath(resolve(workspaceRoot, typed))
  } catch (error) {
    const errno = errnoOf(error)
    if (errno === null) throw error
    throw invalidCommand([
      { property: "writable", message: `${quotedPath(typed)} cannot be opened (${errno})` },
    ])
  }
}

/** Resolves a path; one that does not exist yet is resolved through its nearest existing parent. */
function realPath(path: string): string {
  try {
    return realpathSync(path)
  } catch (error) {
    if (errnoOf(error) !== "ENOENT" || path === dirname(path)) throw error
    return join(realPath(dirname(path)), basename(path))
  }
}
