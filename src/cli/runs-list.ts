import { oneLine } from "../base/text.ts"
import type { ExecutionFilter, ExecutionSummary } from "../store/contract.ts"
import { defineCommand } from "./definition.ts"
import { limitFlag, timeFlags } from "./flags.ts"
import { durationText, shortId } from "./format.ts"
import { instantOf } from "./instant.ts"

export const runsList = defineCommand({
  name: "runs list",
  summary: "executions recorded in this workspace, newest first",
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
    const found = (await app.executions())?.list(filter) ?? []
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
