import type { AppService } from "../../../app/service.ts"
import type { TaskRunRequest } from "../../../app/skills/task-run.ts"
import type { ListedTask } from "../../../app/skills/task-verbs.ts"
import { systemClock } from "../../../base/clock.ts"
import { counted, oneLine } from "../../../base/text.ts"
import { dataOf } from "../../../domain/events/definition.ts"
import { SessionFinished } from "../../../domain/events/session-events.ts"
import { ReviewFinished } from "../../../domain/events/skill-events.ts"
import { Failure } from "../../../domain/failure.ts"
import { type ExecutionError, executionAdvice } from "../../../domain/skill/execution-error.ts"
import { type Task, taskStatuses } from "../../../domain/task.ts"
import { type ExecutionResult, modelTiers } from "../../../skills/contract.ts"
import type { StoredEvent } from "../../../store/contract.ts"
import type { CliContext } from "../../context.ts"
import { defineCommand } from "../../definition.ts"
import type { Output } from "../../output.ts"
import { type FlagSpecs, type FlagValues, limitFlag } from "../../parse/flags.ts"
import { durationText, eventLine, shortId } from "../../render/format.ts"
import { whileRead } from "../../run/closed-output.ts"
import { replyFlags } from "../../run/flags.ts"
import { every, hasLiveLine, liveLine, taskWaits } from "../../run/live-line.ts"
import { interruption } from "../../terminal/interruption.ts"

const modelFlags = {
  model: { kind: "text", value: "NAME", summary: "the model for every task: NAME, PROVIDER/NAME or a tier" },
  tier: { kind: "choice", choices: modelTiers, summary: "the tier for every task" },
  timeout: {
    kind: "number",
    value: "SECONDS",
    summary: "timeout of one attempt (120)",
    min: 0.01,
    max: 86_400,
    isWhole: false,
  },
  "max-retries": {
    kind: "number",
    value: "N",
    summary: "maximum retries of a failed request (2)",
    min: 0,
    max: 20,
    isWhole: true,
  },
  "max-tokens": {
    kind: "number",
    value: "N",
    summary: "maximum length of an output in tokens (4096)",
    min: 16,
    max: 10_000_000,
    isWhole: true,
  },
  parallel: {
    kind: "number",
    value: "N",
    summary: "maximum tasks executed at the same time (4)",
    min: 1,
    max: 32,
    isWhole: true,
  },
  ...replyFlags,
} as const satisfies FlagSpecs

/** Reads models and limits from the flags of a command. */
function modelRequest(flags: FlagValues<typeof modelFlags>) {
  const { tier, timeout, "max-retries": maxRetries } = flags
  return {
    choice: { script: flags.script, record: flags.record, replay: flags.replay },
    model: flags.model ?? null,
    mode: flags.mode ?? null,
    parallel: flags.parallel ?? null,
    maxTokens: flags["max-tokens"] ?? null,
    agentConfig: {
      ...(tier === undefined ? {} : { modelTier: tier }),
      ...(timeout === undefined ? {} : { timeoutMs: Math.round(timeout * 1000) }),
      ...(maxRetries === undefined ? {} : { maxRetries }),
    },
  }
}

export const agentRun = defineCommand({
  name: "agent run",
  summary: "execute tasks: each is one skill, one request to a model and one output",
  description:
    "A task is a file tasks/ID.md below skills.workspace. Its skill and its requirements are sent to a model, the\n" +
    "reply is written to the output_path of the task, and its status records how it ended. Outside of outputs/ and\n" +
    "context/ an output never replaces a file that its task did not write. A task that another process executes is left\n" +
    "alone, and so are those of its pipeline; tasks of a process that was killed are finished first. Ctrl-C stops the\n" +
    "requests and cancels their tasks.\n" +
    "With --json every event is one line, and the last line is the result.",
  arguments: [{ name: "TASK", summary: "the id of a task, or its file", optional: true, variadic: true }],
  flags: {
    ...modelFlags,
    pending: { kind: "boolean", summary: "every task that may be executed, the most urgent first" },
    limit: limitFlag("at most N of them"),
    overwrite: {
      kind: "boolean",
      summary: "let an output replace a file that its task did not write",
    },
  },
  examples: [
    { line: "acode agent run copywriting-20260115-3d4e5f", note: "one task, with a model of this machine" },
    { line: "acode agent run --pending --parallel 8 --json", note: "for a script" },
    {
      line: "acode agent run --pending --mode burst --model anthropic/sonnet",
      note: "with a model elsewhere",
    },
  ],
  run: async ({ arguments: ids, flags }, context) => {
    if (flags.pending === ids.length > 0)
      throw usage("name tasks, or say --pending for all that may be executed", "agent run")
    const app = await context.service()
    const tasks = flags.pending ? ("pending" as const) : ids
    const request = {
      ...modelRequest(flags),
      tasks,
      limit: flags.limit ?? null,
      mayOverwrite: flags.overwrite,
    }
    return execute(app, request, context)
  },
})

