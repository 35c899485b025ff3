import { Database } from "bun:sqlite"
import { describe, expect, test } from "bun:test"
import { changing, event, remarks, startSession } from "../support/session-events.ts"
import { type StoreFixture, storeFixture } from "../support/store-fixture.ts"

function rowsOf(fixture: StoreFixture, table: string): unknown[] {
  using db = new Database(fixture.options.databasePath)
  return db.query(`SELECT * FROM ${table}`).all()
}

describe("the row of a call", () => {
  test("is there as soon as it is requested", () => {
    using fixture = storeFixture()
    const session = startSession(fixture.open())
    session.append(event.callRequested("cal_1"))
    expect(rowsOf(fixture, "evidence")).toEqual([
      {
        position: 2,
        id: "cal_1",
        settled_position: null,
        session_id: session.id,
        tool: "file_read",
        canonical_tool: "read_file",
        plan_id: "plan-1",
        plan_hash: "sha256:1",
        task_id: "t1",
        step_id: "s1",
        step_key: "k1",
        status: "started",
        certainty: null,
        exit_code: null,
        duration_ms: null,
        error_code: null,
        error_message: null,
        result_digest: null,
        at: new Date(fixture.clock.now()).toISOString(),
      },
    ])
    expect(rowsOf(fixture, "evidence_files")).toEqual([])
  })

  test("keeps the time it was requested at, and gets what came of it", () => {
    using fixture = storeFixture()
    const session = startSession(fixture.open())
    session.append(event.callRequested("cal_1"))
    const at = new Date(fixture.clock.now()).toISOString()
    fixture.clock.advance(5_000)
    const error = { code: "ACODE-EXE-003", message: "it broke", where: null, hint: null }
    session.append(
      event.callSettled("cal_1", {
        outcome: "failed",
        certainty: "notDone",
        error,
        exitCode: 2,
        durationMs: 9,
      }),
    )
    expect(rowsOf(fixture, "evidence")).toMatchObject([
      {
        settled_position: 3,
        status: "failed",
        certainty: "notDone",
        exit_code: 2,
        duration_ms: 9,
        error_code: "ACODE-EXE-003",
        error_message: "it broke",
        result_digest: "sha256:2",
        at,
      },
    ])
  })

  test.each([
    ["succeeded", "succeeded"],
    ["failed", "failed"],
    ["refused", "failed"],
    ["denied", "failed"],
    ["interrupted", "interrupted"],
  ] as const)("says of an outcome that is %s that it %s", (outcome, status) => {
    using fixture = storeFixture()
    startSession(fixture.open()).append(event.callRequested("cal_1"), event.callSettled("cal_1", { outcome }))
    expect(rowsOf(fixture, "evidence")).toMatchObject([{ status }])
  })

  test("is made once and settled once, or the events are not recorded", () => {
    using fixture = storeFixture()
    const store = fixture.open()
    const session = startSession(store)
    expect(() => session.append(event.callSettled("cal_1"))).toThrow("settled once, after it was requested")
    session.append(event.callRequested("cal_1"))
    expect(() => session.append(event.callRequested("cal_1"))).toThrow("requested once")
    session.append(event.callSettled("cal_1"))
    expect(() => session.append(event.callSettled("cal_1"))).toThrow("settled once")
    expect(store.log.read(session.id)).toHaveLength(3)
  })
})

describe("the files of a call", () => {
  test("are those it inspected and those it changed, each once", () => {
    using fixture = storeFixture()
    const session = startSession(fixture.open())
    const { changes } = changing("b.txt", "c.txt")
    session.append(event.callRequested("cal_1"))
    session.append(
      event.callSettled("cal_1", { paths: ["b.txt", "a.txt", "a.txt"], ...(changes && { changes }) }),
    )
    const at = new Date(fixture.clock.now()).toISOString()
    expect(rowsOf(fixture, "evidence_files")).toEqual([
      { path: "a.txt", at, position: 2, changed: 0 },
      { path: "b.txt", at, position: 2, changed: 1 },
      { path: "c.txt", at, position: 2, changed: 1 },
    ])
  })

  test("are the paths alone when the changes are too many to stand in the event", () => {
    using fixture = storeFixture()
    const store = fixture.open()
    const session = startSession(store)
    const ref = store.artifacts.put(new TextEncoder().encode("[]"))
    session.append(event.callRequested("cal_1"))
    session.append(
      event.callSettled("cal_1", { paths: ["a"], changes: { kind: "artifact", ref, bytes: 2, count: 900 } }),
    )
    expect(rowsOf(fixture, "evidence_files")).toMatchObject([{ path: "a", changed: 0 }])
  })
})

describe("the diagnostics of a call", () => {
  test("are one row for each code and file, the first of a code marked", () => {
    using fixture = storeFixture()
    const session = startSession(fixture.open())
    const diagnostics = [
      ...(remarks("a.ts", "TS1", "TS1", null, "TS2").diagnostics ?? []),
      ...(remarks("b.ts", "TS1").diagnostics ?? []),
    ]
    session.append(event.callRequested("cal_1"), event.callSettled("cal_1", { diagnostics }))
    expect(rowsOf(fixture, "evidence_diagnostics")).toMatchObject([
      { code: "TS1", file_name: "a.ts", position: 2, call_id: "cal_1", is_first: 1 },
      { code: "TS1", file_name: "b.ts", position: 2, call_id: "cal_1", is_first: 0 },
      { code: "TS2", file_name: "a.ts", position: 2, call_id: "cal_1", is_first: 1 },
    ])
  })
})
