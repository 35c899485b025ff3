import { constants } from "node:os"
import type { CommandForm } from "../../../app/service.ts"
import { shownPath } from "../../../base/path-names.ts"
import { printable } from "../../../base/text.ts"
import {
  type Command,
  captureModes,
  type ExecutionOptions,
  environmentModes,
  limitRanges,
  networkChoices,
  sandboxChoices,
} from "../../../domain/command.ts"
import type { CommandResult, ExecutionRecord } from "../../../domain/command-result.ts"
import { connectionLines, networkText } from "../../../domain/connections.ts"
import { execExitCodes } from "../../../domain/exit-codes.ts"
import { Failure } from "../../../domain/failure.ts"
import type { ExecutionContext } from "../../../exec/contract.ts"
import type { CliContext } from "../../context.ts"
import { type CliInput, defineCommand } from "../../definition.ts"
import { OutputClosed, OutputLost, writeChunk } from "../../output.ts"
import type { FlagSpecs } from "../../parse/flags.ts"
import { shortId } from "../../render/format.ts"
import { interruption } from "../../terminal/interruption.ts"
import { terminalFilter, unchanged } from "../../terminal/terminal-filter.ts"

const flags = {
  timeout: limit("SECONDS", "timeout of the command; fractions are allowed", limitRanges.timeoutMs, 1000),
  cwd: { kind: "text", value: "DIR", summary: "run it in DIR of the workspace instead of here" },
  env: {
    kind: "list",
    value: "K=V",
    summary: "add a variable; may be repeated; --env-mode merge to change one that is set",
  },
  "env-mode": {
    kind: "choice",
    choices: environmentModes,
    summary: "which variables of your environment it gets",
  },
  shell: { kind: "boolean", summary: "give the one string to /bin/sh" },
  capture: { kind: "choice", choices: captureModes, summary: "which output is kept" },
  "max-output": {
    ...limit("BYTES", "maximum bytes of each stream in the result", limitRanges.outputBytesMax, 1),
    isWhole: true,
  },
  sandbox: { kind: "choice", choices: sandboxChoices, summary: "how it is confined" },
  network: {
    kind: "choice",
    choices: networkChoices,
    summary: "what it can reach: nothing, everything that this machine can, or the hosts of --allow-host",
  },
  "allow-host": {
    kind: "list",
    value: "HOST",
    summary:
      "let it reach HOST and nothing else: example.com, *.example.com, localhost:8080; may be repeated",
  },
  writable: {
    kind: "list",
    value: "PATH",
    summary: "open a path for writing, protected ones too; from here, else from the root; may be repeated",
  },
  memory: limit("MB", "memory limit of the whole process tree", limitRanges.memoryBytesMax, 1024 * 1024),
} as const satisfies FlagSpecs

/** Returns a number flag for a limit. One unit of the flag is `factor` units of the limit. */
function limit(value: string, summary: string, { min, max }: { min: number; max: number }, factor: number) {
  const range = { min: min / factor, max: max / factor, isWhole: false, code: "ACODE-EXE-007" } as const
  return { kind: "number", value, summary, ...range } as const
}