export const agentPipeline = defineCommand({
  name: "agent pipeline",
  summary: "execute the tasks of a pipeline, one by one or several at once, with reviews",
  description:
    "The outputs of a step are the inputs of the next one. Where one task of a parallel step fails, the others are\n" +
    "cancelled and the pipeline ends. A review approves an output, asks for a revision, or rejects it; an output that is\n" +
    "not approved in the end stops the pipeline with exit code 22. If its process is killed, the next\n" +
    "`agent run` or `agent pipeline` finishes the pipeline; the same pipeline is then not begun again.",
  arguments: [{ name: "FILE", summary: "YAML or JSON, as `acode schema pipeline` describes it" }],
  flags: modelFlags,
  examples: [
    { line: "acode agent pipeline launch.yml", note: "with a model of this machine" },
    { line: "acode agent pipeline launch.yml --script replies.json --json", note: "without any model" },
  ],
  run: async ({ arguments: [file = ""], flags }, context) => {
    const app = await context.service()
    const tasks = await app.readPipeline(file)
    const request = { ...modelRequest(flags), tasks, limit: null, mayOverwrite: false }
    return execute(app, request, context)
  },
})

async function execute(app: AppService, request: TaskRunRequest, context: CliContext): Promise<number> {
  const { output, globals } = context
  using interrupted = interruption()
  const leaving = new AbortController()
  const { show, assertNothingLost } = whileRead(() => leaving.abort())
  using live = liveLine({
    draw: text => show(() => output.live(hasLiveLine(context) ? text : null)),
    clock: systemClock,
    columns: () => process.stderr.columns ?? 80,
    every,
    waitedFor: taskWaits(),
  })
  let isKnown = false
  const end = await app.executeTasks(request, {
    notice: text => show(() => output.notice(text)),
    onEvent: event => {
      live.after(event)
      show(() => {
        if (globals.json) output.jsonLine(eventLine(event.stream, event))
        else for (const line of eventLines(event)) output.line(line)
      })
    },
    onResult: result =>
      show(() => {
        if (!globals.json) for (const line of resultLines(result, output)) output.line(line)
      }),
    onBusy: () => {
      if (!isKnown) show(() => output.notice("waiting for another session to leave the workspace"))
      isKnown = true
    },
    signal: interrupted.signal,
    leaving: leaving.signal,
  })
  const { sessionId: session, results, exitCode } = end
  show(() => {
    if (globals.json) output.jsonLine({ schema: 1, type: "result", ...jsonEnd(results), session, exitCode })
    else if (results.length === 0 && session === null)
      output.notice("no task may be executed; `acode agent list` shows all")
    else if (session !== null) output.line(output.dim(`session ${session}`))
  })
  assertNothingLost()
  return exitCode
}

/** Returns the lines that are printed for an event, besides the results. */
function eventLines(event: StoredEvent): readonly string[] {
  const review = dataOf(ReviewFinished, event)
  if (review !== null) {
    const { verdict, taskId, summary, path } = review
    return [`  ${verdict} ${oneLine(taskId, 130)}: ${oneLine(summary, 300)} (${path})`]
  }
  const finished = dataOf(SessionFinished, event)
  if (finished === null || finished.exitCode === 0) return []
  return [`✗ ${oneLine(finished.reason, 600)} (exit ${finished.exitCode})`]
}

/** Returns one result as an object, several as a list. */
function jsonEnd(results: readonly ExecutionResult[]) {
  const all = results.map(({ error, ...result }) => ({
    ...result,
    ...(error === undefined ? {} : { error: jsonError(error, result.taskId) }),
  }))
  return all.length === 1 ? { data: all[0], results: all } : { results: all }
}

function jsonError({ code, message }: ExecutionError, taskId: string) {
  return { code, message, advice: executionAdvice(code, taskId) }
}

function errorLines({ code, message }: ExecutionError, taskId: string, output: Output): readonly string[] {
  const advice = output.advice(oneLine(executionAdvice(code, taskId), 400))
  return [`  ${code}: ${oneLine(message, 600)}`, `  → ${advice}`]
}

function resultLines(result: ExecutionResult, output: Output): readonly string[] {
  const { taskId, status, outputPath, error, warnings, tokensUsed, durationMs } = result
  const isDone = status === "completed"
  const mark = isDone ? output.green("✓") : output.red("✗")
  const where = isDone ? ` → ${oneLine(outputPath ?? "", 300)}` : ""
  const spent = `${durationText(durationMs)}, ${tokensUsed.input} + ${tokensUsed.output} tokens`
  return [
    `${mark} ${oneLine(taskId, 130)}${where} ${output.dim(`(${spent})`)}`,
    ...(isDone || error === undefined ? [] : errorLines(error, taskId, output)),
    ...warnings.map(warning => `  ⚠ ${oneLine(warning, 300)}`),
  ]
}

