import { afterAll, describe, expect, test } from "bun:test"
import { hmacHex, sha256Hex } from "../../src/base/canonical.ts"
import { eventHash, firstHead, nextHead } from "../../src/store/chain.ts"
import type { AuditReport } from "../../src/store/contract.ts"
import { nextId, recordOf, runOne, startOf, storeFixture } from "./support/store-fixture.ts"
import { columns, flipped, insertRow, overwrite, type RawEvent, tampering } from "./support/tampering.ts"

/** A log of 300 events: executions one after the other and interleaved, two sessions, and a prune. */
const fixture = storeFixture()
const store = fixture.open()
for (let count = 0; count < 30; count++) runOne(store, { correlationIds: { runId: "run_old" } })
store.executions.prune({ runId: "run_old" }, "age")
for (let count = 0; count < 100; count++) runOne(store)
for (let count = 0; count < 19; count++) {
  const [a, b] = [nextId(), nextId()]
  store.executions.started(startOf(a))
  store.executions.started(startOf(b))
  store.executions.settled(recordOf(b), { stdout: null, stderr: null })
  store.executions.settled(recordOf(a), { stdout: null, stderr: null })
}
const sessions = ["ses_a", "ses_b"].map(stream => ({
  stream,
  epoch: store.leases.acquire(stream, fixture.options.self)?.epoch ?? 0,
}))
for (let seq = 0; seq < 11; seq++)
  for (const { stream, epoch } of sessions)
    store.log.append(stream, seq, epoch, [
      { type: "history.pruned", version: 1, data: { reason: `fact ${seq}`, streams: [] } },
    ])
runOne(store)
const tamper = tampering(fixture, store.workspaceId)
const { rows, report } = tamper

afterAll(() => {
  tamper[Symbol.dispose]()
  fixture[Symbol.dispose]()
})

/** Every row with what is changed about it; the position that the first problem must name. */
function everyRowIsFound(
  change: (row: RawEvent, index: number) => { readonly apply: () => void; readonly named: number } | null,
): void {
  const missed: string[] = []
  rows.forEach((row, index) => {
    const planned = change(row, index)
    if (planned === null) return
    const found = report(() => planned.apply())
    if (found.ok || found.problems[0]?.position !== planned.named)
      missed.push(`position ${row.position}: ${JSON.stringify(found.problems)}, not ${planned.named}`)
  })
  expect(missed).toEqual([])
}

const { db } = tamper
const last = rows.at(-1)?.position ?? 0
const update = (column: string, value: string | number, position: number) =>
  db.query(`UPDATE events SET ${column} = ? WHERE position = ?`).run(value, position)

