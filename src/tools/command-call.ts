import { exactCommand, exactName } from "../base/text.ts"
import { type NetworkChoice, unlimited } from "../domain/command.ts"
import type { CommandResult, ExecutionRecord } from "../domain/command-result.ts"
import { assertValidCommand } from "../domain/command-validation.ts"
import { connectionPlaces, noConnections } from "../domain/connections.ts"
import { Failure } from "../domain/failure.ts"
import { hostPatternText, readHostPattern } from "../domain/hosts.ts"
import type { CallError } from "../domain/tool-call.ts"
import type { CallContext, DeclaredCall, ToolDeps, ToolResult } from "./contract.ts"
import { callPath } from "./path-effects.ts"
import { toolResult } from "./tool-result.ts"

/** A command as `run_command` and `run_terminal` describe it. */
export interface CommandCall {
  readonly argv: readonly string[]
  readonly cwd: string
  readonly timeoutMs: number | null
  readonly network: NetworkChoice
  /** The hosts of the network `hosts`; null for those that the plan grants. */
  readonly hosts: readonly string[] | null
  /** The command as a user would type it. */
  readonly shown: string
  /** Variables that are added where the user has not set them. */
  readonly environment?: Readonly<Record<string, string>>
}

type DescribeRecord = (deps: ToolDeps, record: ExecutionRecord, cwd: string) => ToolResult

/** Returns the call that runs a command; `describe` turns its record into the result. */
export function declareCommand(
  deps: ToolDeps,
  call: CommandCall,
  describe: DescribeRecord = resultOf,
): DeclaredCall {
  const { argv, network, environment = {} } = call
  const hosts = hostsOf(deps, call)
  const [executable = "", ...more] = argv
  const cwd = callPath(deps.workspace, call.cwd).relative
  const command = assertValidCommand({
    executable,
    arguments: more,
    workingDirectory: cwd,
    environment,
    timeoutMs: call.timeoutMs ?? deps.limits.commandTimeoutMs,
    resourceLimits: unlimited,
  })
  return {
    effects: [
      { kind: "execute", run: { argv }, cwd, network, confined: deps.hasSandbox },
      ...hosts.map(host => ({ kind: "connect" as const, host })),
    ],
    effectClass: "run",
    network,
    ...(hosts.length === 0 ? {} : { hosts }),
    operation: `run ${call.shown}`,
    prepare: async () => ({
      targets: [],
      subject: {
        argv,
        cwd,
        environment,
        ...(network === "none" ? {} : { network: [network, ...hosts] }),
      },
      preview: [...exactCommand(argv), how(call, hosts, cwd), ""].join("\n"),
      execute: async context => {
        const record = await deps.runner.execute(
          command,
          {
            network,
            sandbox: deps.sandbox,
            useShell: false,
            consented: context.consented,
            ...(hosts.length === 0 ? {} : { hosts }),
          },
          { ...executionContext(context), hostRefusal: deps.hostRefusal },
        )
        return describe(deps, record, cwd)
      },
    }),
  }
}

/** Describes the network and the deadline, which the arguments of a command do not show. */
function how({ network, timeoutMs }: CommandCall, hosts: readonly string[], cwd: string): string {
  const limit = timeoutMs === null ? "" : `, for ${timeoutMs / 1000} s at most`
  return `in ${exactName(cwd)}${networkText(network, hosts)}${limit}`
}

/** Returns the hosts in canonical spelling, so that granted and requested ones can be compared. */
function hostsOf({ grantedHosts }: ToolDeps, { network, hosts }: CommandCall): readonly string[] {
  if (network !== "hosts") {
    if (hosts === null) return []
    throw wrongHosts(`hosts are named and the network is ${network}`, 'write "network": "hosts"')
  }
  const named = hosts ?? grantedHosts
  if (named.length === 0)
    throw wrongHosts("the plan grants no hosts to this task", "name those the command needs in hosts")
  return [...new Set(named.map(spelledHost))]
}

function spelledHost(text: string): string {
  const reading = readHostPattern(text)
  if ("pattern" in reading) return hostPatternText(reading.pattern)
  throw wrongHosts(`${exactName(text)} ${reading.problem}`, "correct the entry and ask again")
}

function wrongHosts(message: string, hint: string): Failure {
  return new Failure({ kind: "usage", code: "ACODE-EXE-007", message, where: "hosts", hint })
}

function networkText(network: NetworkChoice, hosts: readonly string[]): string {
  if (network === "none") return ""
  return network === "host"
    ? ", with the network"
    : `, with the network to ${hosts.map(exactName).join(", ")}`
}

function executionContext({ signal, correlationIds, onOutput }: CallContext) {
  return {
    correlationIds,
    ...(signal === null ? {} : { signal }),
    ...(onOutput === null ? {} : { onOutput }),
  }
}

function resultOf(deps: ToolDeps, { id, result }: ExecutionRecord, cwd: string): ToolResult {
  const { exitCode, ending, signal, stdout, stderr, truncation, success, sandbox } = result
  return toolResult(deps, {
    value: {
      exit_code: exitCode,
      ending,
      signal,
      stdout,
      stderr,
      truncated: truncation !== null,
      success,
      ...(sandbox.connections === undefined ? {} : { connections: connectionPlaces(sandbox.connections) }),
      ...(sandbox.quarantined.length === 0 ? {} : { quarantined: sandbox.quarantined }),
    },
    text: textOf(result),
    error: commandError(result),
    exitCode,
    executionId: id,
    paths: [cwd],
  })
}

/** Returns why a command did not succeed; null if it did. */
export function commandError({ success, exitCode, error }: CommandResult): CallError | null {
  if (error !== null)
    return {
      code: error.code,
      message: error.message,
      where: error.details["where"] ?? null,
      hint: error.details["hint"] ?? null,
    }
  if (success) return null
  return {
    code: "ACODE-EXE-003",
    message: `the command failed with exit code ${exitCode}`,
    where: null,
    hint: "its output says why",
  }
}

function textOf(result: CommandResult): string {
  const { exitCode, ending, stdout, stderr, truncation, error, sandbox } = result
  const ended = exitCode === null ? `the command did not finish: ${ending}` : `exit code ${exitCode}`
  const parts = [error === null ? ended : `${ended} (${error.code}: ${error.message})`]
  if (stdout !== "") parts.push(`stdout${truncation?.stdout ? " (cut)" : ""}:\n${stdout}`)
  if (stderr !== "") parts.push(`stderr${truncation?.stderr ? " (cut)" : ""}:\n${stderr}`)
  const connections = connectionPlaces(sandbox.connections ?? noConnections)
  if (connections.length > 0) parts.push(`network:\n${connections.join("\n")}`)
  if (sandbox.quarantined.length > 0)
    parts.push(
      `moved to quarantine, because these names are protected: ${sandbox.quarantined.join(", ")}\n` +
        "(write_file can write CI files and instructions for assistants, once the user agrees)",
    )
  if (sandbox.asked !== undefined)
    parts.push(`changed without consent, which the user has to learn: ${sandbox.asked.join(", ")}`)
  return parts.join("\n")
}
