import type { Database } from "bun:sqlite"
import { readFileSync } from "node:fs"
import { join } from "node:path"

/** An event as it lies in the file, with its content read. */
export interface LogRow {
  readonly stream: string
  readonly seq: number
  readonly position: number
  readonly epoch: number
  readonly at: string
  readonly type: string
  readonly version: number
  readonly data: string
  readonly prev_hash: string
  readonly hash: string
  readonly parsed: Readonly<Record<string, unknown>>
}

export function readLog(database: Database): LogRow[] {
  return database
    .query<Omit<LogRow, "parsed">, []>("SELECT * FROM events ORDER BY position")
    .all()
    .map(row => ({ ...row, parsed: JSON.parse(row.data) }))
}

/**
 * I6: signatures, links, dense positions and numbers, and the head of all of it. Written a second time on purpose: a
 * verifier that shares the writer's code shares its mistakes.
 */
export function chainViolations(database: Database, log: readonly LogRow[], keysDirectory: string): string[] {
  const head = database
    .query<{ workspace_id: string; position: number; head: string }, []>("SELECT * FROM log_head")
    .get()
  if (head === null) return log.length === 0 ? [] : ["I6 there are events and no head"]
  const key = readFileSync(join(keysDirectory, `${head.workspace_id}.key`))
  const found = [...eventViolations(key, log), ...streamViolations(log)]
  const hashes = hashesByPosition(log)
  let computed = keyedHash(key, ["log", head.workspace_id])
  for (let position = 1; position <= head.position; position++) {
    const hash = hashes.get(position)
    if (hash === undefined) return [...found, `I6 position ${position} is neither an event nor a tombstone`]
    computed = keyedHash(key, ["head", computed, String(position), hash])
  }
  if (computed !== head.head) found.push("I6 the head of the log does not fit its events")
  if ((log.at(-1)?.position ?? 0) > head.position) found.push("I6 there are events behind the head")
  return found
}

function eventViolations(key: Uint8Array, log: readonly LogRow[]): string[] {
  const fieldsOf = (row: LogRow) => [
    "event",
    row.stream,
    String(row.seq),
    String(row.position),
    String(row.epoch),
    row.at,
    row.type,
    String(row.version),
    row.data,
    row.prev_hash,
  ]
  return log
    .filter(row => keyedHash(key, fieldsOf(row)) !== row.hash)
    .map(row => `I6 ${row.stream} ${row.seq}: the signature does not fit`)
}

function streamViolations(log: readonly LogRow[]): string[] {
  const last = new Map<string, LogRow>()
  return log.flatMap(row => {
    const previous = last.get(row.stream)
    last.set(row.stream, row)
    const problems: string[] = []
    if (row.seq !== (previous?.seq ?? 0) + 1)
      problems.push(`I6 ${row.stream}: ${row.seq} follows ${previous?.seq}`)
    if (row.prev_hash !== (previous?.hash ?? ""))
      problems.push(`I6 ${row.stream} ${row.seq}: the link is broken`)
    return problems
  })
}

/** Returns the hashes of existing events and of those that a tombstone replaces. */
function hashesByPosition(log: readonly LogRow[]): Map<number, string> {
  const hashes = new Map(log.map(row => [row.position, row.hash]))
  for (const row of log.filter(({ type }) => type === "history.pruned")) {
    const pruned = row.parsed as { streams: { events: { position: number; hash: string }[] }[] }
    for (const { events } of pruned.streams)
      for (const event of events) hashes.set(event.position, event.hash)
  }
  return hashes
}

function keyedHash(key: Uint8Array, fields: readonly string[]): string {
  const text = fields.map(field => `${Buffer.byteLength(field)}:${field}`).join("")
  return new Bun.CryptoHasher("sha256", key).update(text).digest("hex")
}
