import { exactCommand, exactName } from "../base/text.ts"
import { type NetworkChoice, unlimited } from "../domain/command.ts"
import type { CommandResult, ExecutionRecord } from "../domain/command-result.ts"
import { assertValidCommand } from "../domain/command-validation.ts"
import type { CallError } from "../domain/tool-call.ts"
import type { CallContext, DeclaredCall, ToolResult, ToolRoom } from "./contract.ts"
import { callPath } from "./path-effects.ts"
import { toolResult } from "./tool-result.ts"

/** A command as the two tools that run one describe it. */
export interface CommandCall {
  readonly argv: readonly string[]
  readonly cwd: string
  readonly timeoutMs: number | null
  readonly network: NetworkChoice
  /** As a person would type it. */
  readonly shown: string
}

export function declareCommand(room: ToolRoom, call: CommandCall): DeclaredCall {
  const { argv, network } = call
  const [executable = "", ...more] = argv
  const cwd = callPath(room.workspace, call.cwd).relative
  const command = assertValidCommand({
    executable,
    arguments: more,
    workingDirectory: cwd,
    environment: {},
    timeoutMs: call.timeoutMs ?? room.limits.commandTimeoutMs,
    resourceLimits: unlimited,
  })
  return {
    effects: [{ kind: "execute", run: { argv }, cwd, network, confined: room.hasSandbox }],
    effectClass: "run",
    network,
    operation: `run ${call.shown}`,
    prepare: async () => ({
      targets: [],
      subject: { argv, cwd, environment: {} },
      preview: [...exactCommand(argv), how(call, cwd), ""].join("\n"),
      execute: async context => {
        const record = await room.runner.execute(
          command,
          { network, sandbox: room.sandbox, useShell: false },
          executionContext(context),
        )
        return resultOf(room, record, cwd)
      },
    }),
  }
}

/** What the arguments of a command do not say. */
function how({ network, timeoutMs }: CommandCall, cwd: string): string {
  const online = network === "host" ? ", with the network" : ""
  return `in ${exactName(cwd)}${online}${timeoutMs === null ? "" : `, for ${timeoutMs / 1000} s at most`}`
}

function executionContext({ signal, correlationIds, onOutput }: CallContext) {
  return {
    correlationIds,
    ...(signal === null ? {} : { signal }),
    ...(onOutput === null ? {} : { onOutput }),
  }
}

function resultOf(room: ToolRoom, { id, result }: ExecutionRecord, cwd: string): ToolResult {
  const { exitCode, ending, signal, stdout, stderr, truncation, success, sandbox } = result
  return toolResult(room, {
    value: {
      exit_code: exitCode,
      ending,
      signal,
      stdout,
      stderr,
      truncated: truncation !== null,
      success,
      ...(sandbox.quarantined.length === 0 ? {} : { quarantined: sandbox.quarantined }),
    },
    text: textOf(result),
    error: errorOf(result),
    exitCode,
    executionId: id,
    paths: [cwd],
  })
}

function errorOf({ success, exitCode, error }: CommandResult): CallError | null {
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
    hint: "what it wrote says why",
  }
}

function textOf(result: CommandResult): string {
  const { exitCode, ending, stdout, stderr, truncation, error, sandbox } = result
  const ended = exitCode === null ? `the command did not finish: ${ending}` : `exit code ${exitCode}`
  const parts = [error === null ? ended : `${ended} (${error.code}: ${error.message})`]
  if (stdout !== "") parts.push(`stdout${truncation?.stdout ? " (cut)" : ""}:\n${stdout}`)
  if (stderr !== "") parts.push(`stderr${truncation?.stderr ? " (cut)" : ""}:\n${stderr}`)
  if (sandbox.quarantined.length > 0)
    parts.push(`moved to quarantine, because these names are protected: ${sandbox.quarantined.join(", ")}`)
  return parts.join("\n")
}
