import { sha256Hex } from "../base/canonical.ts"
import { ExecutionError } from "../domain/skill/execution-error.ts"
import {
  isTaskId,
  type Task,
  type TaskPriority,
  type TaskStatus,
  taskPriorities,
  taskStatuses,
} from "../domain/task.ts"
import { readTaskFile, type TaskFolder } from "./task-folder.ts"

/** The fields of a task that a list shows. */
export interface TaskSummary {
  readonly status: TaskStatus
  readonly priority: TaskPriority
  /** The name of its skill. */
  readonly to: string
  /** The first characters of it, at most `goalCharactersMax`. */
  readonly goal: string
  readonly updatedAt: string
}

/** One file of the folder: a summary, or why the file is not a task. */
export type TaskRow = { readonly id: string } & (
  | { readonly summary: TaskSummary; readonly problem: null }
  | { readonly summary: null; readonly problem: string }
)

/** Keeps one text between two lists. Losing it costs time and nothing else. */
export interface KeptText {
  read(): string | null
  write(text: string): void
}

/**
 * Lists the tasks of a folder by id. Only files that changed since the last list are read: a row is kept with the
 * identity of the file it was read from, and used as long as the file has that identity.
 */
export function listTaskRows(folder: TaskFolder, kept: KeptText): readonly TaskRow[] {
  const directory = `${folder.prefix}tasks`
  if (folder.workspace.locate(directory).kind !== "directory") return []
  const known = knownRows(kept.read(), directory)
  const used: KeptRow[] = []
  let isChanged = false
  const rows = folder.workspace.stamps(directory).flatMap(({ name, identity, isSettled }) => {
    const id = name.endsWith(".md") ? name.slice(0, -".md".length) : ""
    if (!isTaskId(id)) return []
    const before = known.get(id)
    if (before?.[1] === identity) {
      used.push(before)
      return [rowOf(before)]
    }
    const row = readRow(folder, id)
    isChanged = true
    if (isSettled) used.push(keptRow(row, identity))
    return [row]
  })
  const isWorthKeeping = isChanged || used.length !== known.size
  if (isWorthKeeping && rows.length >= keptFrom) kept.write(keptText(directory, used))
  return rows
}

/** The number of files up to which reading them costs less than a cache. */
const keptFrom = 100
const goalCharactersMax = 200

function readRow(folder: TaskFolder, id: string): TaskRow {
  try {
    return { id, summary: summaryOf(readTaskFile(folder, id).task), problem: null }
  } catch (error) {
    if (!(error instanceof ExecutionError)) throw error
    return { id, summary: null, problem: error.message }
  }
}

function summaryOf({ status, priority, to, goal, updatedAt }: Task): TaskSummary {
  return { status, priority, to, goal: goal.slice(0, goalCharactersMax), updatedAt }
}

/** Id, identity and summary; or id, identity and problem. */
type KeptRow =
  | readonly [string, string, TaskStatus, TaskPriority, string, string, string]
  | readonly [string, string, string]

function keptRow({ id, summary, problem }: TaskRow, identity: string): KeptRow {
  if (summary === null) return [id, identity, problem]
  const { status, priority, to, goal, updatedAt } = summary
  return [id, identity, status, priority, to, goal, updatedAt]
}

function rowOf(row: KeptRow): TaskRow {
  if (row.length === 3) return { id: row[0], summary: null, problem: row[2] }
  const [id, , status, priority, to, goal, updatedAt] = row
  return { id, summary: { status, priority, to, goal, updatedAt }, problem: null }
}

/** Another format, or another reader of tasks, has another number. */
const keptFormat = 1

function keptText(directory: string, rows: readonly KeptRow[]): string {
  const body = JSON.stringify({ format: keptFormat, directory, rows })
  return `${sha256Hex(body)}\n${body}`
}

/** Returns the rows by id; none where the text is not whole, is of another folder, or does not hold rows. */
function knownRows(text: string | null, directory: string): ReadonlyMap<string, KeptRow> {
  const body = text?.slice(65) ?? ""
  if (text === null || sha256Hex(body) !== text.slice(0, 64)) return new Map()
  try {
    const kept: unknown = JSON.parse(body)
    if (!isRecord(kept) || kept["format"] !== keptFormat || kept["directory"] !== directory) return new Map()
    const rows: unknown = kept["rows"]
    if (!Array.isArray(rows) || !rows.every(isKeptRow)) return new Map()
    return new Map(rows.map(row => [row[0], row]))
  } catch {
    // Not JSON: every file is read again.
    return new Map()
  }
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null
}

function isKeptRow(row: unknown): row is KeptRow {
  if (!Array.isArray(row) || !row.every(value => typeof value === "string")) return false
  if (row.length === 3) return true
  return row.length === 7 && statuses.has(row[2] ?? "") && priorities.has(row[3] ?? "")
}

const statuses: ReadonlySet<string> = new Set(taskStatuses)
const priorities: ReadonlySet<string> = new Set(taskPriorities)
