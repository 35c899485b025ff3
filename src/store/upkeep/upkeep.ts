import { lstatSync } from "node:fs"
import { type Clock, toIso } from "../../base/clock.ts"
import { controlStreamOf } from "../../domain/events/pipeline-events.ts"
import { Failure } from "../../domain/failure.ts"
import type { ProcessIdentity } from "../../domain/process-identity.ts"
import { artifactPath, storedBytes } from "../artifacts/artifacts.ts"
import { isCollectable, sweepArtifacts, type UnreferencedArtifact } from "../artifacts/collection.ts"
import { type DatabaseConnection, guarded } from "../database/database.ts"
import { isWorthShrinking, pagesOf, shrinkDatabase } from "../database/shrink.ts"
import { unlessChanged } from "../database/store-failures.ts"
import {
  executionsAmong,
  orphansBeforeMs,
  type PruneDeps,
  pruneStreams,
  removeStreams,
} from "../executions/prune.ts"
import { assertOwn } from "../genuine.ts"
import { leaseOwner } from "../leases.ts"
import { bootOnly, type Liveness } from "../process-identity.ts"
import type { FactsOf, SessionFacts } from "../session/session-facts.ts"
import type { KeptKind, ObservedTime, RecordUse, Upkeep } from "./contract.ts"

export interface UpkeepDeps extends SessionPruneDeps {
  readonly clock: Clock
  readonly self: ProcessIdentity
  readonly uptimeMs: () => number
}

export function createUpkeep(deps: UpkeepDeps): Upkeep {
  const { connection } = deps
  return {
    time: () => observe(deps),
    note: () => {
      if (connection.snapshot(() => isDue(deps))) observe(deps)
    },
    trustClock: () => connection.transaction("time", () => save(deps, trusting(currentRecord(deps)))),
    firstPositionWithin: ageMs => {
      const { nowMs } = observe(deps)
      return connection.snapshot(() => firstWithin(deps, nowMs - ageMs, nowMs))
    },
    positionAt: timeMs => connection.snapshot(() => positionAt(deps, timeMs)),
    records: () => connection.snapshot(() => recordUses(connection, deps.artifactsDirectory)),
    ages: (kind, names) => connection.transaction("kept", () => agesOf(deps, kind, names)),
    pruneSessions: (ids, reason) => pruneSessions(deps, ids, reason),
    sweep: () =>
      guarded(deps.artifactsDirectory, () => sweepArtifacts(deps.artifactsDirectory, deps.liveness)),
    forecast: (sessions, executions) => forecastRecords(deps, sessions, executions),
    shrink: atMostBytes => shrinkDatabase(connection, atMostBytes),
  }
}

function observe(deps: UpkeepDeps): ObservedTime {
  const { connection } = deps
  if (connection.readOnly) return observedTime(connection.snapshot(() => currentRecord(deps)))
  return connection.transaction("time", () => {
    const record = currentRecord(deps)
    save(deps, record)
    return observedTime(record)
  })
}

function isDue({ connection, self, uptimeMs }: UpkeepDeps): boolean {
  const last = connection.db.query<TimeRecord, []>(selectRecord).get()
  return last?.bootId !== bootOnly(self.bootId) || Math.abs(uptimeMs() - last.uptimeMs) >= readingEveryMs
}

const readingEveryMs = 3_600_000

function currentRecord(deps: UpkeepDeps): TimeRecord {
  const { connection, clock, self, uptimeMs } = deps
  const last = hasTimeTable(connection) ? connection.db.query<TimeRecord, []>(selectRecord).get() : null
  const reading = { bootId: bootOnly(self.bootId), uptimeMs: uptimeMs(), wallMs: clock.now() }
  return afterReading(last ?? firstRecord(lastEventMs(deps) ?? reading.wallMs), reading)
}

const selectRecord = `SELECT boot_id AS bootId, uptime_ms AS uptimeMs, wall_ms AS wallMs, aged_ms AS agedMs,
  offset_ms AS offsetMs, watched_since_ms AS watchedSinceMs, low_ms AS lowMs, high_ms AS highMs FROM observed_time`

/** Returns whether the table exists: a reader may have a database that no writer has migrated yet. */
function hasTimeTable({ db }: DatabaseConnection): boolean {
  return db.query("SELECT 1 FROM sqlite_schema WHERE name = 'observed_time'").get() !== null
}

function lastEventMs({ connection }: UpkeepDeps): number | null {
  const last = connection.db
    .query<{ at: string }, []>("SELECT at FROM events ORDER BY position DESC LIMIT 1")
    .get()
  return last === null ? null : Date.parse(last.at)
}

