import { counted } from "../base/text.ts"
import type { PipelinePlan } from "../domain/events/skill-events.ts"
import { type ExitCode, exitCodes } from "../domain/exit-codes.ts"
import { ExecutionError, executionErrors } from "../domain/skill/execution-error.ts"
import { derivedPath } from "../domain/skill/output-path.ts"
import { isRunnable, type Task } from "../domain/task.ts"
import type { ExecutionResult } from "./contract.ts"
import type { RecordedParts } from "./recorded-claim.ts"
import type { RecordedWorkspace } from "./recorded-workspace.ts"
import { readInputFile, readTaskFile, type TaskFolder } from "./task-folder.ts"

export interface PipelineParts {
  readonly plan: PipelinePlan
  readonly workspace: RecordedWorkspace
  readonly folder: TaskFolder
  readonly planOf: RecordedParts["planOf"]
  readonly skill: RecordedParts["skill"]
  /** Executes a task; never throws. */
  readonly execute: (task: Task, signal: AbortSignal) => Promise<ExecutionResult>
  /** Reviews the output of a task; never throws. */
  readonly review: (task: Task, reviewer: string, signal: AbortSignal) => Promise<ExecutionResult>
  readonly onResult: (result: ExecutionResult) => void
  readonly signal: AbortSignal
}

export interface PipelineEnd {
  readonly state: "COMPLETED" | "FAILED" | "CANCELLED"
  readonly reason: string
  readonly exitCode: ExitCode
}

/**
 * Takes a pipeline from wherever it stands to its end. What a step has to do follows from the files of its tasks, so
 * that a process which resumes it does nothing a second time.
 */
export async function runPipeline(parts: PipelineParts): Promise<PipelineEnd> {
  try {
    return await carrySteps(parts)
  } catch (error) {
    return endBy(parts, "", error)
  }
}

async function carrySteps(parts: PipelineParts): Promise<PipelineEnd> {
  const { plan, signal } = parts
  let inputs: Task["inputs"] = plan.inputs
  for (const step of plan.steps) {
    const tasks = step.tasks.map(task => ({
      ...task,
      requirements: step.requirements,
      inputs,
    }))
    for (const task of tasks) await ensureTask(parts, task)
    const failed = await carryOut(
      parts,
      step,
      tasks.map(({ id }) => id),
    )
    if (failed !== null) return failed
    if (signal.aborted) return cancelled
    inputs = step.tasks.map(({ id, skill }) => {
      const { task } = readTaskFile(parts.folder, id)
      return { path: task.output.path, description: `the output of ${skill}` }
    })
    const missing = inputs.find(({ path }) => isEmpty(parts.folder, path))
    if (missing !== undefined)
      return failure(`${missing.path} is missing or empty`, exitCodes.stepFailed.code)
  }
  return {
    state: "COMPLETED",
    reason: `${counted(plan.steps.flatMap(({ tasks }) => tasks).length, "task")} completed`,
    exitCode: exitCodes.done.code,
  }
}

const cancelled: PipelineEnd = {
  state: "CANCELLED",
  reason: "interrupted",
  exitCode: exitCodes.interrupted.code,
}

function failure(reason: string, exitCode: ExitCode): PipelineEnd {
  return { state: "FAILED", reason, exitCode }
}

/** A file that cannot be read or written ends a pipeline; anything else that is thrown is a bug. */
function endBy({ signal }: PipelineParts, id: string, thrown: unknown): PipelineEnd {
  if (!(thrown instanceof ExecutionError)) throw thrown
  return signal.aborted ? cancelled : failureOf(id === "" ? thrown.taskId : id, { error: thrown })
}

interface PlannedTask {
  readonly id: string
  readonly skill: string
  readonly requirements: string
  readonly inputs: Task["inputs"]
}

