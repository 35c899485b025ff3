import type { Json } from "../../base/canonical.ts"
import { PlanProposed } from "../../domain/events/pipeline-events.ts"
import { SessionStarted } from "../../domain/events/session-events.ts"
import type { ArtifactStore } from "../contract.ts"
import type { DatabaseConnection } from "../database/database.ts"
import { matchingIds, readRow, timeRange } from "../database/table-projection.ts"
import { type EventReader, fieldsOf } from "../log/event-rows.ts"
import { jsonOf } from "../log/recorded-values.ts"
import type {
  CodeAlias,
  EvidenceDetails,
  EvidenceFix,
  EvidenceHistory,
  EvidenceRange,
  RecurringDiagnostic,
} from "./contract.ts"
import {
  callsByCode,
  callsByFile,
  callsByTool,
  type EvidenceReading,
  failedCalls,
  lastCallOf,
  recordedCall,
  toEvidence,
} from "./evidence-queries.ts"
import { type CallRow, evidenceTable, pathsOf, type SettledFields } from "./evidence-rows.ts"

export function createEvidence(reading: EvidenceReading, artifacts: ArtifactStore): EvidenceHistory {
  const { connection } = reading
  const read = connection.snapshot
  return {
    byTool: (tool, range) => read(() => callsByTool(reading, tool, range)),
    failures: (tool, range) => read(() => failedCalls(reading, tool, range)),
    byCode: (code, range) => read(() => callsByCode(reading, code, range)),
    byFile: (path, range) => read(() => callsByFile(reading, path, range)),
    show: id => read(() => showEvidence(reading, artifacts, id)),
    matching: typed => read(() => matchingIds(connection, evidenceTable, typed)),
    latest: path => read(() => lastCallOf(reading, path)),
    recurring: (threshold, range) => read(() => recurringDiagnostics(connection, threshold, range)),
    fixes: (code, range, alias = null) => read(() => fixesOf(connection, code, range, alias)),
  }
}

type EvidenceArtifact = EvidenceDetails["artifacts"][number]

/** Returns a complete call: its row, its arguments, and everything that it returned. */
function showEvidence(
  { connection, log }: EvidenceReading,
  artifacts: ArtifactStore,
  id: string,
): EvidenceDetails | null {
  const row = readRow<CallRow>(connection, evidenceTable, id)
  if (row === null) return null
  const { requested, settled } = recordedCall(log, row)
  return {
    ...toEvidence(row),
    arguments: jsonOf(requested.arguments, artifacts),
    paths: settled === null ? [] : pathsOf(settled),
    artifacts: [
      ...(settled === null ? [] : outcomeArtifacts(settled, artifacts)),
      ...stepContext(row, reasonOf(log, artifacts, row)),
    ],
  }
}

function outcomeArtifacts(settled: SettledFields, artifacts: ArtifactStore): readonly EvidenceArtifact[] {
  const diagnostics =
    settled.diagnostics.length === 0 ? [] : [{ kind: "diagnostics", content: settled.diagnostics }]
  if (settled.result === null) return diagnostics
  const result = jsonOf(settled.result, artifacts)
  return [{ kind: "result", content: result }, ...outputs(result), ...diagnostics]
}

/** Returns what a command printed, from its result. */
function outputs(result: Json): readonly EvidenceArtifact[] {
  if (result === null || typeof result !== "object") return []
  const members = new Map(Object.entries(result))
  return ["stdout", "stderr"].flatMap(kind => {
    const content = members.get(kind)
    return typeof content === "string" ? [{ kind, content }] : []
  })
}

function stepContext(row: CallRow, reason: Reason | null): readonly EvidenceArtifact[] {
  const { plan_id, plan_hash, task_id, step_id, step_key } = row
  if (plan_id === null && step_id === null) return []
  return [{ kind: "step_context", content: { plan_id, plan_hash, task_id, step_id, step_key, ...reason } }]
}

/** The purpose of a plan: the request of a person, the intent of the plan, and the evidence that it cites. */
type Reason = { readonly [name in "goal" | "intent" | "evidence_referenced"]: Json }

/** Returns the purpose of the plan of a call; null if the call has no plan, or its record lacks the purpose. */
function reasonOf(log: EventReader, artifacts: ArtifactStore, row: CallRow): Reason | null {
  if (row.plan_hash === null) return null
  let goal = ""
  for (const event of log.each(row.session_id)) {
    const started = fieldsOf(SessionStarted, event)
    if (started?.planHash === row.plan_hash && started.intent !== undefined)
      return {
        goal: started.goal,
        intent: started.intent,
        evidence_referenced: [...(started.evidenceReferenced ?? [])],
      }
    goal = started?.goal ?? goal
    const proposed = fieldsOf(PlanProposed, event)
    if (proposed?.planHash !== row.plan_hash) continue
    const plan = jsonOf(proposed.plan, artifacts)
    if (typeof plan !== "object" || plan === null) return null
    const { intent = null, evidence_referenced = [] } = Object.fromEntries(Object.entries(plan))
    return { goal, intent, evidence_referenced }
  }
  return null
}

