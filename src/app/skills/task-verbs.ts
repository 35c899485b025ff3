import { basename, dirname, join, resolve } from "node:path"
import { shownPath } from "../../base/path-names.ts"
import { oneLine } from "../../base/text.ts"
import { readYaml } from "../../config/yaml.ts"
import { exitCodes } from "../../domain/exit-codes.ts"
import { Failure } from "../../domain/failure.ts"
import { ExecutionError } from "../../domain/skill/execution-error.ts"
import { type PipelineFile, type PipelineProblem, readPipeline } from "../../domain/skill/pipeline-file.ts"
import { skillState, type TaskStep } from "../../domain/skill/skill-state.ts"
import type { Task, TaskStatus } from "../../domain/task.ts"
import { findSkill } from "../../skills/find-skills.ts"
import { director } from "../../skills/review-claim.ts"
import { readTaskFile, type TaskFolder } from "../../skills/task-folder.ts"
import type { TaskRow } from "../../skills/task-list.ts"
import type { Store } from "../../store/contract.ts"
import { isProcessAlive } from "../../store/process-identity.ts"
import { userName } from "../user-name.ts"
import { givenText, readGivenFile } from "../wiring/given-file.ts"
import { listedSkill, skillPlacesOf } from "../wiring/skills.ts"
import type { Wiring } from "../wiring/wire.ts"
import { listedRows, newSkillSession, taskFolder } from "./session.ts"
import { executionsOf, sessionsMax } from "./task-history.ts"
import { executeTasks, type TaskRunEnd, type TaskRunRequest, type TaskSurface } from "./task-run.ts"

/** Tasks of skills: files that are executed one by one. */
export interface TaskVerbs {
  executeTasks(request: TaskRunRequest, surface: TaskSurface): Promise<TaskRunEnd>
  /** Throws ACODE-SKILL-004. */
  readPipeline(path: string): Promise<PipelineFile>
  listTasks(filter: TaskFilter): Promise<TaskList>
  /** Throws ACODE-SKILL-002. */
  showTask(id: string): Promise<ShownTask>
  /** Sets a task back to pending. Throws ACODE-SKILL-002. Returns the session that it is recorded in. */
  resetTask(id: string, reason: string): Promise<{ readonly sessionId: string }>
}

export interface TaskFilter {
  readonly status?: TaskStatus | undefined
  readonly skill?: string | undefined
  readonly isStale?: boolean | undefined
  readonly limit: number
  /** True to read whole tasks, and not only their summaries. */
  readonly isWhole: boolean
}

export interface TaskList {
  readonly tasks: readonly ListedTask[]
  /** The number of tasks that match the filter, also beyond the limit. */
  readonly count: number
}

export type ListedTask = TaskRow & {
  /** True when it has been in progress for longer than any attempt may take and no process executes it. */
  readonly isStale: boolean
  readonly task?: Task
}

export interface ShownTask {
  readonly task: Task
  readonly path: string
  /** Newest session first. */
  readonly executions: readonly (TaskStep & { readonly sessionId: string; readonly startedAt: string })[]
}

export function taskVerbs(wiring: Wiring): TaskVerbs {
  return {
    executeTasks: async ({ tasks, ...request }, surface) => {
      const idOf = await idReader(wiring)
      const named = Array.isArray(tasks) ? tasks.map(idOf) : tasks
      return executeTasks(wiring, { ...request, tasks: named }, surface)
    },
    readPipeline: path => readPipelineFile(wiring, path),
    listTasks: filter => listTasks(wiring, filter),
    showTask: async typed => showTask(wiring, (await idReader(wiring))(typed)),
    resetTask: async (typed, reason) => resetTask(wiring, (await idReader(wiring))(typed), reason),
  }
}

/** Returns a function that takes the file of a task, as a shell completes it, for the id of the task. */
async function idReader(wiring: Wiring): Promise<(typed: string) => string> {
  const { prefix } = await taskFolder(wiring)
  const directory = join(wiring.root.path, prefix, "tasks")
  const from = join(wiring.root.path, wiring.calledFrom())
  return typed => {
    const path = resolve(from, typed)
    return path.endsWith(".md") && dirname(path) === directory ? basename(path, ".md") : typed
  }
}

async function listTasks(
  wiring: Wiring,
  { status, skill, isStale, limit, isWhole }: TaskFilter,
): Promise<TaskList> {
  const folder = await taskFolder(wiring)
  const { values } = await wiring.config()
  const store = await wiring.existingStore()
  const live = store === null ? new Map<string, string>() : liveTasks(store)
  const staleBefore = wiring.clock.now() - 2 * values.skills.timeout_seconds * 1000
  const isWanted = ({ summary, ...row }: ListedTask) =>
    (isStale !== true || row.isStale) &&
    (status === undefined || summary?.status === status) &&
    (skill === undefined || summary?.to === skill)
  const wanted = (await listedRows(wiring))
    .map((row): ListedTask => {
      const { id, summary } = row
      const isOld = summary !== null && !(Date.parse(summary.updatedAt) >= staleBefore)
      return { ...row, isStale: isOld && summary.status === "in_progress" && !live.has(id) }
    })
    .filter(isWanted)
  const tasks = wanted.slice(0, limit)
  return { tasks: isWhole ? tasks.map(row => withTask(folder, row)) : tasks, count: wanted.length }
}

function withTask(folder: TaskFolder, row: ListedTask): ListedTask {
  try {
    return row.summary === null ? row : { ...row, task: readTaskFile(folder, row.id).task }
  } catch (error) {
    if (!(error instanceof ExecutionError)) throw error
    // It was changed or removed since it was listed.
    return { ...row, summary: null, problem: error.message }
  }
}

