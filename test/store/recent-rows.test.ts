import type { Database } from "bun:sqlite"
import { afterAll, beforeAll, expect, test } from "bun:test"
import { Failure } from "../../src/domain/failure.ts"
import { assertRecentRows } from "../../src/store/projection-check.ts"
import { changing, event, remarks, startSession } from "./support/session-events.ts"
import { runOne, type StoreFixture, storeFixture } from "./support/store-fixture.ts"
import { columns, flipped, insertRow, type Tampering, tampering } from "./support/tampering.ts"

let fixture: StoreFixture
let held: Tampering
/** The position of the last event of the older half of the log. */
let middle: number

beforeAll(() => {
  fixture = storeFixture()
  using store = fixture.open()
  runOne(store, { correlationIds: { runId: "run_old" } })
  runOne(store)
  const older = startSession(store)
  older.append(event.callRequested("cal_0"), event.callStarted("cal_0"))
  middle = store.log.read(older.id).at(-1)?.position ?? 0
  // Of a call and a session that began in the older half.
  older.append(event.callSettled("cal_0", remarks("a.ts", "TS1")), event.sessionRested())
  const writer = startSession(store, { stepCount: 2 })
  writer.append(event.callRequested("cal_1"), event.callStarted("cal_1"))
  writer.append(event.callSettled("cal_1", remarks("a.ts", "TS1", "TS2")), event.callRequested("cal_2"))
  writer.append(event.callStarted("cal_2"), event.callSettled("cal_2", changing("a.ts")))
  writer.append(event.approvalRequested("apr_1", writer.id), event.sessionRested())
  const plan = { planId: "plan-1", planHash: "sha256:1", approver: "ada", stepCount: 2 }
  store.approvals.approvePlan({ approvalId: "apr_plan", ...plan, expiresAt: "2099-01-01T00:00:00.000Z" })
  runOne(store)
  store.executions.prune({ runId: "run_old" }, "age")
  held = tampering(fixture, store.workspaceId)
})

afterAll(() => {
  held[Symbol.dispose]()
  fixture[Symbol.dispose]()
})

function refusal(change: (db: Database) => void, eventsMax = 10_000): string | null {
  return held.during(change, () => {
    try {
      assertRecentRows(held.connection, { workspaceId: held.workspaceId, key: held.key }, eventsMax)
      return null
    } catch (error) {
      if (error instanceof Failure) return error.report.code
      throw error
    }
  })
}

const recent = () => (held.rows.at(-1)?.position ?? 0) - middle

test("a history with which nothing is wrong is listed, all of it and its last part", () => {
  expect(refusal(() => undefined)).toBeNull()
  for (let count = 0; count <= held.rows.length + 1; count++)
    expect(refusal(() => undefined, count)).toBeNull()
})

const tables: readonly (readonly [table: string, position: string])[] = [
  ["sessions", "started_position"],
  ["approvals", "requested_position"],
  ["plan_approvals", "position"],
  ["evidence", "position"],
  ["evidence_files", "position"],
  ["evidence_diagnostics", "position"],
  ["executions", "started_position"],
]

test.each(tables)("a row of %s that is gone, is too many or was changed is found", (table, position) => {
  const count = held.db.query<{ id: number }, [number]>(
    `SELECT ${table === "evidence_files" || table === "evidence_diagnostics" ? "position" : "rowid"} AS id FROM ${table} WHERE ${position} > ?`,
  )
  expect(count.all(middle).length).toBeGreaterThan(0)
  const last = `${position} = (SELECT max(${position}) FROM ${table})`
  expect(refusal(db => void db.run(`DELETE FROM ${table} WHERE ${last}`), recent())).toBe("ACODE-SEC-004")
  const names = held.db
    .query<{ name: string; type: string; pk: number }, []>(
      `SELECT name, type, pk FROM pragma_table_info('${table}')`,
    )
    .all()
  const others = names.map(({ name, type, pk }) =>
    type === "INTEGER"
      ? `${name} + ${pk > 0 ? 1_000 : 0}`
      : pk > 0 || name === "id"
        ? `${name} || '~'`
        : name,
  )
  const copy = `INSERT INTO ${table} SELECT ${others.join(", ")} FROM ${table} WHERE ${last}`
  expect(refusal(db => void db.run(copy), recent())).toBe("ACODE-SEC-004")
  const accepted = names.filter(({ name, type }) => {
    const value = type === "INTEGER" ? `coalesce(${name}, 0) + 1` : `coalesce(${name}, '') || '~'`
    return (
      refusal(db => void db.run(`UPDATE ${table} SET ${name} = ${value} WHERE ${last}`), recent()) === null
    )
  })
  expect(accepted).toEqual([])
})

test("an event that is gone or was changed is found, also with its row", () => {
  for (const row of held.rows.filter(({ position }) => position > middle)) {
    const gone = `DELETE FROM events WHERE position = ${row.position}`
    expect([row.type, refusal(db => void db.run(gone), recent())]).toEqual([row.type, "ACODE-SEC-004"])
    const withRow = (db: Database) => {
      db.run(gone)
      db.run(`DELETE FROM evidence WHERE position = ${row.position}`)
      db.run(`DELETE FROM executions WHERE started_position = ${row.position}`)
    }
    expect([row.type, refusal(withRow, recent())]).toEqual([row.type, "ACODE-SEC-004"])
    const accepted = columns.filter(
      column =>
        refusal(db => {
          db.run(gone)
          insertRow(db, { ...row, [column]: flipped(row[column]) })
        }, recent()) === null,
    )
    expect([row.type, accepted]).toEqual([row.type, []])
  }
})

test("rows from before the last events are not read: a long log must not slow down each listing", () => {
  const oldest = "started_position = (SELECT min(started_position) FROM executions)"
  expect(refusal(db => void db.run(`DELETE FROM executions WHERE ${oldest}`), recent())).toBeNull()
  expect(refusal(db => void db.run(`DELETE FROM executions WHERE ${oldest}`))).toBe("ACODE-SEC-004")
})
