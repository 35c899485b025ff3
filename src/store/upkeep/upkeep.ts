import { type Clock, toIso } from "../../base/clock.ts"
import type { ProcessIdentity } from "../../domain/process-identity.ts"
import { sweepArtifacts } from "../artifact-collection.ts"
import { type Connection, guarded } from "../database.ts"
import { bootOnly } from "../process-identity.ts"
import type { KeptKind, ObservedTime, Upkeep } from "./contract.ts"
import { afterReading, firstRecord, observedTime, type TimeRecord, trusting } from "./observed-time.ts"
import { recordUses } from "./record-use.ts"
import { forecastRecords, pruneSessions, type SessionPruneParts } from "./session-prune.ts"
import { shrinkDatabase } from "./shrink.ts"

export interface UpkeepParts extends SessionPruneParts {
  readonly clock: Clock
  readonly self: ProcessIdentity
  readonly uptimeMs: () => number
}

export function createUpkeep(parts: UpkeepParts): Upkeep {
  const { connection } = parts
  return {
    time: () => observe(parts),
    note: () => {
      if (connection.snapshot(() => isDue(parts))) observe(parts)
    },
    trustClock: () => connection.transaction("time", () => save(parts, trusting(currentRecord(parts)))),
    firstPositionWithin: ageMs => {
      const { nowMs } = observe(parts)
      return connection.snapshot(() => firstWithin(parts, nowMs - ageMs, nowMs))
    },
    positionAt: timeMs => connection.snapshot(() => positionAt(parts, timeMs)),
    records: () => connection.snapshot(() => recordUses(connection, parts.artifactsDirectory)),
    ages: (kind, names) => connection.transaction("kept", () => agesOf(parts, kind, names)),
    pruneSessions: (ids, reason) => pruneSessions(parts, ids, reason),
    sweep: () =>
      guarded(parts.artifactsDirectory, () => sweepArtifacts(parts.artifactsDirectory, parts.liveness)),
    forecast: (sessions, executions) => forecastRecords(parts, sessions, executions),
    shrink: atMostBytes => shrinkDatabase(connection, atMostBytes),
  }
}

function observe(parts: UpkeepParts): ObservedTime {
  const { connection } = parts
  if (connection.readOnly) return observedTime(connection.snapshot(() => currentRecord(parts)))
  return connection.transaction("time", () => {
    const record = currentRecord(parts)
    save(parts, record)
    return observedTime(record)
  })
}

function isDue({ connection, self, uptimeMs }: UpkeepParts): boolean {
  const last = connection.db.query<TimeRecord, []>(selectRecord).get()
  return last?.bootId !== bootOnly(self.bootId) || Math.abs(uptimeMs() - last.uptimeMs) >= notedEveryMs
}

const notedEveryMs = 3_600_000

function currentRecord(parts: UpkeepParts): TimeRecord {
  const { connection, clock, self, uptimeMs } = parts
  const last = isMade(connection) ? connection.db.query<TimeRecord, []>(selectRecord).get() : null
  const reading = { bootId: bootOnly(self.bootId), uptimeMs: uptimeMs(), wallMs: clock.now() }
  return afterReading(last ?? firstRecord(lastEventMs(parts) ?? reading.wallMs), reading)
}

const selectRecord = `SELECT boot_id AS bootId, uptime_ms AS uptimeMs, wall_ms AS wallMs, aged_ms AS agedMs,
  offset_ms AS offsetMs, watched_since_ms AS watchedSinceMs, low_ms AS lowMs, high_ms AS highMs FROM observed_time`

/** A reader may have a database that no writer has brought forward yet. */
function isMade({ db }: Connection): boolean {
  return db.query("SELECT 1 FROM sqlite_schema WHERE name = 'observed_time'").get() !== null
}

function lastEventMs({ connection }: UpkeepParts): number | null {
  const last = connection.db
    .query<{ at: string }, []>("SELECT at FROM events ORDER BY position DESC LIMIT 1")
    .get()
  return last === null ? null : Date.parse(last.at)
}

function save({ connection }: UpkeepParts, record: TimeRecord): void {
  connection.db
    .query("INSERT OR REPLACE INTO observed_time VALUES (1, ?, ?, ?, ?, ?, ?, ?, ?)")
    .run(
      record.bootId,
      record.uptimeMs,
      record.wallMs,
      record.agedMs,
      record.offsetMs,
      record.watchedSinceMs,
      record.lowMs,
      record.highMs,
    )
}

/**
 * Events stand in the order in which they were recorded, whatever time they have. What is old has an event from before
 * the range behind it, or is one, and stands before every event within the range: one whose clock was ahead or behind
 * is neither, and as old as its neighbours.
 */
function firstWithin({ connection }: UpkeepParts, fromMs: number, toMs: number): number {
  const found = connection.db
    .query<{ first: number | null; last: number | null }, [string, string]>(
      `SELECT min(position) FILTER (WHERE at >= ?1 AND at <= ?2) AS first,
         max(position) FILTER (WHERE at < ?1) AS last FROM events`,
    )
    .get(toIso(fromMs), toIso(toMs))
  return Math.min(found?.first ?? Number.MAX_SAFE_INTEGER, (found?.last ?? 0) + 1)
}

function positionAt({ connection }: UpkeepParts, timeMs: number): number {
  return (
    connection.db
      .query<{ position: number | null }, [string]>(
        "SELECT max(position) AS position FROM events WHERE at <= ?",
      )
      .get(toIso(timeMs))?.position ?? 0
  )
}

function agesOf(parts: UpkeepParts, kind: KeptKind, names: readonly string[]): ReadonlyMap<string, number> {
  const { db } = parts.connection
  const record = currentRecord(parts)
  save(parts, record)
  const known = new Map(
    db
      .query<{ name: string; since: number }, [string]>(
        "SELECT name, since_ms AS since FROM kept WHERE kind = ?",
      )
      .all(kind)
      .map(({ name, since }) => [name, since]),
  )
  const ages = new Map<string, number>()
  for (const name of names) {
    const since = known.get(name)
    if (since === undefined) db.query("INSERT INTO kept VALUES (?, ?, ?)").run(kind, name, record.agedMs)
    ages.set(name, record.agedMs - (since ?? record.agedMs))
  }
  for (const name of known.keys())
    if (!ages.has(name)) db.query("DELETE FROM kept WHERE kind = ? AND name = ?").run(kind, name)
  return ages
}
