import { Database } from "bun:sqlite"
import { describe, expect, test } from "bun:test"
import { existsSync, utimesSync } from "node:fs"
import { artifactPath } from "../../../src/store/artifacts/artifacts.ts"
import { changeDatabase } from "../../support/workspace/at-the-file.ts"
import { event, startSession } from "../support/session-events.ts"
import { hides, nextId, recordOf, runOne, startOf, storeFixture } from "../support/store-fixture.ts"

const dayOf = (day: number, stdout = "fine") => ({
  result: { startTime: `2026-01-0${day}T00:00:00.000Z`, stdout },
})

describe("pruning", () => {
  test("removes whole executions and nothing else, and says which", () => {
    using fixture = storeFixture()
    const store = fixture.open()
    const [old, young] = [runOne(store, dayOf(1)), runOne(store, dayOf(3))]
    const [first] = store.log.read(young)
    expect(store.executions.prune({ beforePosition: first?.position ?? 0 }, "age")).toEqual([old])
    expect(store.executions.list({}).map(row => row.id)).toEqual([young])
    expect(store.log.read(old)).toEqual([])
    expect(store.executions.show(old)).toBeNull()
  })

  test("can be about one run", () => {
    using fixture = storeFixture()
    const store = fixture.open()
    const [a, b] = [runOne(store), runOne(store, { correlationIds: { runId: "run_2" } })]
    expect(store.executions.prune({ runId: "run_2" }, "asked")).toEqual([b])
    expect(store.executions.list({}).map(row => row.id)).toEqual([a])
  })

  test("leaves what still runs", () => {
    using fixture = storeFixture()
    const store = fixture.open()
    const open = nextId()
    store.executions.started(startOf(open))
    const ended = runOne(store)
    expect(store.executions.prune({}, "all")).toEqual([ended])
    store.executions.settled(recordOf(open), { stdout: null, stderr: null })
    expect(store.executions.show(open)).toEqual(recordOf(open))
    expect(store.verify().ok).toBe(true)
  })

  test("leaves what its events do not call a finished execution, whatever the table says, and names what was changed", () => {
    using fixture = storeFixture()
    const store = fixture.open()
    const session = startSession(store)
    session.append(event.sessionFinished())
    const [running, changed, made] = [nextId(), runOne(store), runOne(store)]
    store.executions.started(startOf(running))
    changeDatabase(
      fixture.options.databasePath,
      `UPDATE executions SET id = '${session.id}', stream = '${session.id}' WHERE id = '${made}'`,
      `UPDATE executions SET finished_position = 1 WHERE id = '${running}'`,
      `UPDATE events SET at = '2020-01-01T00:00:00.000Z' WHERE stream = '${changed}' AND seq = 2`,
    )
    expect(store.executions.prune({}, "all")).toEqual([])
    expect(store.log.read(session.id)).toHaveLength(2)
    expect(store.changed().map(({ report }) => report.where)).toEqual([changed])
    expect(store.verify().problems).toMatchObject([{ stream: changed }])
  })

  test("leaves what belongs to a session", () => {
    using fixture = storeFixture()
    const store = fixture.open()
    const epoch = store.leases.acquire("ses_a", fixture.options.self)?.epoch ?? 0
    const record = recordOf(nextId())
    const start = { type: "command.started", version: 1, data: startOf(record.id) }
    const text = { kind: "inline", text: "x" }
    const data = { executionId: record.id, result: { ...record.result, stdout: text, stderr: text } }
    store.log.append("ses_a", 0, epoch, [start, { type: "command.finished", version: 1, data }])
    expect(store.executions.prune({}, "all")).toEqual([])
    expect(store.log.read("ses_a")).toHaveLength(2)
  })

  test("of nothing leaves no trace", () => {
    using fixture = storeFixture()
    const store = fixture.open()
    runOne(store)
    expect(store.executions.prune({ runId: "run_nobody" }, "asked")).toEqual([])
    expect(store.verify()).toMatchObject({ ok: true, events: 2 })
  })

  test("leaves positions and hashes, so that the chain still closes", () => {
    using fixture = storeFixture()
    const store = fixture.open()
    const ids = [runOne(store), runOne(store)]
    const hashes = ids.map(id => store.log.read(id).map(({ position, hash }) => ({ position, hash })))
    store.executions.prune({ runId: "run_1" }, "because")
    using db = new Database(fixture.options.databasePath)
    const rows = db.query<{ stream: string; type: string; data: string }, []>("SELECT * FROM events").all()
    expect(rows.map(row => [row.stream.slice(0, 4), row.type])).toEqual([["prn_", "history.pruned"]])
    expect(JSON.parse(rows[0]?.data ?? "")).toEqual({
      reason: "because",
      streams: ids.map((stream, index) => ({ stream, events: hashes[index] })),
    })
    expect(store.verify()).toMatchObject({ ok: true, events: 1 })
  })

  test("hides secrets in its reason, and lets no redactor near positions and hashes", () => {
    using fixture = storeFixture()
    const store = fixture.open({ redactor: hides("0", "1", "2", "3", "age") })
    runOne(store, {}, "exe_a")
    const hashes = store.log.read("exe_a").map(({ position, hash }) => ({ position, hash }))
    expect(store.executions.prune({}, "of age")).toEqual(["exe_a"])
    using db = new Database(fixture.options.databasePath)
    expect(JSON.parse(db.query<{ data: string }, []>("SELECT data FROM events").get()?.data ?? "")).toEqual({
      reason: "of [REDACTED:test]",
      streams: [{ stream: "exe_a", events: hashes }],
    })
    expect(store.verify().ok).toBe(true)
  })

  test("of very much keeps each tombstone short", () => {
    using fixture = storeFixture()
    const store = fixture.open()
    for (let count = 0; count < 260; count++) runOne(store)
    expect(store.executions.prune({}, "all")).toHaveLength(260)
    using db = new Database(fixture.options.databasePath)
    const rows = db.query<{ bytes: number }, []>("SELECT length(data) AS bytes FROM events").all()
    expect(rows).toHaveLength(2)
    expect(Math.max(...rows.map(row => row.bytes))).toBeLessThan(80_000)
    expect(store.verify().ok).toBe(true)
  })

  test("can be done again and again, and the log continues", () => {
    using fixture = storeFixture()
    const store = fixture.open()
    for (let round = 1; round <= 4; round++) {
      runOne(store)
      store.anchor()
      runOne(store, { correlationIds: { runId: "run_kept" } })
      store.executions.prune({ runId: "run_1" }, `round ${round}`)
      expect(store.verify()).toMatchObject({ ok: true, events: round * 3 })
    }
  })

  test("closes its door behind it", () => {
    using fixture = storeFixture()
    const store = fixture.open()
    runOne(store)
    store.executions.prune({}, "all")
    using db = new Database(fixture.options.databasePath)
    expect(db.query("SELECT * FROM pruning").all()).toEqual([])
    expect(() => db.run("DELETE FROM events")).toThrow("only removed by pruning")
  })
})

