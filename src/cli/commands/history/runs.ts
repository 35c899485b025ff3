import { shownPath } from "../../../base/path-names.ts"
import { counted, oneLine, printable, shellQuoted } from "../../../base/text.ts"
import type { StoredExecution, TruncatedStream } from "../../../domain/command-result.ts"
import { connectionLines, networkText, noConnections } from "../../../domain/connections.ts"
import { Failure } from "../../../domain/failure.ts"
import type { ExecutionFilter, ExecutionSummary } from "../../../store/contract.ts"
import type { CliContext } from "../../context.ts"
import { defineCommand } from "../../definition.ts"
import { ageFlag, limitFlag, reportDistrust, timeFlags, trustClockFlag } from "../../parse/flags.ts"
import { instantOf } from "../../parse/instant.ts"
import { bytesText, durationText, shortId } from "../../render/format.ts"

export const runsList = defineCommand({
  name: "runs list",
  summary: "list the executions recorded in this workspace, newest first",
  arguments: [],
  flags: {
    limit: limitFlag("at most N of them (50)"),
    "run-id": { kind: "id", of: "run", value: "ID", summary: "of one invocation of acode" },
    "session-id": { kind: "id", of: "session", value: "ID", summary: "of one session" },
    "task-id": { kind: "id", of: "task", value: "ID", summary: "of one task" },
    failed: { kind: "boolean", summary: "only those that did not succeed" },
    command: { kind: "text", value: "GLOB", summary: "command lines that match, such as 'npm *'" },
    ...timeFlags,
  },
  examples: [
    { line: "acode runs list --failed", note: "what went wrong lately" },
    { line: "acode runs list --command 'npm *' --since 1d --json", note: "for a script" },
  ],
  run: async ({ flags }, { service, output, globals }) => {
    const app = await service()
    const filter: ExecutionFilter = {
      limit: flags.limit ?? 50,
      ...(flags["run-id"] === undefined ? {} : { runId: await app.idOf(flags["run-id"], "run") }),
      ...(flags["session-id"] === undefined
        ? {}
        : { sessionId: await app.idOf(flags["session-id"], "session") }),
      ...(flags["task-id"] === undefined ? {} : { taskId: await app.idOf(flags["task-id"], "task") }),
      ...(flags.failed ? { failed: true } : {}),
      ...(flags.command === undefined ? {} : { command: flags.command }),
      ...(flags.since === undefined ? {} : { since: instantOf(flags.since, app.now()) }),
      ...(flags.until === undefined ? {} : { until: instantOf(flags.until, app.now()) }),
    }
    const found = (await app.listed())?.executions.list(filter) ?? []
    if (globals.json) output.json(found)
    for (const execution of found) output.line(row(execution))
    if (found.length === 0) output.notice("no executions")
    return 0
  },
})

function row(execution: ExecutionSummary): string {
  const { id, startTime, ending, exitCode, durationMs, commandLine, success } = execution
  const mark = success === null ? "…" : success ? "✓" : "✗"
  const how = ending === null ? "running" : ending === "exited" ? `exit ${exitCode ?? "?"}` : ending
  const took = durationMs === null ? "" : durationText(durationMs)
  return `${mark} ${shortId(id)}  ${startTime.slice(0, 19)}Z  ${how.padEnd(11)} ${took.padStart(8)}  ${oneLine(commandLine, 100)}`
}

export const runsPrune = defineCommand({
  name: "runs prune",
  summary: "remove old executions; a signed tombstone stays, so the history still verifies",
  arguments: [],
  flags: {
    "older-than": ageFlag,
    "trust-clock": trustClockFlag,
    "run-id": { kind: "id", of: "run", value: "ID", summary: "the executions of one invocation of acode" },
  },
  examples: [
    { line: "acode runs prune --older-than 30d", note: "keep the last month" },
    { line: "acode runs prune", note: "as execution.audit.retention_days says" },
  ],
  run: async ({ flags }, { service, output, globals }) => {
    const app = await service()
    const age = flags["older-than"]
    const typedRun = flags["run-id"]
    if (age !== undefined && typedRun !== undefined)
      throw new Failure({
        kind: "usage",
        code: "ACODE-CLI-002",
        message: "--older-than and --run-id do not go together",
        where: "acode runs prune",
        hint: "give one of them",
      })
    const pruned = await app.pruneRuns(
      typedRun === undefined
        ? { olderThanMs: age ?? (await app.retentionMs()), trustsClock: flags["trust-clock"] }
        : { runId: await app.idOf(typedRun, "run") },
    )
    const { ids, freedBytes } = pruned
    if (globals.json) output.json({ pruned: ids.map(id => ({ id })), freedBytes })
    if (typedRun === undefined) reportDistrust(output, pruned)
    output.line(`${counted(ids.length, "execution")} removed, ${bytesText(freedBytes)} freed`)
    return 0
  },
})