describe("on a log of 300 events", () => {
  test("there are 300, and untouched they verify", () => {
    expect(rows).toHaveLength(300)
    expect(last).toBe(360 - 1)
    expect(report(() => undefined)).toMatchObject({ ok: true, events: 300 })
  })

  test.each([...columns])("one bit flipped in %s of any row is found and named", column => {
    everyRowIsFound(row => {
      const value = flipped(row[column])
      const named = column === "position" ? Math.min(row.position, Number(value)) : row.position
      return { named, apply: () => update(column, value, row.position) }
    })
  })

  test("any row deleted is found and named", () => {
    everyRowIsFound(({ position }) => ({
      named: position,
      apply: () => db.query("DELETE FROM events WHERE position = ?").run(position),
    }))
  })

  test("any row swapped with the next is found and named", () => {
    everyRowIsFound((row, index) => {
      const next = rows[index + 1]
      if (next === undefined) return null
      const apply = () => {
        overwrite(db, row.position, next)
        overwrite(db, next.position, row)
      }
      return { named: row.position, apply }
    })
  })

  test("any row duplicated is found and named, at its own place or at the end", () => {
    everyRowIsFound(row => ({ named: row.position, apply: () => insertRow(db, row) }))
    everyRowIsFound(row => ({ named: last + 1, apply: () => insertRow(db, { ...row, position: last + 1 }) }))
  })

  test("any row changed and hashed again without the key is found and named", () => {
    const forgeries = [
      (row: RawEvent) => sha256Hex(row.data),
      (row: RawEvent) => eventHash(new Uint8Array(32), { ...row, prevHash: row.prev_hash }),
      (row: RawEvent) => hmacHex(new Uint8Array(), [row.data, row.prev_hash]),
    ]
    everyRowIsFound((row, index) => {
      const changed = { ...row, data: row.data.replace("{", '{"forged":true,') }
      const hash = forgeries[index % forgeries.length]?.(changed) ?? ""
      const apply = () => {
        overwrite(db, row.position, { ...changed, hash })
        db.query("UPDATE events SET prev_hash = ? WHERE prev_hash = ?").run(hash, row.hash)
      }
      return { named: row.position, apply }
    })
  })

  test("any row replaced by a genuine one of another stream is found and named", () => {
    everyRowIsFound((row, index) => {
      const other = rows[(index + 150) % rows.length]
      if (other === undefined || other.stream === row.stream) return null
      const place = { stream: row.stream, seq: row.seq, prev_hash: row.prev_hash }
      const donor = index % 2 === 0 ? other : { ...other, ...place }
      return { named: row.position, apply: () => overwrite(db, row.position, donor) }
    })
  })

  test("any stream deleted whole is found, and its first event named", () => {
    const missed = [...new Set(rows.map(row => row.stream))].filter(stream => {
      const found = report(() => db.query("DELETE FROM events WHERE stream = ?").run(stream))
      const first = rows.find(row => row.stream === stream)?.position
      // A prune whose tombstones are gone is first missed at what it removed.
      const named = stream.startsWith("prn_") ? 1 : first
      return found.ok || found.problems[0]?.position !== named
    })
    expect(missed).toEqual([])
  })
})

describe("a log that is cut short", () => {
  /** The head as it truly was after each position, which only somebody with an old copy has. */
  const heads: string[] = [firstHead(tamper.key, tamper.workspaceId)]
  const pruned = new Map<number, string>()
  for (const row of rows.filter(({ stream }) => stream.startsWith("prn_")))
    for (const { events } of JSON.parse(row.data).streams as {
      events: { position: number; hash: string }[]
    }[])
      for (const event of events) pruned.set(event.position, event.hash)
  const present = new Map(rows.map(row => [row.position, row.hash]))
  for (let position = 1; position <= last; position++)
    heads.push(
      nextHead(
        tamper.key,
        heads[position - 1] ?? "",
        position,
        present.get(position) ?? pruned.get(position) ?? "",
      ),
    )

  const cutAt = (position: number) => db.query("DELETE FROM events WHERE position > ?").run(position)
  const tail = (position: number, head: string) =>
    db.query("UPDATE log_head SET position = ?, head = ?").run(position, head)

  const notFound = (change: (position: number) => void, named: (position: number) => number) =>
    rows
      .map(row => row.position)
      .filter(position => position < last)
      .map((position): [number, AuditReport] => [position, report(() => change(position))])
      .filter(([position, found]) => found.ok || found.problems[0]?.position !== named(position))

  test("at any point is found, and the first missing event named", () => {
    expect(notFound(cutAt, position => position + 1)).toEqual([])
  })

  test("at any point, with a head that says so, is found without any anchor", () => {
    const change = (position: number) => {
      cutAt(position)
      tail(position, heads[position + 1] ?? "")
    }
    expect(notFound(change, position => position)).toEqual([])
  })

  test("the heads of this test are the true ones", () => {
    expect(db.query("SELECT position, head FROM log_head").get()).toEqual({
      position: last,
      head: heads[last] ?? "",
    })
  })

  test("its head row moved or changed is found", () => {
    const changes = [
      () => tail(last + 1, heads[last] ?? ""),
      () => tail(last - 1, heads[last] ?? ""),
      () => tail(last - 1, heads[last - 1] ?? ""),
      () => tail(last, heads[last - 1] ?? ""),
      () => tail(2 ** 50, heads[last] ?? ""),
      () => db.run("DELETE FROM log_head"),
    ]
    expect(changes.map(change => report(change).ok)).toEqual(changes.map(() => false))
  })
})
