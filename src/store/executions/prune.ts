import type { z } from "zod"
import { canonicalJson } from "../../base/canonical.ts"
import type { Clock } from "../../base/clock.ts"
import { HistoryPruned } from "../../domain/events/command-events.ts"
import { newEvent } from "../../domain/events/definition.ts"
import { collectArtifacts, type UnreferencedArtifact } from "../artifacts/collection.ts"
import type { ExecutionPruning } from "../contract.ts"
import type { DatabaseConnection } from "../database/database.ts"
import { type NoteFailure, unlessChanged } from "../database/store-failures.ts"
import type { LogWriter } from "../log/event-log.ts"
import type { PreparedEvent } from "../log/event-preparation.ts"
import { finishedFields, startedFields } from "./execution-outcome.ts"

export interface PruneDeps {
  readonly connection: DatabaseConnection
  readonly log: LogWriter
  readonly note: NoteFailure
  readonly clock: Clock
  readonly artifactsDirectory: string
}

/** The remains of crashes are collected once no append can still be about to refer to them. */
const orphanGraceMs = 3_600_000

export function orphansBeforeMs(clock: Clock): number {
  return clock.now() - orphanGraceMs
}

/** Limits one tombstone event to about 64 KB, however much is removed at once. */
const tombstonesPerEvent = 500

/** Removes whole streams of finished executions: those that began before a position, those of one run, or all. */
export function pruneExecutions(
  deps: PruneDeps,
  filter: ExecutionPruning,
  reason: string,
): readonly string[] {
  const terms: [string, string | number | undefined][] = [
    ["run_id = ?", filter.runId],
    ["started_position < ?", filter.beforePosition],
  ]
  const used = terms.filter((term): term is [string, string | number] => term[1] !== undefined)
  // An execution inside a session belongs to the stream of the session and is removed with it.
  const where = ["finished_position IS NOT NULL", "stream = id", ...used.map(([sql]) => sql)].join(" AND ")
  return pruneStreams(deps, reason, ({ db }) =>
    executionsAmong(
      deps,
      db
        .query<{ stream: string }, (string | number)[]>(`SELECT stream FROM executions WHERE ${where}`)
        .all(...used.map(([, value]) => value))
        .map(row => row.stream)
        .filter(stream => filter.ids?.has(stream) ?? true),
    ),
  )
}

/**
 * Returns the streams that consist of one execution from its start to its end, according to their events. Leaves out a
 * stream that was changed: a tombstone would hide the change.
 */
export function executionsAmong({ log, note }: PruneDeps, streams: readonly string[]): readonly string[] {
  return streams.filter(stream => {
    const [start, end, ...others] = unlessChanged(note, () => log.read(stream)) ?? []
    if (start === undefined || end === undefined || others.length > 0) return false
    const ids = [startedFields(start)?.executionId, finishedFields(end)?.executionId]
    return ids.every(id => id === stream)
  })
}

/**
 * Removes the streams that `choose` returns, and their rows in all tables. The choice, the tombstone and the removal
 * are one commit. Returns the removed streams, sorted.
 */
export function pruneStreams(
  deps: PruneDeps,
  reason: string,
  choose: (connection: DatabaseConnection) => readonly string[],
): readonly string[] {
  const { connection } = deps
  const removed = connection.transaction("prune", () => removeStreams(deps, choose(connection), reason))
  collectArtifacts(connection, deps.artifactsDirectory, removed.unreferenced, orphansBeforeMs(deps.clock))
  return removed.ids
}

interface Removed {
  readonly ids: readonly string[]
  readonly unreferenced: readonly UnreferencedArtifact[]
}

/** Removes streams and leaves tombstones. The caller holds a transaction. */
export function removeStreams(deps: PruneDeps, streams: readonly string[], reason: string): Removed {
  const { db } = deps.connection
  const ids = [...streams].sort()
  if (ids.length === 0) return { ids, unreferenced: [] }
  for (const id of ids) db.query("INSERT OR IGNORE INTO pruning (stream) VALUES (?)").run(id)
  writeTombstones(deps, reason)
  const unreferenced = db
    .query<{ ref: string; at: string }, []>(
      `SELECT ref, max(at) AS at FROM artifact_references JOIN events USING (position)
       JOIN pruning USING (stream) GROUP BY ref`,
    )
    .all()
    .map(({ ref, at }) => ({ ref, referencedAtMs: Date.parse(at) }))
  for (const sql of removals) db.query(sql).run()
  return { ids, unreferenced }
}

const pruned = "(SELECT stream FROM pruning)"
const prunedEvidence = `(SELECT position FROM evidence WHERE session_id IN ${pruned})`

/** Deletes everything that is computed from the events of these streams, then the events themselves. */
const removals: readonly string[] = [
  `DELETE FROM artifact_references WHERE position IN (SELECT position FROM events JOIN pruning USING (stream))`,
  `DELETE FROM executions WHERE stream IN ${pruned}`,
  `DELETE FROM evidence_files WHERE position IN ${prunedEvidence}`,
  `DELETE FROM evidence_diagnostics WHERE position IN ${prunedEvidence}`,
  `DELETE FROM evidence WHERE session_id IN ${pruned}`,
  `DELETE FROM approvals WHERE session_id IN ${pruned}`,
  `DELETE FROM sessions WHERE id IN ${pruned}`,
  `DELETE FROM leases WHERE stream IN ${pruned}`,
  `DELETE FROM events WHERE stream IN ${pruned}`,
  "DELETE FROM pruning",
]

interface Tombstone {
  readonly stream: string
  readonly position: number
  readonly hash: string
}

function writeTombstones(deps: PruneDeps, reason: string): void {
  const tombstones = deps.connection.db
    .query<Tombstone, []>(
      "SELECT stream, position, hash FROM events JOIN pruning USING (stream) ORDER BY stream, seq",
    )
    .all()
  const events = chunksOf(tombstones, tombstonesPerEvent).map(chunk =>
    tombstoneEvent(redactedReason(deps.log, reason), byStream(chunk)),
  )
  // A new stream that no other process knows needs no lease.
  deps.log.write(`prn_${Bun.randomUUIDv7()}`, 0, 1, events)
}

type Streams = z.infer<typeof HistoryPruned.data>["streams"]

/**
 * Returns a tombstone event without redacting it: ids, positions and hashes are acode's own, and if one of them were
 * replaced the chain would never verify again.
 */
function tombstoneEvent(reason: string, streams: Streams): PreparedEvent {
  const data = { reason, streams }
  return { type: HistoryPruned.type, version: HistoryPruned.version, data, text: canonicalJson(data) }
}

function redactedReason(log: LogWriter, reason: string): string {
  const [event] = log.prepare([newEvent(HistoryPruned, { reason, streams: [] })])
  return HistoryPruned.data.parse(event?.data).reason
}

function byStream(tombstones: readonly Tombstone[]): Streams {
  const streams = new Map<string, { position: number; hash: string }[]>()
  for (const { stream, position, hash } of tombstones) {
    const events = streams.get(stream) ?? []
    events.push({ position, hash })
    streams.set(stream, events)
  }
  return [...streams].map(([stream, events]) => ({ stream, events }))
}

function chunksOf<Item>(items: readonly Item[], size: number): readonly (readonly Item[])[] {
  const count = Math.ceil(items.length / size)
  return Array.from({ length: count }, (_, index) => items.slice(index * size, (index + 1) * size))
}
