import { type Clock, toIso } from "../../base/clock.ts"
import type { NewEvent } from "../../domain/events/definition.ts"
import type { EventLog, StoredEvent, StoreRedactor } from "../contract.ts"
import { type DatabaseConnection, guarded } from "../database/database.ts"
import { appendConflict } from "../database/store-failures.ts"
import type { Projector } from "../database/table-projection.ts"
import { assertHeld, type HeldEpochs, heldEpochs } from "../leases.ts"
import { eventHash, nextHead, noPrevious } from "./chain.ts"
import { type PreparedEvent, prepareEvent } from "./event-preparation.ts"
import { type EventReader, type EventRow, eventReader } from "./event-rows.ts"
import { headElsewhere, headMissing, type LogIdentity, lastPosition } from "./log-identity.ts"

/** The log as the rest of the store uses it: several writes can share one transaction. */
export interface LogWriter extends EventLog, EventReader {
  each(stream: string): Generator<StoredEvent>
  prepare(events: readonly NewEvent[]): readonly PreparedEvent[]
  /** Writes events. The caller holds a transaction and has checked that it owns the stream. */
  write(
    stream: string,
    expectedSeq: number,
    epoch: number,
    events: readonly PreparedEvent[],
  ): readonly StoredEvent[]
}

/** The end of the log: the position of its last event, and the head there. */
export interface LogTail {
  readonly position: number
  readonly head: string
}

export interface LogDeps {
  readonly connection: DatabaseConnection
  readonly identity: LogIdentity
  readonly redactor: StoreRedactor
  readonly clock: Clock
  readonly projectors: readonly Projector[]
}

export function createEventLog(deps: LogDeps): LogWriter {
  const { connection, redactor } = deps
  const reader = eventReader(connection, deps.identity)
  const prepare = (events: readonly NewEvent[]) => events.map(event => prepareEvent(event, redactor))
  const write: LogWriter["write"] = (stream, expectedSeq, epoch, events) =>
    writeEvents(deps, { stream, expectedSeq, epoch }, readEnds(connection, stream), events)
  return {
    prepare,
    write,
    append: (stream, expectedSeq, epoch, events, under = { stream, epoch }) => {
      const prepared = prepare(events)
      return connection.transaction("append", () => {
        const ends = readEnds(connection, stream, under.stream)
        assertHeld({ stream, epoch }, under, ends)
        return writeEvents(deps, { stream, expectedSeq, epoch }, ends, prepared)
      })
    },
    mentions: (type, id) =>
      guarded(
        connection.path,
        () => connection.db.query(selectMention).get(type, id, JSON.stringify(id)) !== null,
      ),
    lastSeq: stream => guarded(connection.path, () => readEnds(connection, stream).seq),
    each: stream => reader.each(stream),
    at: position => guarded(connection.path, () => reader.at(position)),
    read: (stream, afterSeq) => guarded(connection.path, () => reader.read(stream, afterSeq)),
    readAll: prefix => guarded(connection.path, () => reader.readAll(prefix)),
    readBehind: (stream, link) => guarded(connection.path, () => reader.readBehind(stream, link)),
  }
}

const selectMention = "SELECT 1 FROM events WHERE type = ?1 AND (stream = ?2 OR instr(data, ?3) > 0) LIMIT 1"

/** The position in the log at which events are appended: stream, the number of its last event, epoch of the owner. */
interface AppendTarget {
  readonly stream: string
  readonly expectedSeq: number
  readonly epoch: number
}

function writeEvents(
  deps: LogDeps,
  { stream, expectedSeq, epoch }: AppendTarget,
  ends: Ends,
  events: readonly PreparedEvent[],
): readonly StoredEvent[] {
  const { connection, identity } = deps
  if (ends.seq !== expectedSeq)
    throw appendConflict(stream, `its last event is number ${ends.seq}, not ${expectedSeq}`)
  // An append of no events only checks that the caller may append: nothing is written.
  if (events.length === 0) return []
  const at = toIso(deps.clock.now())
  let { position, head, hash: prevHash } = ends
  const stored = events.map((event, index) => {
    position += 1
    const fields = { stream, seq: expectedSeq + 1 + index, position, epoch, at, prevHash }
    const chained = { ...fields, type: event.type, version: event.version, data: event.text }
    const hash = eventHash(identity.key, chained)
    insertEvent(connection, { ...chained, hash })
    head = nextHead(identity.key, head, position, hash)
    prevHash = hash
    return { ...chained, data: event.data, hash }
  })
  connection.db.query("UPDATE log_head SET position = ?, head = ? WHERE id = 1").run(position, head)
  for (const projector of deps.projectors) for (const event of stored) projector.apply(event)
  return stored
}

/** Returns the end of the whole log; null only if the row was removed. */
export function findTail(connection: DatabaseConnection): LogTail | null {
  return connection.db.query<LogTail, []>("SELECT position, head FROM log_head WHERE id = 1").get()
}

export function readTail(connection: DatabaseConnection): LogTail {
  const tail = findTail(connection)
  if (tail === null) throw headMissing(connection.path)
  return tail
}

/** The ends of the whole log and of one stream: what the next event follows, and who may append it. */
interface Ends extends LogTail, HeldEpochs {
  /** 0 before the first event of the stream. */
  readonly seq: number
  readonly hash: string
  /** The position of the last event in the table; the head must be there. */
  readonly last: number
}

/** Reads all of it with one query: separate queries would slow down every append. */
function readEnds(connection: DatabaseConnection, stream: string, under: string = stream): Ends {
  const ends = connection.db
    .query<Ends, [string, string]>(
      `SELECT log_head.position, head, ${lastPosition} AS last,
         coalesce(seq, 0) AS seq, coalesce(hash, '${noPrevious}') AS hash, ${heldEpochs}
       FROM log_head LEFT JOIN events ON events.position =
         (SELECT position FROM events WHERE stream = ?1 ORDER BY seq DESC LIMIT 1)
       WHERE id = 1`,
    )
    .get(stream, under)
  if (ends === null) throw headMissing(connection.path)
  if (ends.position !== ends.last) throw headElsewhere(connection.path, ends)
  return ends
}

function insertEvent(connection: DatabaseConnection, row: EventRow): void {
  connection.db
    .query(
      `INSERT INTO events (position, stream, seq, epoch, at, type, version, data, prev_hash, hash)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    )
    .run(
      row.position,
      row.stream,
      row.seq,
      row.epoch,
      row.at,
      row.type,
      row.version,
      row.data,
      row.prevHash,
      row.hash,
    )
}
