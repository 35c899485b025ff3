import { Failure } from "../domain/failure.ts"
import { ExecutionError } from "../domain/skill/execution-error.ts"
import { readTask } from "../domain/skill/task-text.ts"
import { isTaskId, type Task } from "../domain/task.ts"
import type { Workspace } from "../workspace/contract.ts"

/** The files of tasks, outputs and context, all below one folder of the workspace. */
export interface TaskFolder {
  /** The path from the root of the workspace to the folder; empty or with a slash at its end. */
  readonly prefix: string
  readonly workspace: Workspace
}

export interface TaskFile {
  readonly task: Task
  readonly text: string
  readonly sha256: string
  /** The path from the root of the workspace, as messages and policy name it. */
  readonly path: string
  /** The path with the symlinks above the file resolved; recorded changes name the file so. */
  readonly relative: string
}

/** Larger ones are no tasks, contexts or inputs that a model could read. */
const taskBytesMax = 1024 * 1024
const inputBytesMax = 16 * 1024 * 1024

function taskPath({ prefix }: TaskFolder, id: string): string {
  return `${prefix}tasks/${id}.md`
}

/** Returns whether the name of a task's file is taken. Throws a Failure for a folder that the workspace refuses. */
export function hasTaskFile(folder: TaskFolder, id: string): boolean {
  return folder.workspace.locate(taskPath(folder, id)).kind !== "missing"
}

/** Reads a task. Throws ExecutionError TASK_NOT_FOUND or TASK_INVALID. */
export function readTaskFile(folder: TaskFolder, id: string): TaskFile {
  if (!isTaskId(id))
    throw new ExecutionError(`${JSON.stringify(id)} is not the id of a task`, "TASK_NOT_FOUND", id)
  const path = taskPath(folder, id)
  const relative = taskLocation(folder, path, id)
  const read = readText(folder, path, taskBytesMax, message => {
    throw new ExecutionError(message, "TASK_INVALID", id)
  })
  if (read === null) throw new ExecutionError(`there is no ${path}`, "TASK_NOT_FOUND", id)
  const reading = readTask(read.text)
  if ("problems" in reading) {
    const problems = reading.problems.map(({ line, message }) => `line ${line}: ${message}`)
    throw new ExecutionError(`${path} is not a task: ${problems.join("; ")}`, "TASK_INVALID", id)
  }
  if (reading.task.id !== id)
    throw new ExecutionError(`${path} has the id ${reading.task.id}`, "TASK_INVALID", id)
  return { task: reading.task, path, relative, ...read }
}

/**
 * Returns where the file of a task is. The folder may be a symlink within the workspace, the file may not: lists show
 * regular files only, and two names of one file would be two tasks.
 */
function taskLocation({ prefix, workspace }: TaskFolder, path: string, id: string): string {
  try {
    const directory = workspace.locate(`${prefix}tasks`).relative
    const { relative, kind } = workspace.locate(path)
    if (kind !== "missing" && relative !== `${directory}/${id}.md`)
      throw new ExecutionError(`${path} is a symlink; put the file itself there`, "TASK_INVALID", id)
    return relative
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    throw new ExecutionError(error.report.message, "TASK_INVALID", id)
  }
}

/** Reads an input or a context; null where there is none. Throws what `refuse` throws for what cannot be read. */
export function readInputFile(
  folder: TaskFolder,
  path: string,
  refuse: (message: string) => never,
): string | null {
  return readText(folder, `${folder.prefix}${path}`, inputBytesMax, refuse)?.text ?? null
}

function readText(
  { workspace }: TaskFolder,
  path: string,
  bytesMax: number,
  refuse: (message: string) => never,
): Pick<TaskFile, "text" | "sha256"> | null {
  try {
    if (workspace.locate(path).kind === "missing") return null
    const { text, sha256 } = workspace.readText(path, bytesMax)
    return { text, sha256 }
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    return refuse(error.report.message)
  }
}