/** The tasks that a process works on now, and in which session each. */
function liveTasks(store: Store): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  for (const { id, exitCode, owner } of store.sessions.list({ lane: "skill", limit: sessionsMax })) {
    if (exitCode !== null || !isProcessAlive(owner)) continue
    for (const step of skillState(store.log.each(id))?.steps ?? [])
      if (step.end === null) found.set(step.taskId, id)
  }
  return found
}

async function showTask(wiring: Wiring, id: string): Promise<ShownTask> {
  const folder = await taskFolder(wiring)
  const { task, path } = withTypedId(id, () => readTaskFile(folder, id))
  const store = await wiring.existingStore()
  return { task, path, executions: store === null ? [] : executionsOf(store, id) }
}

async function resetTask(
  wiring: Wiring,
  id: string,
  reason: string,
): Promise<{ readonly sessionId: string }> {
  const folder = await taskFolder(wiring)
  withTypedId(id, () => readTaskFile(folder, id))
  const store = await wiring.store()
  const holder = liveTasks(store).get(id)
  if (holder !== undefined)
    throw refused(
      id,
      `session ${holder} works on it`,
      `\`acode session show ${holder}\` shows it; stop its process first`,
    )
  const { values } = await wiring.config()
  using session = await newSkillSession(wiring, {
    goal: `reset ${id}: ${oneLine(reason, 200)}`,
    stepCount: 1,
    takeCalls: () => ({}),
    mayOverwrite: false,
    settings: { mode: values.mode.default, server: null },
    onEvent: () => undefined,
    notice: () => undefined,
    onBusy: () => undefined,
  })
  try {
    await session.workspace.reset(id, { by: userName(), reason })
  } catch (error) {
    if (error instanceof ExecutionError) throw refused(id, error.message, listHint)
    throw error
  }
  session.finish({
    state: "COMPLETED",
    reason: `${id} was set back to pending`,
    exitCode: exitCodes.done.code,
    code: null,
  })
  return { sessionId: session.id }
}

const listHint = "`acode agent list` shows all tasks"

function withTypedId<Value>(id: string, read: () => Value): Value {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof ExecutionError)) throw error
    const isUnknown = error.code === "TASK_NOT_FOUND"
    throw refused(id, error.message, listHint, isUnknown ? "usage" : "general")
  }
}

function refused(id: string, message: string, hint: string, kind: "usage" | "general" = "general"): Failure {
  return new Failure({ kind, code: "ACODE-SKILL-002", message, where: oneLine(id, 140), hint })
}

const pipelineBytesMax = 1_000_000
/** Enough for the largest number of steps, each with all its keys. */
const pipelineKeysMax = 5_000
const problemsMax = 50

/** Reads a pipeline, YAML or JSON. Throws ACODE-SKILL-004 with every problem and its place. */
async function readPipelineFile(wiring: Wiring, path: string): Promise<PipelineFile> {
  const file = { path, flag: null }
  const text = givenText(file, readGivenFile(file, pipelineBytesMax))
  const read = readYaml(text, { keysMax: pipelineKeysMax })
  if ("problems" in read)
    throw invalid(
      path,
      read.problems.map(({ line, column, message }) => `line ${line}, column ${column}: ${message}`),
    )
  const { value, placeOf } = read.tree
  const reading = readPipeline(value)
  const problems =
    "problems" in reading ? reading.problems : skillProblems(reading.pipeline, await skillPlacesOf(wiring))
  if ("pipeline" in reading && problems.length === 0) return reading.pipeline
  throw invalid(
    path,
    problems
      .map(({ path: at, message }) => ({
        ...placeOf(at, "value"),
        what: `${at.join(".")} ${message}`.trim(),
      }))
      .toSorted((one, other) => one.line - other.line || one.column - other.column)
      .map(({ line, column, what }) => `line ${line}, column ${column}: ${what}`),
  )
}

/** Skills that cannot be used are found before the first request is paid for. */
function skillProblems(
  { steps }: PipelineFile,
  places: Parameters<typeof findSkill>[0],
): readonly PipelineProblem[] {
  const names = new Set(steps.flatMap(step => namedSkills(step).map(({ name }) => name)))
  const problems = new Map([...names].map(name => [name, skillProblem(places, name)]))
  return steps.flatMap((step, index) =>
    namedSkills(step).flatMap(({ name, at }) => {
      const message = problems.get(name) ?? null
      return message === null ? [] : [{ path: ["steps", index, ...at], message }]
    }),
  )
}

function skillProblem(places: Parameters<typeof findSkill>[0], name: string): string | null {
  const found = findSkill(places, name)
  if (found === null) return `is not a skill that is found here: ${name}`
  const { problem } = listedSkill(found, false)
  return problem === null ? null : `cannot be used: ${problem}`
}

function namedSkills(step: PipelineFile["steps"][number]) {
  if (step.type === "sequential") return [{ name: step.skill, at: ["skill"] }]
  if (step.type === "parallel") return step.skills.map((name, index) => ({ name, at: ["skills", index] }))
  return step.reviewer === director ? [] : [{ name: step.reviewer, at: ["reviewer"] }]
}

function invalid(path: string, problems: readonly string[]): Failure {
  const shown = problems.slice(0, problemsMax)
  if (problems.length > shown.length) shown.push(`and ${problems.length - shown.length} more`)
  return new Failure({
    kind: "usage",
    code: "ACODE-SKILL-004",
    message: `the pipeline is not valid:\n${shown.map(line => `  ${line}`).join("\n")}`,
    where: shownPath(path),
    hint: "correct what is named; `acode schema pipeline` describes the format",
  })
}
