import type { Database } from "bun:sqlite"
import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { cpSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { dirname } from "node:path"
import { Failure } from "../../src/domain/failure.ts"
import type { Store } from "../../src/store/contract.ts"
import { assertAnchored, assertGenuine, type GenuineDeps } from "../../src/store/genuine.ts"
import { anchorPath } from "../../src/store/log/anchors.ts"
import { eventReader } from "../../src/store/log/event-rows.ts"
import { changing, event, remarks, type SessionWriter, startSession } from "./support/session-events.ts"
import {
  codeOf,
  nextId,
  recordOf,
  runOne,
  type StoreFixture,
  startOf,
  storeFixture,
} from "./support/store-fixture.ts"
import {
  columns,
  flipped,
  insertRow,
  overwrite,
  type RawEvent,
  type Tampering,
  tampering,
} from "./support/tampering.ts"

let fixture: StoreFixture
let held: Tampering
let parts: GenuineDeps
let session: string

beforeAll(() => {
  fixture = storeFixture()
  using store = fixture.open()
  session = history(store).id
  store.anchor()
  held = tampering(fixture, store.workspaceId)
  const identity = { workspaceId: held.workspaceId, key: held.key }
  const log = eventReader(held.connection, identity)
  const { anchorsDirectory, stateDirectory } = fixture.options
  parts = { connection: held.connection, identity, log, anchorsDirectory, stateDirectory }
})

afterAll(() => {
  held[Symbol.dispose]()
  fixture[Symbol.dispose]()
})

/** What others did before, while and after the session asked, acted and ended; some of it pruned. */
function history(store: Store): SessionWriter {
  approve(store, "apr_plan")
  for (let count = 0; count < 4; count++) runOne(store, { correlationIds: { runId: "run_old" } })
  const writer = startSession(store, { stepCount: 2, approvalId: "apr_plan" })
  const { id } = writer
  const command = nextId()
  runOne(store)
  writer.append(event.stepStarted(), event.callRequested("cal_1"), event.callStarted("cal_1"))
  writer.append(event.callSettled("cal_1", remarks("a.ts", "TS1", "TS2")), event.stepFinished())
  writer.append(event.callRequested("cal_2"), event.approvalRequested("apr_1", id))
  answer(store, "apr_1")
  writer.append(event.callStarted("cal_2", { approvalId: "apr_1" }), started(command), finished(command))
  writer.append(event.callSettled("cal_2", changing("a.ts")), event.approvalRequested("apr_2", id))
  writer.append(event.approvalAnswered("apr_2"), event.approvalRequested("apr_3", id), event.sessionRested())
  control(store, id)
  store.executions.prune({ runId: "run_old" }, "age")
  answer(store, "apr_3", "refused")
  for (let count = 0; count < 3; count++) runOne(store)
  startSession(store).append(event.sessionFinished())
  return writer
}

function approve(store: Store, approvalId: string): void {
  const plan = { planId: "plan-1", planHash: "sha256:1", approver: "ada", stepCount: 2 }
  store.approvals.approvePlan({ approvalId, ...plan, expiresAt: "2099-01-01T00:00:00.000Z" })
}

function answer(store: Store, approvalId: string, given: "granted" | "refused" = "granted"): void {
  store.approvals.answer({ approvalId, answer: given, by: "ada", via: "command", reason: null })
}

const started = (id: string) => ({ type: "command.started", version: 1, data: startOf(id) })
const finished = (id: string) => {
  const text = { kind: "inline", text: "x" } as const
  const result = { ...recordOf(id).result, stdout: text, stderr: text }
  return { type: "command.finished", version: 1, data: { executionId: id, result } }
}

function control(store: Store, id: string): void {
  const stream = id.replace("ses_", "ctl_")
  const lease = store.leases.acquire(stream, fixture.options.self)
  const data = { sessionId: id, control: "pause", by: "ada", reason: "lunch" }
  store.log.append(stream, 0, lease?.epoch ?? 0, [{ type: "control.requested", version: 1, data }])
  if (lease !== null) store.leases.release(lease)
}

/** The code with which acting on the session is refused after a change; null when it is not. */
function refusal(change: (db: Database) => void): string | null {
  return held.during(change, () => {
    try {
      assertGenuine(parts, session)
      return null
    } catch (error) {
      if (error instanceof Failure) return error.report.code
      throw error
    }
  })
}

const own = () => held.rows.filter(({ stream }) => streams().has(stream))
const streams = () =>
  new Set([session, session.replace("ses_", "ctl_"), "apr_plan", "apr_1", "apr_2", "apr_3"])
const end = () => held.rows.findLast(({ stream }) => stream === session)?.position ?? 0

describe("a session may be acted upon", () => {
  test("when nothing was changed, and nothing is done by looking", () => {
    expect(refusal(() => undefined)).toBeNull()
    expect(() => assertGenuine(parts, "ses_nobody_knows")).not.toThrow()
  })

  test("whatever was changed of others before its last event: only its own chain is inspected", () => {
    const foreign = held.rows.filter(({ stream, position }) => !streams().has(stream) && position < end())
    expect(foreign.length).toBeGreaterThan(0)
    expect(foreign.map(({ position }) => refusal(db => void db.run(deletion(position))))).toEqual(
      foreign.map(() => null),
    )
  })
})

const deletion = (position: number) => `DELETE FROM events WHERE position = ${position}`

describe("a session may not be acted upon", () => {
  test("with any column of any event changed that it depends on, or that stands behind it", () => {
    const concerned = held.rows.filter(row => streams().has(row.stream) || row.position > end())
    const changes = concerned.flatMap(row => columns.map(column => ({ row, column })))
    const accepted = changes.filter(({ row, column }) => {
      const changed: RawEvent = { ...row, [column]: flipped(row[column]) }
      return (
        refusal(db => {
          db.run(deletion(row.position))
          insertRow(db, changed)
        }) !== "ACODE-SEC-004"
      )
    })
    expect(accepted.map(({ row, column }) => [row.type, column])).toEqual([])
    expect(new Set(own().map(({ type }) => type)).size).toBeGreaterThan(10)
  })

  test("with any of these events removed, also its last one", () => {
    const gone = held.rows.filter(row => streams().has(row.stream) || row.position > end())
    const accepted = gone.filter(({ position }) => refusal(db => void db.run(deletion(position))) === null)
    expect(accepted.map(({ stream }) => stream)).toEqual([])
  })

  test("with the end of its stream cut off, whatever is put in the place of the events", () => {
    const tail = held.rows.filter(({ stream }) => stream === session).slice(-4)
    const other = held.rows.find(({ stream }) => stream.startsWith("exe_"))
    if (other === undefined) throw new Error("there is another stream")
    const fillings: readonly ((db: Database, row: RawEvent) => void)[] = [
      () => undefined,
      (db, row) => insertRow(db, { ...row, stream: "exe_made_up" }),
      (db, row) => insertRow(db, { ...other, stream: "exe_copied", position: row.position, hash: row.hash }),
    ]
    for (let count = 1; count <= tail.length; count++)
      for (const fill of fillings)
        expect([
          count,
          refusal(db => {
            for (const row of tail.slice(-count)) {
              db.run(deletion(row.position))
              fill(db, row)
            }
          }),
        ]).toEqual([count, "ACODE-SEC-004"])
  })

  test("with an event of another place in its stream, or of another stream, in the place of its own", () => {
    const [first, second, ...others] = own()
    if (first === undefined || second === undefined) throw new Error("the session has events")
    for (const row of others)
      expect(refusal(db => overwrite(db, row.position, { ...second, position: row.position }))).toBe(
        "ACODE-SEC-004",
      )
    expect(refusal(db => insertRow(db, { ...second, seq: 1_000, position: 1_000 }))).toBe("ACODE-SEC-004")
  })

  test("with a head or a place in the log that its events do not make", () => {
    for (const sql of [
      "UPDATE log_head SET head = 'x'",
      "UPDATE log_head SET position = position - 1",
      "UPDATE log_head SET position = position + 1",
    ])
      expect([sql, refusal(db => void db.run(sql))]).toEqual([sql, "ACODE-SEC-004"])
  })

  test("with any column of any row of a table changed that its events make, or with such a row removed", () => {
    const accepted = rowsOfSession().flatMap(({ table, rowid, columns: names }) => [
      ...names
        .filter(name => refusal(changedCell(table, rowid, name)) !== "ACODE-SEC-004")
        .map(name => `${table}.${name}`),
      ...(refusal(db => void db.run(`DELETE FROM ${table} WHERE ${rowid}`)) === "ACODE-SEC-004"
        ? []
        : [table]),
    ])
    expect(accepted).toEqual([])
  })
})

interface TableRow {
  readonly table: string
  /** Which row, in SQL. */
  readonly rowid: string
  readonly columns: readonly string[]
}

/** The rows that tell of the session, of the approval of its plan and of its commands. */
function rowsOfSession(): readonly TableRow[] {
  const found = (table: string, where: string, key: string) =>
    held.db
      .query<Record<string, string | number | null>, []>(`SELECT * FROM ${table} WHERE ${where}`)
      .all()
      .map(row => ({
        table,
        rowid: key
          .split(" ")
          .map(name => `${name} IS ${JSON.stringify(row[name]).replaceAll('"', "'")}`)
          .join(" AND "),
        columns: Object.keys(row),
      }))
  const calls = `(SELECT position FROM evidence WHERE session_id = '${session}')`
  return [
    ...found("sessions", `id = '${session}'`, "id"),
    ...found("approvals", `session_id = '${session}'`, "id"),
    ...found("plan_approvals", "id = 'apr_plan'", "id"),
    ...found("evidence", `session_id = '${session}'`, "position"),
    ...found("evidence_files", `position IN ${calls}`, "path position"),
    ...found("evidence_diagnostics", `position IN ${calls}`, "code position file_name"),
    ...found("executions", `stream = '${session}'`, "id"),
  ]
}

/** Another value of the same type; a number where there was none. */
function changedCell(table: string, where: string, column: string): (db: Database) => void {
  return db => {
    const { value = null } =
      db
        .query<{ value: string | number | null }, []>(
          `SELECT ${column} AS value FROM ${table} WHERE ${where}`,
        )
        .get() ?? {}
    const other = value === null ? 7 : flipped(value)
    db.query(`UPDATE ${table} SET ${column} = ? WHERE ${where}`).run(other)
  }
}

describe("what the anchors say", () => {
  test("stops an older copy of the database, also once it has grown again", () => {
    using place = storeFixture()
    const directory = dirname(place.options.databasePath)
    const older = `${place.directory}/older`
    const during = <Result>(work: (store: Store) => Result): Result => {
      using store = place.open()
      return work(store)
    }
    const id = during(store => {
      const writer = startSession(store)
      store.anchor()
      return writer.id
    })
    cpSync(directory, older, { recursive: true })
    during(store => {
      for (let count = 0; count < 3; count++) runOne(store)
      store.anchor()
    })
    expect(during(store => store.assertGenuine(id))).toBeUndefined()
    rmSync(directory, { recursive: true })
    cpSync(older, directory, { recursive: true })
    const refused = () =>
      during(store => [codeOf(() => store.assertAnchored()), codeOf(() => store.assertGenuine(id))])
    expect(refused()).toEqual(["ACODE-SEC-004", "ACODE-SEC-004"])
    for (let count = 0; count < 5; count++) {
      during(store => {
        runOne(store)
        store.anchor()
      })
      expect(refused()).toEqual(["ACODE-SEC-004", "ACODE-SEC-004"])
    }
  })

  test.each([
    ["a changed anchor", (text: string) => text.replace('"position":2', '"position":1')],
    ["no anchor at all", () => ""],
  ])("stops %s", (_, changed) => {
    using place = storeFixture()
    const store = place.open()
    const { id } = startSession(store)
    runOne(store)
    store.anchor()
    const path = anchorPath(place.options.anchorsDirectory, store.workspaceId)
    const text = readFileSync(path, "utf8").replace(/"position":3/, '"position":2')
    writeFileSync(path, changed(text))
    expect(codeOf(() => store.assertGenuine(id))).toBe("ACODE-SEC-004")
  })

  test("is what the log continues from: whatever came behind the last anchor is inspected", () => {
    const { db } = held
    const last = held.rows.at(-1)
    if (last === undefined) throw new Error("the log has events")
    expect(() => assertAnchored(parts)).not.toThrow()
    expect(
      held.during(
        () => void db.run(deletion(last.position)),
        () => codeOf(() => assertAnchored(parts)),
      ),
    ).toBe("ACODE-SEC-004")
  })
})
