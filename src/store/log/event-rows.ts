import type { z } from "zod"
import type { Json } from "../../base/canonical.ts"
import type { EventDefinition } from "../../domain/events/definition.ts"
import type { StoredEvent } from "../contract.ts"
import { type DatabaseConnection, guarded } from "../database/database.ts"
import { changedEvent, changedHistory } from "../database/store-failures.ts"
import { type ChainedFields, eventProblem, hasDeclaredTypes, type Link, wrongType } from "./chain.ts"
import type { LogIdentity } from "./log-identity.ts"

/** An event as the table holds it: `data` is the text that was hashed. */
export interface EventRow extends ChainedFields {
  readonly hash: string
}

/**
 * Reads events. Throws ACODE-SEC-004 at an event that is not the one that was written there: a changed event is never
 * returned. Cannot detect that the last events of a stream were removed; `assertGenuine` does.
 */
export interface EventReader {
  /** Returns the event at a position. Its signature is checked, its neighbours are not. */
  at(position: number): StoredEvent
  /** Returns the events of a stream behind the one with this number. */
  read(stream: string, afterSeq?: number): readonly StoredEvent[]
  /** Returns the events of a stream behind a known one; null if that one is no longer there. */
  readBehind(stream: string, link: Link): readonly StoredEvent[] | null
  /** Yields the events of a stream, from the first. */
  each(stream: string): Generator<StoredEvent>
  /** Returns the events of every stream whose name begins with `prefix`, one stream after the other. */
  readAll(prefix: string): readonly StoredEvent[]
}

export const eventColumns =
  "stream, seq, position, epoch, at, type, version, data, prev_hash AS prevHash, hash"

export function eventReader(connection: DatabaseConnection, { key }: LogIdentity): EventReader {
  const { db, path } = connection
  const rowsFrom = (stream: string, seq: number) =>
    db.query<EventRow, [string, number]>(selectStream).all(stream, seq)
  return {
    at: position => {
      const row = db
        .query<EventRow, [number]>(`SELECT ${eventColumns} FROM events WHERE position = ?`)
        .get(position)
      if (row === null) throw changedHistory(`the event at position ${position} is missing`, path)
      return genuine(key, row, unseenBefore(row))
    },
    read: (stream, afterSeq = 0) => {
      const [first, ...others] = rowsFrom(stream, afterSeq + 1)
      if (first === undefined) return []
      const previous = afterSeq === 0 ? null : { ...unseenBefore(first), seq: afterSeq }
      return chained(key, [first, ...others], previous)
    },
    readBehind: (stream, link) => {
      const [last, ...others] = rowsFrom(stream, link.seq)
      return last?.seq === link.seq && last.hash === link.hash ? chained(key, others, link) : null
    },
    readAll: prefix => {
      const rows = db
        .query<EventRow, [string, string]>(
          `SELECT ${eventColumns} FROM events WHERE stream >= ? AND stream < ? ORDER BY stream, seq`,
        )
        .all(prefix, `${prefix}\u{10ffff}`)
      return [...Map.groupBy(rows, row => row.stream).values()].flatMap(stream => chained(key, stream, null))
    },
    each: function* (stream) {
      // A separate cursor: the caller may read other streams between two events.
      const statement = db.prepare<EventRow, [string, number]>(selectStream)
      try {
        let previous: Link | null = null
        const rows = statement.iterate(stream, 1)
        // Each step reads a page, and any page may be damaged.
        for (;;) {
          const { done, value } = guarded(path, () => rows.next())
          if (done === true) return
          yield genuine(key, value, previous)
          previous = value
        }
      } finally {
        statement.finalize()
      }
    },
  }
}

const selectStream = `SELECT ${eventColumns} FROM events WHERE stream = ? AND seq >= ? ORDER BY seq`

function chained(key: Uint8Array, rows: readonly EventRow[], behind: Link | null): readonly StoredEvent[] {
  return rows.map((row, index) => genuine(key, row, rows[index - 1] ?? behind))
}

function genuine(key: Uint8Array, row: EventRow, previous: Link | null): StoredEvent {
  const problem = rowProblem(key, row, previous)
  if (problem !== null) throw changedEvent(row, problem)
  return toStoredEvent(row)
}

/** Returns why a row is not the event that was written behind `previous`; null if it is. */
export function rowProblem(key: Uint8Array, row: EventRow, previous: Link | null): string | null {
  return hasDeclaredTypes(row) ? eventProblem(key, row, previous) : wrongType
}

/** Returns a stand-in for the previous event, to check an event that is read alone. */
export function unseenBefore({ seq, prevHash }: EventRow): Link {
  return { seq: seq - 1, hash: prevHash, epoch: 0 }
}

export function toStoredEvent(row: EventRow): StoredEvent {
  return { ...row, data: JSON.parse(row.data) as Json }
}

/**
 * Returns the data of an event, or null if it has another type. The append validated the data; this does not repeat it.
 */
export function fieldsOf<Definition extends EventDefinition>(
  definition: Definition,
  event: Pick<StoredEvent, "type" | "data">,
): z.infer<Definition["data"]> | null {
  // The type of an event determines the shape of its data, and the append parsed the data with that definition.
  return event.type === definition.type ? (event.data as z.infer<Definition["data"]>) : null
}
