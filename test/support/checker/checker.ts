import { Database } from "bun:sqlite"
import { existsSync, lstatSync, readdirSync } from "node:fs"
import { join } from "node:path"
import { noteSeen } from "../declared/seen.ts"
import { taggedProcesses } from "../processes.ts"
import type { TempWorkspace } from "../workspace/temp-workspace.ts"
import { artifactViolations } from "./checker-artifacts.ts"
import { chainViolations, type LogRow, readLog } from "./checker-log.ts"
import { pipelineViolations } from "./checker-pipeline.ts"
import { projectionViolations } from "./checker-projection.ts"
import { secretViolations } from "./checker-secrets.ts"
import { approvalViolations, planViolations, sessionViolations } from "./checker-sessions.ts"
import { tableViolations } from "./checker-tables.ts"

export interface CheckOptions {
  /** Texts that may occur nowhere in what acode keeps. */
  readonly secrets?: readonly string[]
}

/**
 * Checks everything that must be true of a workspace when no acode runs in it and one has started and ended since,
 * whatever happened before. Reads the files themselves instead of asking the product, so that a bug of the product
 * cannot hide itself. Returns one line for each violation.
 */
export async function check(workspace: TempWorkspace, options: CheckOptions = {}): Promise<string[]> {
  const agent = workspace.state()
  const violations = [
    ...(await secretViolations([agent, workspace.dataHome], options.secrets ?? [])),
    ...maskResidue(workspace.root),
  ]
  const path = join(agent, "workspace.db")
  if (!existsSync(path)) return violations
  using database = new Database(path)
  database.run("PRAGMA busy_timeout = 10000")
  const log = readLog(database)
  for (const { type } of log) noteSeen("event", type)
  return [
    ...violations,
    ...integrityViolations(database),
    ...chainViolations(database, log, join(workspace.dataHome, "acode", "keys")),
    ...endingViolations(log),
    ...sessionViolations(log),
    ...approvalViolations(log),
    ...planViolations(log),
    ...pipelineViolations(log),
    ...projectionViolations(database, log),
    ...tableViolations(database, log),
    ...artifactViolations(join(agent, "artifacts"), log),
    ...survivors(log),
  ]
}

function integrityViolations(database: Database): string[] {
  return database
    .query<{ integrity_check: string }, []>("PRAGMA integrity_check")
    .all()
    .map(row => row.integrity_check)
    .filter(answer => answer !== "ok")
    .map(answer => `I6 the database file: ${answer}`)
}

/** I1: an intent has exactly one outcome, and no outcome comes without its intent. */
function endingViolations(log: readonly LogRow[]): string[] {
  const ids = (type: string) =>
    log.filter(row => row.type === type).map(row => String(row.parsed["executionId"] ?? "nobody"))
  const [started, finished] = [ids("command.started"), ids("command.finished")]
  const times = (id: string, of: readonly string[]) => of.filter(other => other === id).length
  return [...new Set([...started, ...finished])]
    .filter(id => times(id, started) !== 1 || times(id, finished) !== 1)
    .map(id => `I1 ${id} started ${times(id, started)} times and finished ${times(id, finished)} times`)
}

/** I9: nothing of an execution outlives it. */
function survivors(log: readonly LogRow[]): string[] {
  const started = log.filter(row => row.type === "command.started")
  const ids = new Set(started.map(row => String(row.parsed["executionId"])))
  return taggedProcesses()
    .filter(live => [...ids].some(id => live.environment.includes(id)))
    .map(live => `I9 process ${live.pid} is left: ${live.commandLine}`)
}

/** Names a sandbox masks when they are missing. Empty, and made by no test: what a mask left behind. */
const maskedNames =
  /^\.(git|gitmodules|gitconfig|env|npmrc|yarnrc|vscode|idea|cursor|claude|codex|gemini|agents|husky)$/

/** I9: a mask over a missing path leaves an empty file or directory on the host, which has to go. */
function maskResidue(root: string): string[] {
  return readdirSync(root)
    .filter(name => maskedNames.test(name))
    .filter(name => {
      const stats = lstatSync(join(root, name))
      return stats.isDirectory() ? readdirSync(join(root, name)).length === 0 : stats.size === 0
    })
    .map(name => `I9 a mask left an empty ${name} in the workspace`)
}