export const agentList = defineCommand({
  name: "agent list",
  summary: "list the tasks of this workspace",
  arguments: [],
  flags: {
    status: { kind: "choice", choices: taskStatuses, summary: "only those with this status" },
    skill: { kind: "text", value: "NAME", summary: "only those of one skill" },
    stale: { kind: "boolean", summary: "only tasks that are in progress while no process works on them" },
    limit: limitFlag("at most N of them (1000)"),
  },
  examples: [
    { line: "acode agent list --status failed", note: "what did not work" },
    { line: "acode agent list --stale", note: "`acode agent reset TASK --reason WHY` sets one back" },
  ],
  run: async ({ flags }, { service, output, globals }) => {
    const { status, skill, stale: isStale, limit = 1000 } = flags
    const filter = { status, skill, isStale, limit, isWhole: globals.json }
    const { tasks, count } = await (await service()).listTasks(filter)
    if (globals.json)
      output.json(tasks.map(({ id, problem, isStale, task = null }) => ({ id, problem, isStale, ...task })))
    for (const each of tasks) output.line(listedLine(each))
    if (count === 0) output.notice("no tasks")
    if (count > tasks.length) output.notice(`${count - tasks.length} more; --limit shows more`)
    return 0
  },
})

function listedLine({ id, summary, problem, isStale }: ListedTask): string {
  if (summary === null) return `✗ ${oneLine(id, 60)}  ${oneLine(problem ?? "", 300)}`
  const note = isStale ? "  (no process works on it)" : ""
  const { priority, status, goal } = summary
  return `${priority} ${status.padEnd(11)} ${oneLine(id, 60).padEnd(40)} ${oneLine(goal, 80)}${note}`
}

export const agentShow = defineCommand({
  name: "agent show",
  summary: "show one task: what it asks for, and the result of each execution",
  arguments: [{ name: "TASK", summary: "the id of a task, or its file" }],
  flags: {},
  examples: [
    { line: "acode agent show copywriting-20260115-3d4e5f", note: "with the sessions that executed it" },
  ],
  run: async ({ arguments: [id = ""] }, { service, output, globals }) => {
    const shown = await (await service()).showTask(id)
    if (globals.json) output.json(shown)
    for (const line of taskLines(shown.task, shown.path)) output.line(line)
    for (const { sessionId, startedAt, end, replied, isReview } of shown.executions) {
      const done = isReview ? "reviewed" : "completed"
      const how = end === null ? "open" : end.isSuccess ? done : isReview ? "review failed" : "failed"
      const tokens = replied.reduce((sum, { usage: used }) => sum + used.input + used.output, 0)
      output.line(
        `  session ${shortId(sessionId)} ${startedAt}  ${how}, ${counted(replied.length, "reply", "replies")}, ${counted(tokens, "token")}`,
      )
      if (end !== null && !end.isSuccess) output.line(`    ${oneLine(end.message ?? "UNKNOWN", 600)}`)
    }
    return 0
  },
})

function taskLines(task: Task, path: string): readonly string[] {
  const facts: readonly (readonly [string, string])[] = [
    ["status", task.status],
    ["file", path],
    ["skill", task.to],
    ["from", task.from],
    ["priority", task.priority],
    ["goal", task.goal],
    ["updated", task.updatedAt],
    ["revision", String(task.revisionCount)],
    ...task.inputs.map(input => ["input", `${input.path}  ${input.description}`] as const),
    ["output", task.output.path],
  ]
  return [oneLine(task.id, 130), ...facts.map(([key, value]) => `  ${key.padEnd(9)} ${oneLine(value, 400)}`)]
}

export const agentReset = defineCommand({
  name: "agent reset",
  summary: "set a task that failed, was cancelled, or was left in progress back to pending",
  description: "Refused while a process works on it. The reason is recorded.",
  arguments: [{ name: "TASK", summary: "the id of a task, or its file" }],
  flags: { reason: { kind: "text", value: "TEXT", summary: "why; needed" } },
  examples: [
    {
      line: 'acode agent reset copywriting-20260115-3d4e5f --reason "the key was wrong"',
      note: "then run it again",
    },
  ],
  run: async ({ arguments: [id = ""], flags }, { service, output, globals }) => {
    const reason = flags.reason?.trim() ?? ""
    if (reason === "") throw usage("say why: --reason TEXT", "agent reset")
    const { sessionId } = await (await service()).resetTask(id, reason)
    if (globals.json) output.json({ taskId: id, status: "pending", session: sessionId })
    output.line(`${oneLine(id, 130)} is pending again`)
    output.line(output.advice(`→ acode agent run ${oneLine(id, 130)}`))
    return 0
  },
})

function usage(message: string, verb: string): Failure {
  const where = `acode ${verb}`
  return new Failure({
    kind: "usage",
    code: "ACODE-CLI-003",
    message,
    where,
    hint: `\`acode ${verb} --help\``,
  })
}