describe("artifacts of what was pruned", () => {
  const refOf = (data: unknown) => (data as { result: { stdout: { ref: string } } }).result.stdout.ref

  test("go when nothing else names them", () => {
    using fixture = storeFixture()
    const store = fixture.open()
    const long = "z".repeat(20_000)
    const [first, second] = [runOne(store, dayOf(1, long)), runOne(store, dayOf(3, long))]
    const ref = refOf(store.log.read(first, 1)[0]?.data)
    const path = artifactPath(fixture.options.artifactsDirectory, ref)
    store.executions.prune({ beforePosition: store.log.read(second)[0]?.position ?? 0 }, "age")
    expect(existsSync(path)).toBe(true)
    expect(store.executions.show(second)?.result.stdout).toBe(long)
    store.executions.prune({}, "all")
    expect(existsSync(path)).toBe(false)
    expect(store.verify().ok).toBe(true)
  })

  test("stay for who has just put the same content and is about to name it", () => {
    using fixture = storeFixture()
    const store = fixture.open()
    const long = "z".repeat(20_000)
    runOne(store, dayOf(1, long))
    const id = nextId()
    store.executions.started(startOf(id))
    fixture.clock.advance(1)
    const outcome = store.executions.outcome(recordOf(id, dayOf(1, long)), { stdout: null, stderr: null })
    store.executions.prune({}, "all")
    store.executions.finished(outcome.data)
    expect(store.executions.show(id)?.result.stdout).toBe(long)
    expect(store.verify().ok).toBe(true)
  })

  test("what a crash left behind goes with the first prune an hour later", () => {
    using fixture = storeFixture()
    const store = fixture.open()
    const ref = store.artifacts.put(new TextEncoder().encode("orphan"))
    const path = artifactPath(fixture.options.artifactsDirectory, ref)
    utimesSync(path, fixture.clock.now() / 1000, fixture.clock.now() / 1000)
    fixture.clock.advance(3_600_000)
    store.executions.prune({}, "all")
    expect(existsSync(path)).toBe(true)
    fixture.clock.advance(1)
    store.executions.prune({}, "all")
    expect(existsSync(path)).toBe(false)
  })
})