interface RecurringCode {
  readonly code: string
  readonly count: number
  readonly firstSeen: string
  readonly lastSeen: string
}

/** Counts calls, so that a compiler run that repeats a diagnostic thirty times counts once. */
function recurringDiagnostics(
  connection: DatabaseConnection,
  threshold: number,
  range: EvidenceRange,
): readonly RecurringDiagnostic[] {
  const { since, until } = timeRange(range)
  return connection.db
    .query<RecurringCode, [string, string, number, number]>(
      `SELECT code, count(*) AS count, min(at) AS firstSeen, max(at) AS lastSeen
       FROM evidence_diagnostics WHERE is_first = 1 AND at >= ? AND at < ?
       GROUP BY code HAVING count(*) >= ? ORDER BY count DESC, code LIMIT ?`,
    )
    .all(since, until, threshold, range.limit ?? -1)
    .map(recurring => ({ ...recurring, ids: idsOf(connection, recurring.code, since, until) }))
}

function idsOf(
  connection: DatabaseConnection,
  code: string,
  since: string,
  until: string,
): readonly string[] {
  return connection.db
    .query<{ call_id: string }, [string, string, string]>(
      `SELECT call_id FROM evidence_diagnostics WHERE is_first = 1 AND code = ? AND at >= ? AND at < ?
       ORDER BY at, position`,
    )
    .all(code, since, until)
    .map(row => row.call_id)
}

interface Fix {
  readonly diagnosticId: string
  readonly diagnosticAt: string
  readonly fixId: string
  readonly fixAt: string
  readonly file: string
  readonly tool: string
}

/**
 * Returns each change once, with the last diagnostic of this code that the file had before it. This shows only the
 * order: whether the change fixed anything is unknown.
 */
function fixesOf(
  connection: DatabaseConnection,
  code: string,
  range: EvidenceRange,
  alias: CodeAlias | null,
): readonly EvidenceFix[] {
  const { since, until } = timeRange(range)
  const values = [code, since, until, range.limit ?? -1]
  const { db } = connection
  const found =
    alias === null
      ? db.query<Fix, (string | number)[]>(fixesSql(ofCode)).all(...values)
      : db.query<Fix, (string | number | null)[]>(fixesSql(ofAlias)).all(...values, ...aliasValues(alias))
  return found.map(({ diagnosticAt, fixAt, ...fix }) => ({
    ...fix,
    temporalGapMs: Date.parse(fixAt) - Date.parse(diagnosticAt),
  }))
}

function aliasValues({ code, tools, isConfirmation }: CodeAlias) {
  return [code, tools === null ? null : JSON.stringify([...tools]), isConfirmation ? 1 : 0]
}

const ofCode = (diagnostics: string) => `${diagnostics}.code = ?1`

/** Matches another code as well, in the calls that the alias is about. */
const ofAlias = (
  diagnostics: string,
) => `${diagnostics}.code IN (?1, ?5) AND (${diagnostics}.code = ?1 OR EXISTS (
    SELECT 1 FROM evidence AS of_call WHERE of_call.position = ${diagnostics}.position
      AND (?6 IS NULL OR of_call.tool IN (SELECT value FROM json_each(?6)))
      AND (?7 = 0 OR of_call.step_key IS NOT NULL)))`

/**
 * The loops are nested in the order of the result: nothing is sorted, and a limit ends the query early. A plus keeps
 * SQLite from using a term for the search, so that the next diagnostic bounds it and not the end of the range.
 */
const fixesSql = (isMeant: (diagnostics: string) => string) => `
  SELECT d.call_id AS diagnosticId, d.at AS diagnosticAt, fix.id AS fixId, f.at AS fixAt, f.path AS file,
    coalesce(fix.canonical_tool, fix.tool) AS tool
  FROM evidence_diagnostics AS d
  CROSS JOIN evidence_files AS f ON f.path = d.file_name
  CROSS JOIN evidence AS fix ON fix.position = f.position
  WHERE ${isMeant("d")} AND d.at < ?3 AND f.at >= max(?2, d.at)
    AND f.at <= coalesce(
      (SELECT min(later.at) FROM evidence_diagnostics AS later
       WHERE ${isMeant("later")} AND later.file_name = d.file_name AND later.at > d.at), ?3)
    AND +f.at < ?3 AND (+f.at, f.position) > (d.at, d.position)
    AND NOT EXISTS (
      SELECT 1 FROM evidence_diagnostics AS later
      WHERE ${isMeant("later")} AND later.file_name = d.file_name AND later.at >= d.at AND later.at <= f.at
        AND (later.at, later.position) > (d.at, d.position)
        AND (later.at, later.position) < (f.at, f.position)
    )
    AND f.changed = 1 AND fix.status = 'succeeded'
  ORDER BY d.at, d.position, d.file_name, f.at, f.position LIMIT ?4`
