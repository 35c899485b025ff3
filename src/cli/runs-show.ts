import { shownPath } from "../base/path-names.ts"
import { oneLine, printable, shellQuoted } from "../base/text.ts"
import type { CommandResult, ExecutionRecord, TruncatedStream } from "../domain/command-result.ts"
import { connectionLines, networkText, noConnections } from "../domain/connections.ts"
import { Failure } from "../domain/failure.ts"
import type { CliContext } from "./context.ts"
import { defineCommand } from "./definition.ts"
import { bytesText, durationText } from "./format.ts"

export const runsShow = defineCommand({
  name: "runs show",
  summary: "one execution: what ran, how it ended, what it printed",
  arguments: [{ name: "ID", id: "execution", summary: "the id, its beginning or its last characters" }],
  flags: {
    "full-output": {
      kind: "boolean",
      summary: "print all that was kept of stdout, byte for byte when piped",
    },
    context: { kind: "boolean", summary: "also what it belongs to: run, session, task, commit" },
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

async function printFullOutput({ result }: ExecutionRecord, context: CliContext): Promise<void> {
  const app = await context.service()
  for (const stream of ["stdout", "stderr"] as const) {
    const ref = result.artifacts[stream]
    const content = ref === null ? Buffer.from(result[stream]) : await app.artifact(ref)
    context.output.recorded(content, context.terminal[stream], stream === "stdout" ? 1 : 2)
  }
}

function printRecord(
  record: ExecutionRecord,
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

function endingText({ ending, exitCode, signal }: CommandResult): string {
  if (ending === "exited") return `exit ${exitCode ?? "?"}`
  return signal === null ? ending : `${ending} by ${signal}`
}

function usageText({ usage }: CommandResult): string {
  const cpu = usage.cpuMs === null ? "cpu not measured" : `cpu ${durationText(usage.cpuMs)}`
  return `${cpu}, ${usage.maxRssBytes === null ? "memory not measured" : `memory ${bytesText(usage.maxRssBytes)}`}`
}

function truncationText(truncated: TruncatedStream | null): string {
  if (truncated === null) return ""
  return ` (${bytesText(truncated.keptBytes)} of ${bytesText(truncated.originalBytes)}; --full-output shows more)`
}
