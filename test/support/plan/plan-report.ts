import { Database } from "bun:sqlite"
import { existsSync } from "node:fs"
import { type LogRow, readLog } from "../checker/checker-log.ts"
import { type FileTree, type PathChange, readFileTree, treeChanges } from "../workspace/file-tree.ts"
import type { TempWorkspace } from "../workspace/temp-workspace.ts"
import { everyToolPlan } from "./every-tool-plan.ts"

/** The events of every session, oldest first. */
export function sessionRows(workspace: TempWorkspace): LogRow[] {
  return allRows(workspace).filter(row => row.stream.startsWith("ses_"))
}

/** Every event of the workspace, oldest first. */
export function allRows(workspace: TempWorkspace): LogRow[] {
  const path = workspace.state("workspace.db")
  if (!existsSync(path)) return []
  using database = new Database(path)
  // The very first acode may have died before it made the tables.
  if (database.query("SELECT 1 FROM sqlite_master WHERE name = 'events'").get() === null) return []
  return readLog(database)
}

/**
 * Everything the log says about the interrupted run, held against what is really there. The trees are those of the
 * plan: before its first step, after the first one, …
 */
export function reportViolations(workspace: TempWorkspace, trees = everyToolPlan.trees): string[] {
  const rows = sessionRows(workspace)
  const tree = readFileTree(workspace.root)
  const done = rows.filter(row => row.type === "step.finished" && row.parsed["success"] === true).length
  const settled = rows.filter(row => row.type === "tool_call.settled").map(settledOf)
  const interrupted = settled.filter(call => call.outcome === "interrupted")
  return [
    ...endViolations(rows, done === trees.length - 1),
    ...settled.slice(0, done).flatMap((call, index) => finishedViolations(call, trees, index)),
    ...(settled.length === done + interrupted.length ? [] : ["a call ended without its step"]),
    ...(interrupted.length > 1 ? ["more than one call was interrupted"] : []),
    ...(interrupted[0] === undefined
      ? differences("nothing was interrupted", treeOf(trees, done), tree)
      : interruptedViolations(interrupted[0], treeOf(trees, done), treeOf(trees, done + 1), tree)),
    ...twiceViolations(tree),
  ]
}

interface Settled {
  readonly outcome: string
  readonly certainty: string
  readonly executionId: string | null
  readonly changes: readonly PathChange[]
}

function settledOf({ parsed }: LogRow): Settled {
  const { outcome, certainty, executionId, changes } = parsed as unknown as Settled & {
    readonly changes: unknown
  }
  const { value = [] } = changes as unknown as { readonly value?: readonly PathChange[] }
  return { outcome, certainty, executionId, changes: [...value].sort((a, b) => (a.path < b.path ? -1 : 1)) }
}

function treeOf(trees: readonly FileTree[], index: number): FileTree {
  const tree = trees[index]
  if (tree === undefined) throw new Error(`the plan has no step ${index}`)
  return tree
}

/** One session at most, ended, with the exit code of an interruption: 60 where a command may have changed files. */
function endViolations(rows: readonly LogRow[], isComplete: boolean): string[] {
  const sessions = new Set(rows.map(row => row.stream))
  const ends = rows
    .filter(row => row.type === "session.finished")
    .map(({ parsed }) => `${parsed["state"]} ${parsed["exitCode"]}`)
  if (sessions.size === 0) return []
  if (sessions.size > 1) return [`${sessions.size} sessions for one run`]
  const interrupted = isUndecided(rows) ? "FAILED 60" : "FAILED 30"
  const allowed = isComplete ? ["COMPLETED 0", interrupted] : [interrupted]
  return ends.length === 1 && allowed.includes(ends[0] ?? "") ? [] : [`the session ended as ${ends}`]
}

/** Returns whether a file changed while a killed command ran, so that the author of the change is unknown. */
function isUndecided(rows: readonly LogRow[]): boolean {
  const commands = new Set(
    rows
      .filter(
        ({ type, parsed }) => type === "tool_call.started" && /run|once/.test(`${parsed["effectClass"]}`),
      )
      .map(({ parsed }) => parsed["callId"]),
  )
  return rows.some(({ type, parsed }) => {
    if (type !== "tool_call.settled" || parsed["outcome"] !== "interrupted") return false
    const hasChanged = parsed["certainty"] === "partly" || parsed["certainty"] === "unknown"
    return commands.has(parsed["callId"]) && hasChanged
  })
}

function finishedViolations(call: Settled, trees: readonly FileTree[], index: number): string[] {
  const expected = treeChanges(treeOf(trees, index), treeOf(trees, index + 1))
  const problem = call.outcome !== "succeeded" || call.certainty !== "done" || !isSame(call.changes, expected)
  return problem ? [`step ${index + 1} is reported as ${JSON.stringify(call)}`] : []
}

/** Checks that the report of the interrupted call names every change since before it, and no other. */
function interruptedViolations(call: Settled, before: FileTree, after: FileTree, now: FileTree): string[] {
  const real = treeChanges(before, now)
  const isWhole = treeChanges(now, after).length === 0
  const found: string[] = []
  if (!isSame(call.changes, real))
    found.push(`reported ${JSON.stringify(call.changes)}, but really ${JSON.stringify(real)}`)
  if (call.certainty === "notDone" && real.length > 0)
    found.push("reported as not done, but something changed")
  if (call.certainty === "done" && !isWhole) found.push("reported as done, but it is not")
  if (call.certainty === "partly" && real.length === 0)
    found.push("reported as done in part, but nothing changed")
  if (call.certainty === "unknown") found.push("reported as unknown, but it can be known")
  const strange = real.filter(({ path }) => !isBetween(path, before, after, now))
  return [...found, ...strange.map(({ path }) => `${path} is neither as before the step nor as after it`)]
}

/** A command can be cut in the middle of a file: then the beginning of its new content is there. */
function isBetween(path: string, before: FileTree, after: FileTree, now: FileTree): boolean {
  const [old, made, found] = [before.get(path), after.get(path), now.get(path)]
  if (found === undefined) return old === undefined || made === undefined
  return found.content === old?.content || (made?.content.startsWith(found.content) ?? false)
}

export function differences(what: string, expected: FileTree, tree: FileTree): string[] {
  const changes = treeChanges(expected, tree)
  return changes.length === 0 ? [] : [`${what}, but ${JSON.stringify(changes)}`]
}

function twiceViolations(tree: FileTree): string[] {
  const count = (tree.get("notes.txt")?.content.match(/^line$/gm) ?? []).length
  return count > 1 ? [`the command took effect ${count} times`] : []
}

function isSame(a: readonly PathChange[], b: readonly PathChange[]): boolean {
  const text = (changes: readonly PathChange[]) =>
    JSON.stringify(changes.map(({ path, before, after }) => [path, before, after]))
  return text(a) === text(b)
}