export const exec = defineCommand({
  name: "exec",
  summary: "run one command: confined, limited, recorded, and ended with everything it started",
  description:
    "Exits with the command's own exit code; 124 timed out, 125 acode refused or could not run or record it,\n" +
    "126 not executable, 127 not found, 128+N killed by signal N.\n" +
    "It runs in the current directory, or in the root of the workspace when called from outside of it.\n" +
    "--network host gives access to everything that this machine can reach, without a filter: also to services of this\n" +
    "machine and to the metadata service of a cloud. --allow-host gives access to single hosts, at ports 443 and 80\n" +
    "unless HOST:PORT names another: only in a sandbox, through a proxy of acode that HTTP_PROXY and similar variables\n" +
    "name. A program that ignores these variables reaches only named ports of this machine (localhost:5432). Each\n" +
    "connection is recorded.\n" +
    "Policy does not apply to your own command: a rule that refuses it to models and plans is named, and the command\n" +
    "runs. A network or a host that the configuration refuses stays refused.\n" +
    "Piped input is passed on. At a terminal its standard input is empty: it cannot ask, and `exec -- cat` ends at once.",
  arguments: [{ name: "PROGRAM", summary: "a program and its arguments, or one string", variadic: true }],
  flags,
  examples: [
    { line: "acode exec -- npm test", note: "everything after -- belongs to npm" },
    { line: 'acode exec "npm test" --timeout 60', note: "one string is split without a shell" },
    {
      line: "acode exec --allow-host registry.example.com -- npm ci",
      note: "one host, through acode's proxy, and nothing else",
    },
    {
      line: "acode exec --network host -- curl -s https://example.com",
      note: "no network unless you say so",
    },
    { line: "acode exec --json -- make build", note: "the whole result as JSON" },
    { line: "acode exec --shell 'ls | wc -l'", note: "pipes and variables need a shell" },
  ],
  passthrough: true,
  usageExitCode: execExitCodes.refused.code,
  run: async (input, context) => {
    const service = await context.service()
    const command = await service.commandOf(input.arguments, formOf(input))
    using interrupt = interruption()
    const passing: Passing = { stoppedBy: null }
    try {
      const record = await service.execute(
        command,
        optionsOf(input),
        liveContext(context, interrupt, passing),
      )
      // The command is recorded. The error to report is that its output could not be written.
      if (passing.stoppedBy instanceof OutputLost) throw passing.stoppedBy
      report(record, context)
      printUnapplied(record, command, context)
      return passing.stoppedBy === null ? exitCodeFor(record.result, interrupt.signalNumber()) : 141
    } catch (error) {
      if (interrupt.signalNumber() !== null && error instanceof Failure)
        return 128 + (interrupt.signalNumber() ?? 0)
      throw error
    }
  },
})

type Input = CliInput<typeof flags>

function formOf(input: Input): CommandForm {
  const { flags: given, isLiteral } = input
  return {
    isLiteral,
    useShell: given.shell || undefined,
    cwd: given.cwd,
    environment: Object.fromEntries(given.env.map(variable)),
    timeoutMs: given.timeout === undefined ? undefined : given.timeout * 1000,
    memoryBytesMax: given.memory === undefined ? undefined : Math.round(given.memory * 1024 * 1024),
  }
}

function variable(assignment: string): [string, string] {
  const equals = assignment.indexOf("=")
  if (equals > 0) return [assignment.slice(0, equals), assignment.slice(equals + 1)]
  throw new Failure({
    kind: "usage",
    code: "ACODE-CLI-002",
    message: `--env "${assignment}" is not NAME=VALUE`,
    where: "acode exec",
    hint: "write --env NAME=VALUE",
  })
}

function optionsOf({ flags: given }: Input): ExecutionOptions {
  return {
    ...(given["env-mode"] === undefined ? {} : { environmentMode: given["env-mode"] }),
    ...(given.shell ? { useShell: true } : {}),
    ...(given.capture === undefined ? {} : { capture: given.capture }),
    ...(given["max-output"] === undefined ? {} : { outputBytesMax: given["max-output"] }),
    ...(given.sandbox === undefined ? {} : { sandbox: given.sandbox }),
    ...networkOf(given),
    ...(given.writable.length === 0 ? {} : { writable: given.writable }),
  }
}

/** Returns the network options; `--allow-host` implies `--network hosts`. */
function networkOf({
  network,
  "allow-host": hosts,
}: Input["flags"]): Pick<ExecutionOptions, "network" | "hosts"> {
  if (hosts.length > 0) return { network: network ?? "hosts", hosts }
  return network === undefined ? {} : { network }
}

/** The reason why the command's output is no longer passed on. */
interface Passing {
  stoppedBy: OutputClosed | OutputLost | null
}