function save({ connection }: UpkeepDeps, record: TimeRecord): void {
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
 * Returns the first position within a range of times. Events have the order in which they were recorded, whatever their
 * times. An old event lies before some event that is older than the range, or is one, and before all events of the
 * range. An event whose clock was ahead or behind counts as its neighbours.
 */
function firstWithin({ connection }: UpkeepDeps, fromMs: number, toMs: number): number {
  const found = connection.db
    .query<{ first: number | null; last: number | null }, [string, string]>(
      `SELECT min(position) FILTER (WHERE at >= ?1 AND at <= ?2) AS first,
         max(position) FILTER (WHERE at < ?1) AS last FROM events`,
    )
    .get(toIso(fromMs), toIso(toMs))
  return Math.min(found?.first ?? Number.MAX_SAFE_INTEGER, (found?.last ?? 0) + 1)
}

function positionAt({ connection }: UpkeepDeps, timeMs: number): number {
  return (
    connection.db
      .query<{ position: number | null }, [string]>(
        "SELECT max(position) AS position FROM events WHERE at <= ?",
      )
      .get(toIso(timeMs))?.position ?? 0
  )
}

function agesOf(deps: UpkeepDeps, kind: KeptKind, names: readonly string[]): ReadonlyMap<string, number> {
  const { db } = deps.connection
  const record = currentRecord(deps)
  save(deps, record)
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

/** Returns the space that each session and each finished execution outside of a session uses. */
function recordUses(connection: DatabaseConnection, artifactsDirectory: string): readonly RecordUse[] {
  const artifacts = artifactBytes(connection, artifactsDirectory)
  return connection.db
    .query<Omit<RecordUse, "kind"> & { readonly isSession: number }, []>(
      `SELECT stream AS id, max(position) AS position, sum(length(data) + ${rowBytes}) AS bytes,
         stream IN (SELECT id FROM sessions) AS isSession
       FROM events
       WHERE stream IN (SELECT id FROM sessions UNION
         SELECT id FROM executions WHERE stream = id AND finished_position IS NOT NULL)
       GROUP BY stream ORDER BY position`,
    )
    .all()
    .map(({ id, position, bytes, isSession }) => ({
      kind: isSession === 1 ? "session" : "execution",
      id,
      position,
      bytes: bytes + (artifacts.get(id) ?? 0),
    }))
}

/** The bytes of an event beside its data: two hashes, a few short columns, and its place in two indexes. */
const rowBytes = 400

function artifactBytes(connection: DatabaseConnection, directory: string): ReadonlyMap<string, number> {
  const bytes = new Map<string, number>()
  const rows = connection.db
    .query<{ stream: string; ref: string }, []>(
      "SELECT DISTINCT stream, ref FROM artifact_references JOIN events USING (position)",
    )
    .iterate()
  for (const { stream, ref } of rows)
    bytes.set(stream, (bytes.get(stream) ?? 0) + (storedBytes(directory, ref) ?? 0))
  return bytes
}

interface SessionPruneDeps extends PruneDeps {
  readonly facts: FactsOf
  readonly liveness: (owner: ProcessIdentity) => Liveness
}

/**
 * Removes sessions with their control streams and the answers to their questions. Keeps a session that a process
 * resumed since it was chosen, and one whose history was changed: a tombstone would hide the change. Returns the
 * removed sessions.
 */
function pruneSessions(deps: SessionPruneDeps, ids: readonly string[], reason: string): readonly string[] {
  const removed = pruneStreams(deps, reason, () => ids.flatMap(id => streamsOf(deps, id)))
  const streams = new Set(removed)
  return ids.filter(id => streams.has(id))
}

/** Returns a lower bound of the bytes that removing these sessions and executions would free. */
function forecastRecords(
  deps: SessionPruneDeps,
  sessions: readonly string[],
  executions: readonly string[],
): number {
  const { connection } = deps
  const streams = connection.snapshot(() => [
    ...sessions.flatMap(id => streamsOf(deps, id)),
    ...executionsAmong(deps, executions),
  ])
  return forecastPrune(deps, streams)
}

/** Returns the streams that are removed with a session; none if the session must stay. */
function streamsOf(deps: SessionPruneDeps, id: string): readonly string[] {
  const facts = unlessChanged(deps.note, () => {
    assertOwn(deps, id)
    return deps.facts(id)
  })
  if (facts === null || isDriven(deps, facts)) return []
  return [id, controlStreamOf(id), ...facts.questions.keys()]
}

function isDriven({ connection, liveness }: SessionPruneDeps, { row }: SessionFacts): boolean {
  const holder = leaseOwner(connection, row.id)
  if (holder !== null && liveness(holder) !== "dead") return true
  const owner = { bootId: row.boot_id, pid: row.pid, startTicks: row.start_ticks }
  return row.reason === null && liveness(owner) !== "dead"
}

/**
 * Returns a lower bound of the bytes that the database and the artifacts shrink by on disk when streams are removed and
 * the database is rewritten. Removes the streams in a transaction and rolls it back; returns 0 for a read-only history.
 */
function forecastPrune(deps: PruneDeps, streams: readonly string[]): number {
  const { connection } = deps
  if (connection.readOnly || streams.length === 0) return 0
  let bytes = 0
  try {
    connection.transaction("forecast", () => {
      const { unreferenced } = removeStreams(deps, streams, "forecast")
      bytes = databaseBytes(connection) + unreferencedArtifactBytes(deps, unreferenced)
      throw new RolledBack()
    })
  } catch (error) {
    // Without space for the attempt nothing is certain.
    if (error instanceof Failure && error.report.code === "ACODE-DB-004") return 0
    if (!(error instanceof RolledBack)) throw error
  }
  return bytes
}

class RolledBack extends Error {}

/**
 * Returns the free pages in bytes. Some pages are subtracted: rewriting moves rows, and the removal itself is recorded.
 */
function databaseBytes({ db }: DatabaseConnection): number {
  if (!isWorthShrinking(db)) return 0
  const { free, all, size } = pagesOf(db)
  return Math.max(0, free - sparePages - Math.ceil(all / 50)) * size
}

const sparePages = 4

function unreferencedArtifactBytes(
  { connection, artifactsDirectory, clock }: PruneDeps,
  unreferenced: readonly UnreferencedArtifact[],
): number {
  const olderThanMs = orphansBeforeMs(clock)
  return unreferenced
    .filter(each => isCollectable(connection, artifactsDirectory, each, olderThanMs))
    .map(
      ({ ref }) => lstatSync(artifactPath(artifactsDirectory, ref), { throwIfNoEntry: false })?.blocks ?? 0,
    )
    .reduce((sum, blocks) => sum + blocks * blockBytes, 0)
}

const blockBytes = 512

/**
 * The time that has passed, as far as this machine can prove. Within one boot that is its uptime. Across a reboot it is
 * the difference of the wall clock, but at most one day: it is unknown how long the machine was off, and its clock may
 * have been set wrong since.
 */
export interface TimeRecord {
  readonly bootId: string
  readonly uptimeMs: number
  readonly wallMs: number
  readonly agedMs: number
  /** The wall clock minus `agedMs`, according to the accepted readings. */
  readonly offsetMs: number
  /** The start of the present span of watching the wall clock, in observed time. */
  readonly watchedSinceMs: number
  /** The smallest and the largest offset within the span. */
  readonly lowMs: number
  readonly highMs: number
}

type ClockReading = Pick<TimeRecord, "bootId" | "uptimeMs" | "wallMs">

const dayMs = 24 * 3_600_000

/** Returns the record before the first reading: the last event of the log states when it was written. */
export function firstRecord(wallMs: number): TimeRecord {
  const began = { agedMs: 0, offsetMs: wallMs, watchedSinceMs: 0, lowMs: wallMs, highMs: wallMs }
  return { bootId: noBoot, uptimeMs: 0, wallMs, ...began }
}

/**
 * Returns the record after a further reading. Once a day the offset moves to the nearest value that the wall clock kept
 * for that whole day; a clock that was wrong for a shorter time, ahead or behind, changes nothing.
 */
export function afterReading(before: TimeRecord, reading: ClockReading): TimeRecord {
  const agedMs = before.agedMs + passedMs(before, reading)
  const offset = reading.wallMs - agedMs
  const [lowMs, highMs] = [Math.min(before.lowMs, offset), Math.max(before.highMs, offset)]
  if (agedMs - before.watchedSinceMs < dayMs) return { ...before, ...reading, agedMs, lowMs, highMs }
  const offsetMs = Math.min(Math.max(before.offsetMs, lowMs), highMs)
  return { ...reading, agedMs, offsetMs, watchedSinceMs: agedMs, lowMs: offset, highMs: offset }
}

/** Returns the record with the present wall clock accepted as correct. */
function trusting(record: TimeRecord): TimeRecord {
  const offsetMs = record.wallMs - record.agedMs
  return { ...record, offsetMs, watchedSinceMs: record.agedMs, lowMs: offsetMs, highMs: offsetMs }
}

export function observedTime({ agedMs, offsetMs, wallMs }: TimeRecord): ObservedTime {
  const nowMs = Math.min(wallMs, agedMs + offsetMs)
  return { agedMs, nowMs, aheadMs: wallMs - nowMs }
}

function passedMs(before: TimeRecord, { bootId, uptimeMs, wallMs }: ClockReading): number {
  if (bootId === before.bootId) return Math.max(0, uptimeMs - before.uptimeMs)
  const byWallMs = Math.min(Math.max(0, wallMs - before.wallMs), dayMs)
  // The machine was started after the last reading, so at least its uptime has passed.
  return before.bootId === noBoot ? byWallMs : Math.max(uptimeMs, byWallMs)
}

const noBoot = ""