/** Writes the file of a task unless it is there. */
async function ensureTask(
  parts: PipelineParts,
  { id, skill, requirements, inputs }: PlannedTask,
): Promise<void> {
  const { plan, workspace, signal } = parts
  const now = workspace.now()
  const path = derivedPath({ id, to: skill }, parts.planOf(skill, contentOf(parts, skill, id)))
  const task: Task = {
    id,
    status: "pending",
    priority: plan.priority,
    from: `pipeline ${plan.pipelineId}`,
    to: skill,
    createdAt: now,
    updatedAt: now,
    deadline: null,
    goalId: null,
    pipelineId: plan.pipelineId,
    revisionCount: 0,
    goal: plan.goal,
    inputs,
    requirements,
    tags: [],
    metadata: {},
    output: { path: path ?? `outputs/${skill}/${id}.md`, format: "markdown" },
    next: { type: "pipeline_continue", pipelineId: plan.pipelineId },
  }
  await workspace.createTask(task, signal)
}

function contentOf({ skill }: PipelineParts, name: string, taskId: string) {
  try {
    return skill(name, taskId)
  } catch (error) {
    // The task fails for it once it is executed.
    if (error instanceof ExecutionError) return null
    throw error
  }
}

/** Executes and reviews the tasks of a step until each is as it has to be. Null when all went well. */
async function carryOut(
  parts: PipelineParts,
  step: PipelinePlan["steps"][number],
  ids: readonly string[],
): Promise<PipelineEnd | null> {
  const stop = new AbortController()
  const signal = AbortSignal.any([parts.signal, stop.signal])
  const waiting = [...ids]
  let first: PipelineEnd | null = null
  const lane = async () => {
    for (let id = waiting.shift(); id !== undefined && !signal.aborted; id = waiting.shift()) {
      const ended = await finishTask(parts, id, step.reviewer, signal).catch(error => endBy(parts, id, error))
      if (ended === null || first !== null) continue
      first = ended
      // The others stop: their outputs would not be used.
      stop.abort()
    }
  }
  await Promise.all(Array.from({ length: Math.min(parts.plan.limits.parallelMax, ids.length) }, lane))
  return parts.signal.aborted ? cancelled : first
}

async function finishTask(
  parts: PipelineParts,
  id: string,
  reviewer: string | null,
  signal: AbortSignal,
): Promise<PipelineEnd | null> {
  for (let invalidReviews = 0; ; ) {
    const { task } = readTaskFile(parts.folder, id)
    // A review that a dead process began is finished first: it does not count for the next output.
    if (reviewer !== null && parts.workspace.hasOpenReview(id)) {
      const result = await parts.review(task, reviewer, signal)
      if (result.status !== "completed") return failureOf(id, result)
      continue
    }
    // Also where its file says that it is completed: the record of that may be missing.
    if (isRunnable(task.status) || parts.workspace.isOpen(id)) {
      const result = await parts.execute({ ...task, status: "pending" }, signal)
      parts.onResult(result)
      if (result.status !== "completed") return failureOf(id, result)
      continue
    }
    if (task.status === "approved" || (task.status === "completed" && reviewer === null)) return null
    const rounds = parts.workspace.reviewRounds(id)
    if (task.status === "failed" && rounds > 0)
      return failure(`${id} was rejected; reviews/${id}-${rounds}.md says why`, 50)
    if (task.status !== "completed" || reviewer === null)
      return failure(`the status of ${id} is ${task.status}`, exitCodes.stepFailed.code)
    if (rounds > task.revisionCount)
      return failure(
        `${id} was not approved after ${counted(rounds, "review")}; reviews/${id}-${rounds}.md says why`,
        22,
      )
    const result = await parts.review(task, reviewer, signal)
    if (result.status === "completed") continue
    parts.onResult(result)
    invalidReviews += 1
    if (result.error?.code !== "API_ERROR" || invalidReviews >= reviewTriesMax) return failureOf(id, result)
  }
}

/** A reviewer that answers nothing that can be read is asked once more. */
const reviewTriesMax = 2

function failureOf(id: string, { error }: Pick<ExecutionResult, "error">): PipelineEnd {
  const code = error?.code ?? "UNKNOWN"
  return failure(`${id}: ${code}: ${error?.message ?? ""}`, executionErrors[code].exitCode)
}

function isEmpty(folder: TaskFolder, path: string): boolean {
  const text = readInputFile(folder, path, message => {
    throw new ExecutionError(message, "INPUT_NOT_FOUND", "")
  })
  return text === null || text.trim() === ""
}