/** Returns the context that prints output as it arrives; with --json it is printed whole at the end. */
function liveContext(
  context: CliContext,
  interrupt: ReturnType<typeof interruption>,
  passing: Passing,
): ExecutionContext {
  const filters = {
    stdout: context.terminal.stdout ? terminalFilter() : unchanged,
    stderr: context.terminal.stderr ? terminalFilter() : unchanged,
  }
  const pass = async (stream: "stdout" | "stderr", chunk: Uint8Array) => {
    if (passing.stoppedBy !== null) return
    try {
      await writeChunk(stream === "stdout" ? 1 : 2, filters[stream].push(chunk))
    } catch (error) {
      if (!(error instanceof OutputClosed || error instanceof OutputLost)) throw error
      // Ends the command, as SIGPIPE would: its output has no reader.
      passing.stoppedBy ??= error
      interrupt.abort()
    }
  }
  return {
    signal: interrupt.signal,
    ...(context.terminal.stdin ? {} : { stdin: 0 }),
    ...(context.globals.json ? {} : { onOutput: pass }),
    onConfined: (sandbox, notice) => {
      if (notice !== null) context.output.notice(notice)
      else if (context.terminal.stderr)
        context.output.notice(`acode: sandbox ${sandbox.kind}, network ${networkText(sandbox)}`)
    },
  }
}

function report(record: ExecutionRecord, { output, globals }: CliContext): void {
  const { result, id } = record
  if (globals.json) output.json(record)
  else if (result.error !== null)
    output.failure({
      kind: "general",
      code: result.error.code,
      message: result.error.message,
      where: `execution ${id.slice(-8)}`,
      ...(result.error.details["hint"] === undefined ? {} : { hint: result.error.details["hint"] }),
    })
  if (result.sandbox.quarantined.length > 0)
    output.notice(
      `acode: moved to quarantine, protected: ${result.sandbox.quarantined.map(shownPath).join(", ")}; ` +
        `\`acode runs show ${shortId(id)}\` says where`,
    )
  if (result.sandbox.asked !== undefined)
    output.notice(
      `acode: it wrote files that CI or assistants act on: ${result.sandbox.asked.map(shownPath).join(", ")}; review them before you commit`,
    )
  for (const line of connectionNotices(result.sandbox, globals.verbose)) output.notice(`acode: ${line}`)
  if (globals.verbose)
    output.notice(
      `acode: ${id} ${result.ending} exit=${result.exitCode ?? "-"} in ${result.durationMs} ms` +
        ` (queued ${result.queuedMs} ms, cpu ${result.usage.cpuMs ?? "?"} ms, sandbox ${result.sandbox.kind}, network ${networkText(result.sandbox)})`,
    )
}

/** Reports `--env` values that had no effect: a variable of the environment keeps its value in most modes. */
function printUnapplied(
  { command: recorded }: ExecutionRecord,
  asked: Command,
  { output }: CliContext,
): void {
  const kept = Object.keys(asked.environment).filter(name => !Object.hasOwn(recorded.environment, name))
  if (kept.length === 0) return
  const hint = recorded.environmentMode === "inherit" ? "; --env-mode merge lets --env replace it" : ""
  output.notice(`acode: --env did not change ${kept.join(", ")}, which is set already${hint}`)
}

function exitCodeFor(result: CommandResult, interruptedBy: number | null): number {
  switch (result.ending) {
    case "exited":
      return result.exitCode ?? execExitCodes.refused.code
    case "timedOut":
      return execExitCodes.timedOut.code
    case "signalled":
      return 128 + signalNumber(result.signal)
    case "cancelled":
      return 128 + (interruptedBy ?? 2)
    case "notStarted":
      return startExitCode(result.error?.code)
    case "interrupted":
      return execExitCodes.refused.code
  }
}

function startExitCode(code: string | undefined): number {
  if (code === "ACODE-EXE-001") return execExitCodes.notFound.code
  return code === "ACODE-EXE-005" ? execExitCodes.notExecutable.code : execExitCodes.refused.code
}

function signalNumber(name: string | null): number {
  const numbers: Readonly<Record<string, number>> = constants.signals
  // Real-time signals have a number and no name: `SIG34`.
  return name === null ? 0 : (numbers[name] ?? Number(/^SIG(\d+)$/.exec(name)?.[1] ?? 0))
}

/** Returns refused connections, which the command may report only as a network error; all of them with --verbose. */
function connectionNotices({ connections }: CommandResult["sandbox"], isVerbose: boolean): readonly string[] {
  if (connections === undefined) return []
  const listed = isVerbose
    ? connections.listed
    : connections.listed.filter(({ decision }) => decision !== "allowed")
  return connectionLines({ listed, more: isVerbose || listed.length > 0 ? connections.more : null }).map(
    printable,
  )
}
