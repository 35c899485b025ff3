import { Database } from "bun:sqlite"
import { describe, expect, test } from "bun:test"
import { statSync } from "node:fs"
import type { Store } from "../../../src/store/contract.ts"
import { changeDatabase } from "../../support/workspace/at-the-file.ts"
import { event, startSession } from "../support/session-events.ts"
import {
  nextId,
  recordOf,
  runOne,
  type StoreFixture,
  startOf,
  storeFixture,
} from "../support/store-fixture.ts"

const hourMs = 3_600_000
const dayMs = 24 * hourMs
const tenYearsMs = 3650 * dayMs

/** A store on a machine that runs on and on, with a clock that can be set. */
function open(fixture: StoreFixture, change: Partial<StoreFixture["options"]> = {}): Store {
  return fixture.open({ uptimeMs: () => fixture.clock.monotonicMs(), ...change })
}

/** As `runs prune --older-than` does it. */
function prune(store: Store, ageMs: number): readonly string[] {
  return store.executions.prune({ beforePosition: store.upkeep.firstPositionWithin(ageMs) }, "age")
}

describe("what is old enough to go", () => {
  test("is what was recorded before the first record of that age", () => {
    using fixture = storeFixture()
    const store = open(fixture)
    const old = runOne(store)
    store.upkeep.time()
    fixture.clock.advance(20 * dayMs)
    const young = runOne(store)
    fixture.clock.advance(20 * dayMs)
    expect(prune(store, 30 * dayMs)).toEqual([old])
    expect(prune(store, 30 * dayMs)).toEqual([])
    fixture.clock.advance(20 * dayMs)
    expect(prune(store, 30 * dayMs)).toEqual([young])
  })

  test("is nothing under a clock that is ten years ahead, also after executions were recorded by it", () => {
    using fixture = storeFixture()
    const store = open(fixture)
    const before = runOne(store)
    fixture.clock.jump(tenYearsMs)
    expect(prune(store, 30 * dayMs)).toEqual([])
    const during = runOne(store)
    fixture.clock.advance(hourMs)
    expect(prune(store, 30 * dayMs)).toEqual([])
    fixture.clock.jump(-tenYearsMs)
    const after = runOne(store)
    expect(prune(store, 30 * dayMs)).toEqual([])
    fixture.clock.advance(31 * dayMs)
    expect(prune(store, 30 * dayMs)).toEqual([before, during, after])
  })

  test("is nothing under a clock that is ten years behind, and what was recorded by it goes in its turn", () => {
    using fixture = storeFixture()
    const store = open(fixture)
    const before = runOne(store)
    store.anchor()
    fixture.clock.jump(-tenYearsMs)
    const during = runOne(store)
    expect(prune(store, 30 * dayMs)).toEqual([])
    fixture.clock.jump(tenYearsMs)
    const after = runOne(store)
    expect(prune(store, 30 * dayMs)).toEqual([])
    fixture.clock.advance(31 * dayMs)
    expect(prune(store, 30 * dayMs)).toEqual([before, during, after])
  })

  test("is counted from a clock that ran ahead once a person says that it is right", () => {
    using fixture = storeFixture()
    const store = open(fixture)
    const old = runOne(store)
    fixture.clock.jump(60 * dayMs)
    expect(store.upkeep.time().aheadMs).toBeGreaterThan(58 * dayMs)
    expect(prune(store, 30 * dayMs)).toEqual([])
    store.upkeep.trustClock()
    expect([store.upkeep.time().aheadMs, prune(store, 30 * dayMs)]).toEqual([0, [old]])
  })
})

describe("how long a thing is kept", () => {
  test("counts from when it was first seen, in the time that has passed", () => {
    using fixture = storeFixture()
    const store = open(fixture)
    const ages = (...names: string[]) => [...store.upkeep.ages("checkpoint", names)]
    expect(ages("a")).toEqual([["a", 0]])
    fixture.clock.jump(tenYearsMs)
    fixture.clock.advance(hourMs)
    expect(ages("a", "b")).toEqual([
      ["a", hourMs],
      ["b", 0],
    ])
    fixture.clock.jump(-2 * tenYearsMs)
    fixture.clock.advance(hourMs)
    expect(ages("b")).toEqual([["b", hourMs]])
    expect(ages("a", "b")).toEqual([
      ["a", 0],
      ["b", hourMs],
    ])
    expect([...store.upkeep.ages("quarantine", ["a"])]).toEqual([["a", 0]])
  })

  test("is not written down by anyone who only reads, nor asked of a table that is not made yet", () => {
    using fixture = storeFixture()
    runOne(open(fixture))
    using raw = new Database(fixture.options.databasePath)
    raw.run("DROP TABLE observed_time; DROP TABLE kept; DELETE FROM migrations WHERE version = 4")
    raw.run("PRAGMA user_version = 3")
    fixture.clock.advance(hourMs)
    expect(open(fixture, { readOnly: true }).upkeep.time()).toMatchObject({ nowMs: fixture.clock.now() })
    expect(open(fixture).upkeep.time().aheadMs).toBe(0)
  })
})