export const runsShow = defineCommand({
  name: "runs show",
  summary: "show one execution: what ran, how it ended, what it printed",
  arguments: [{ name: "ID", id: "execution", summary: "the id, its beginning or its last characters" }],
  flags: {
    "full-output": {
      kind: "boolean",
      summary: "print all stored stdout, byte for byte when piped",
    },
    context: { kind: "boolean", summary: "also show its run, session, task and commit" },
  },
  examples: [
    { line: "acode runs show 3f2a91bc", note: "by the id that `runs list` shows" },
    { line: "acode runs show 3f2a91bc --full-output > log.txt", note: "the whole kept output" },
    { line: "acode runs show 3f2a91bc --json", note: "the same JSON that exec gave" },
  ],
  run: async ({ arguments: [typed = ""], flags }, context) => {
    const app = await context.service()
    const id = await app.idOf(typed, "execution")
    const record = (await app.executions())?.show(id) ?? null
    if (record === null) throw stillRunning(id)
    if (context.globals.json) {
      context.output.json(record)
      return 0
    }
    if (flags["full-output"]) await printFullOutput(record, context)
    else printRecord(record, flags.context, app.quarantineOf(id), context)
    return 0
  },
})

function stillRunning(id: string): Failure {
  return new Failure({
    kind: "general",
    code: "ACODE-EXE-014",
    message: "the command is still running, so there is no result yet",
    where: `execution ${id}`,
    hint: "`acode runs list` shows when it has ended",
  })
}

async function printFullOutput({ result }: StoredExecution, context: CliContext): Promise<void> {
  const app = await context.service()
  for (const stream of ["stdout", "stderr"] as const) {
    const ref = result.artifacts[stream]
    const content = ref === null ? Buffer.from(result[stream]) : await app.artifact(ref)
    context.output.recorded(content, context.terminal[stream], stream === "stdout" ? 1 : 2)
  }
}

function printRecord(
  record: StoredExecution,
  withContext: boolean,
  quarantine: string | null,
  { output, terminal }: CliContext,
): void {
  const { command, result, correlationIds } = record
  const words = command.shell
    ? [command.executable]
    : [command.executable, ...command.arguments].map(shellQuoted)
  const rows: [string, string][] = [
    ["id", record.id],
    ["command", oneLine(words.join(" "), 500)],
    ["directory", shownPath(command.workingDirectory)],
    ["ending", endingText(result)],
    ["started", result.startTime],
    ["took", `${durationText(result.durationMs)} (queued ${durationText(result.queuedMs)})`],
    ["sandbox", `${result.sandbox.kind}, network ${networkText(result.sandbox)}`],
    ["usage", usageText(result)],
  ]
  if (result.error !== null) rows.push(["error", `${result.error.code}: ${result.error.message}`])
  for (const line of connectionLines(result.sandbox.connections ?? noConnections))
    rows.push(["connection", printable(line)])
  if (result.sandbox.quarantined.length > 0) {
    const where = quarantine === null ? "removed since" : `in ${shownPath(quarantine)}`
    rows.push(["quarantined", `${result.sandbox.quarantined.map(shownPath).join(", ")} (${where})`])
  }
  if (result.sandbox.asked !== undefined)
    rows.push(["for CI", result.sandbox.asked.map(shownPath).join(", ")])
  if (withContext) for (const [name, value] of Object.entries(correlationIds)) rows.push([name, value ?? "-"])
  const width = Math.max(...rows.map(([name]) => name.length))
  for (const [name, value] of rows) output.line(`${name.padEnd(width)}  ${value}`)
  for (const stream of ["stdout", "stderr"] as const) {
    if (result[stream] === "") continue
    output.line(output.dim(`--- ${stream}${truncationText(result.truncation?.[stream] ?? null)}`))
    output.recorded(result[stream].endsWith("\n") ? result[stream] : `${result[stream]}\n`, terminal.stdout)
  }
}

function endingText({ ending, exitCode, signal }: StoredExecution["result"]): string {
  if (ending === "exited") return `exit ${exitCode ?? "?"}`
  return signal === null ? ending : `${ending} by ${signal}`
}

function usageText({ usage }: StoredExecution["result"]): string {
  const cpu = usage.cpuMs === null ? "cpu not measured" : `cpu ${durationText(usage.cpuMs)}`
  return `${cpu}, ${usage.maxRssBytes === null ? "memory not measured" : `memory ${bytesText(usage.maxRssBytes)}`}`
}

function truncationText(truncated: TruncatedStream | null): string {
  if (truncated === null) return ""
  return ` (${bytesText(truncated.keptBytes)} of ${bytesText(truncated.originalBytes)}; --full-output shows more)`
}

export const runsStats = defineCommand({
  name: "runs stats",
  summary: "show how many executions there are, how they ended, and their size on disk",
  arguments: [],
  flags: {},
  examples: [{ line: "acode runs stats --json", note: "for a script" }],
  run: async (_input, { service, output, globals }) => {
    const stats = (await (await service()).listed())?.executions.stats() ?? null
    if (globals.json) output.json(stats)
    if (stats === null) {
      output.notice("no executions")
      return 0
    }
    output.line(
      `${counted(stats.executions, "execution")}: ${stats.succeeded} succeeded, ${stats.failed} failed,` +
        ` ${stats.timedOut} timed out, ${stats.interrupted} interrupted, ${stats.running} running`,
    )
    output.line(
      `${durationText(stats.durationMsTotal)} of running time, ${stats.oldest ?? "-"} to ${stats.newest ?? "-"}`,
    )
    output.line(
      `${bytesText(stats.databaseBytes)} database, ${counted(stats.artifactCount, "artifact")} (${bytesText(stats.artifactBytes)})`,
    )
    return 0
  },
})