describe("pruning sessions", () => {
  test("takes everything that they said, asked and did, and nothing else, and the chain still closes", () => {
    using fixture = storeFixture()
    const store = open(fixture)
    const [gone, kept] = [fullSession(store), fullSession(store)]
    const outside = runOne(store)
    store.anchor()
    const before = store.verify()
    expect(before.problems).toEqual([])
    expect(store.upkeep.pruneSessions([gone], "test")).toEqual([])
    release(store, gone)
    expect(store.upkeep.pruneSessions([gone], "test")).toEqual([gone])
    expect(store.verify()).toMatchObject({ ok: true, problems: [] })
    expect(store.sessions.list({}).map(({ id }) => id)).toEqual([kept])
    expect(store.executions.list({}).map(({ id }) => id)).toEqual([outside, `exe_of_${kept}`])
    expect(store.approvals.list({}).map(({ sessionId }) => sessionId)).toEqual([kept])
    expect(store.evidence.byTool("read_file", {}).map(({ sessionId }) => sessionId)).toEqual([kept])
    using raw = new Database(fixture.options.databasePath)
    const streams = raw.query<{ stream: string }, []>("SELECT DISTINCT stream FROM events").all()
    expect(streams.filter(({ stream }) => stream.includes(gone.slice(4)))).toEqual([])
  })
})

describe("a session that was changed outside acode is not pruned", () => {
  const changes: readonly (readonly [string, (id: string) => string])[] = [
    [
      "an event",
      id => `UPDATE events SET at = '2020-01-01T00:00:00.000Z' WHERE stream = '${id}' AND seq = 3`,
    ],
    // With this its answer would be the stream of another session.
    ["a question", id => `UPDATE approvals SET id = 'ses_other' WHERE session_id = '${id}'`],
    ["its row", id => `UPDATE sessions SET reason = 'x' WHERE id = '${id}'`],
  ]
  test.each(changes)("in %s", (_, change) => {
    using fixture = storeFixture()
    const store = open(fixture)
    const [changed, whole] = [fullSession(store), fullSession(store)]
    for (const id of [changed, whole]) release(store, id)
    const count = store.log.lastSeq(changed)
    changeDatabase(fixture.options.databasePath, change(changed))
    expect(store.upkeep.pruneSessions([changed, whole], "test")).toEqual([whole])
    expect(store.log.lastSeq(changed)).toBe(count)
    expect(store.changed().map(({ report }) => report.code)).toEqual(["ACODE-SEC-004"])
  })

  test("because its row says that it rests, while its events say that a live process drives it", () => {
    using fixture = storeFixture()
    const store = open(fixture)
    const { id } = startSession(store)
    changeDatabase(fixture.options.databasePath, "UPDATE leases SET boot_id = NULL")
    expect(store.upkeep.pruneSessions([id], "test")).toEqual([])
    expect(store.changed()).toEqual([])
  })
})

/** One of everything that belongs to a session. */
function fullSession(store: Store): string {
  const session = startSession(store)
  const { id } = session
  const approvalId = id.replace("ses_", "apr_")
  const record = recordOf(`exe_of_${id}`)
  const text = { kind: "inline", text: "x" }
  const data = { executionId: record.id, result: { ...record.result, stdout: text, stderr: text } }
  session.append(
    event.callRequested(`cal_${id}`),
    event.approvalRequested(approvalId, id),
    event.callStarted(`cal_${id}`),
    { type: "command.started", version: 1, data: startOf(record.id) },
    { type: "command.finished", version: 1, data },
    event.callSettled(`cal_${id}`),
    event.sessionRested(),
  )
  store.approvals.answer({ approvalId, answer: "granted", by: "ada", via: "command", reason: null })
  const control = id.replace("ses_", "ctl_")
  const lease = store.leases.acquire(control, startOf(nextId()).owner)
  const asked = { sessionId: id, control: "pause", by: "ada", reason: "lunch" }
  store.log.append(control, 0, lease?.epoch ?? 0, [{ type: "control.requested", version: 1, data: asked }])
  if (lease !== null) store.leases.release(lease)
  return id
}

function release(store: Store, stream: string): void {
  store.leases.release({ stream, epoch: 1 })
}

describe("shrinking", () => {
  test("gives back what removed executions took, and leaves every other byte of the history", () => {
    using fixture = storeFixture({ onDisk: true })
    const store = open(fixture)
    for (let count = 0; count < 300; count++) runOne(store, { result: { stdout: `${count} `.repeat(2000) } })
    const kept = runOne(store, { correlationIds: { runId: "run_kept" } })
    const size = () => statSync(fixture.options.databasePath).size
    store.upkeep.shrink()
    const before = size()
    expect(store.executions.prune({ runId: "run_1" }, "age")).toHaveLength(300)
    expect(store.upkeep.shrink()).toBeGreaterThanOrEqual(before - size())
    expect(size()).toBeLessThan(before / 4)
    expect(store.executions.show(kept)?.id).toBe(kept)
    expect(store.verify()).toMatchObject({ ok: true })
  })

  test("waits for no one: while another process writes, the file stays as it is", () => {
    using fixture = storeFixture({ onDisk: true })
    const store = open(fixture, { busyTimeoutMs: 0 })
    for (let count = 0; count < 50; count++) runOne(store)
    store.executions.prune({}, "all")
    using writer = new Database(fixture.options.databasePath)
    writer.run("BEGIN IMMEDIATE")
    expect(store.upkeep.shrink()).toBe(0)
    writer.run("ROLLBACK")
    expect(store.upkeep.shrink()).toBeGreaterThan(0)
  })
})
