import { describe, expect, test } from "bun:test"
import { readFileSync, rmSync, writeFileSync } from "node:fs"
import { noFaults } from "../../src/base/faults.ts"
import { artifactPath } from "../../src/store/artifacts/artifacts.ts"
import { type DatabaseConnection, openDatabase } from "../../src/store/database/database.ts"
import { anchorPath } from "../../src/store/log/anchors.ts"
import { findTail } from "../../src/store/log/event-log.ts"
import { readKey } from "../../src/store/log/keys.ts"
import { verifyLog } from "../../src/store/verify.ts"
import { changeDatabase } from "../support/workspace/at-the-file.ts"
import { event, startSession } from "./support/session-events.ts"
import { nextId, runOne, type StoreFixture, startOf, storeFixture } from "./support/store-fixture.ts"

/** Somebody at the file: the triggers are no hindrance to them. */
function atTheFile({ options }: StoreFixture, ...statements: string[]): void {
  changeDatabase(options.databasePath, ...statements)
}

describe("an audit", () => {
  test("of a genuine log counts what it saw and how far it is anchored", () => {
    using fixture = storeFixture()
    const store = fixture.open()
    expect(store.verify()).toEqual({
      ok: true,
      events: 0,
      streams: 0,
      anchoredPosition: null,
      accepted: [],
      problems: [],
    })
    runOne(store)
    store.anchor()
    runOne(store)
    store.executions.started(startOf(nextId()))
    expect(store.verify()).toEqual({
      ok: true,
      events: 5,
      streams: 3,
      anchoredPosition: 2,
      accepted: [],
      problems: [],
    })
  })

  test("works for a reader", () => {
    using fixture = storeFixture()
    const writer = fixture.open()
    runOne(writer)
    writer.anchor()
    expect(fixture.open({ readOnly: true }).verify()).toEqual(writer.verify())
  })

  test("names the first bad event first, and every other after it", () => {
    using fixture = storeFixture()
    const store = fixture.open()
    const ids = [runOne(store), runOne(store), runOne(store)]
    atTheFile(fixture, "UPDATE events SET data = '{}' WHERE position IN (3, 5)")
    expect(store.verify().problems).toEqual([
      { stream: ids[1] ?? "", seq: 1, position: 3, what: "its content does not match its signature" },
      { stream: ids[2] ?? "", seq: 1, position: 5, what: "its content does not match its signature" },
    ])
  })

  test("of a log that is wrong everywhere ends somewhere", () => {
    using fixture = storeFixture()
    const store = fixture.open()
    for (let count = 0; count < 60; count++) runOne(store)
    atTheFile(fixture, "UPDATE events SET data = '{}'")
    expect(store.verify().problems).toHaveLength(100)
  })

  test("of one execution counts its events, and reports of no other's table and artifacts", () => {
    using fixture = storeFixture()
    const store = fixture.open()
    const [good, bad] = [runOne(store), runOne(store)]
    atTheFile(fixture, `UPDATE executions SET exit_code = 7 WHERE id = '${bad}'`)
    expect(store.verify(good)).toMatchObject({ ok: true, events: 2, streams: 1, problems: [] })
    expect(store.verify(bad)).toMatchObject({ ok: false, events: 2, problems: [{ stream: bad, seq: 2 }] })
  })

  test("of one execution is never content while an event of anyone is bad", () => {
    using fixture = storeFixture()
    const store = fixture.open()
    const [good, last] = [runOne(store), runOne(store)]
    // Whoever wants to hide the end of an execution says that it was another's.
    atTheFile(fixture, "UPDATE events SET stream = 'exe_other', seq = 1 WHERE position = 4")
    for (const id of [good, last])
      expect(store.verify(id)).toMatchObject({ ok: false, problems: [{ stream: "exe_other", position: 4 }] })
    atTheFile(fixture, "DELETE FROM events WHERE position = 3")
    expect(store.verify(good).problems[0]).toMatchObject({ stream: null, position: 3 })
  })

  test("of one execution is not content either when others' bad events fill the list", () => {
    using fixture = storeFixture()
    const store = fixture.open()
    for (let count = 0; count < 60; count++) runOne(store)
    const last = runOne(store)
    atTheFile(fixture, "UPDATE events SET data = '{}'")
    expect(store.verify(last).ok).toBe(false)
  })

  test("of what no event reports of is not content", () => {
    using fixture = storeFixture()
    const store = fixture.open()
    runOne(store)
    expect(store.verify("exe_nobody")).toMatchObject({
      ok: false,
      events: 0,
      streams: 0,
      problems: [{ stream: "exe_nobody", what: "no event mentions it" }],
    })
  })

  test("of a session counts the answers to what it asked, and inspects their rows", () => {
    using fixture = storeFixture()
    const store = fixture.open()
    const session = startSession(store)
    session.append(event.approvalRequested("apr_1", session.id))
    store.approvals.answer({
      approvalId: "apr_1",
      answer: "granted",
      by: "ada",
      via: "command",
      reason: null,
    })
    const other = startSession(store)
    expect(store.verify(session.id)).toMatchObject({ ok: true, events: 3, streams: 2 })
    atTheFile(fixture, "UPDATE approvals SET answered_by = 'bob'")
    expect(store.verify(session.id)).toMatchObject({ ok: false, problems: [{ stream: "apr_1" }] })
    expect(store.verify(other.id).ok).toBe(true)
  })

  test("does not take what others do meanwhile for a mistake", () => {
    using fixture = storeFixture()
    const [store, other] = [fixture.open(), fixture.open()]
    runOne(store, { result: { stdout: "o".repeat(20_000) } })
    store.anchor()
    const { databasePath: path, keysDirectory, ...places } = fixture.options
    using connection = openDatabase({ path, readOnly: true, busyTimeoutMs: 100, faults: noFaults })
    const busy = () => {
      runOne(other, { result: { stdout: "o".repeat(20_000) } })
      other.anchor()
      other.executions.prune({}, "all")
    }
    const snapshot: DatabaseConnection["snapshot"] = work => {
      busy()
      const result = connection.snapshot(() => {
        findTail(connection)
        busy()
        return work()
      })
      busy()
      return result
    }
    const identity = { workspaceId: store.workspaceId, key: readKey(keysDirectory, store.workspaceId) }
    const report = verifyLog({ ...places, connection: { ...connection, snapshot }, identity, problemsMax: 9 })
    expect(report).toMatchObject({ ok: true, events: 1, anchoredPosition: 2 })
    expect(store.verify()).toMatchObject({ ok: true, events: 3 })
  })
})

describe("an audit of artifacts", () => {
  const long = { result: { stdout: "o".repeat(20_000) } }
  const refOf = (fixture: StoreFixture) => {
    using connection = openDatabase({
      path: fixture.options.databasePath,
      readOnly: true,
      busyTimeoutMs: 100,
      faults: noFaults,
    })
    return connection.db.query<{ ref: string }, []>("SELECT ref FROM artifact_references").get()?.ref ?? ""
  }

  test("finds one that is gone or changed, and the event that names it", () => {
    using fixture = storeFixture()
    const store = fixture.open()
    const id = runOne(store, long)
    const ref = refOf(fixture)
    const path = artifactPath(fixture.options.artifactsDirectory, ref)
    writeFileSync(path, readFileSync(path, "utf8").replace("o", "p"))
    const place = { stream: id, seq: 2, position: 2 }
    expect(store.verify().problems).toEqual([{ ...place, what: `its artifact ${ref} was changed` }])
    rmSync(path)
    expect(store.verify().problems).toEqual([{ ...place, what: `its artifact ${ref} is missing` }])
  })

  test("of one execution finds what it shares with an earlier one, and not what others name", () => {
    using fixture = storeFixture()
    const store = fixture.open()
    const [first, second, other] = [runOne(store, long), runOne(store, long), runOne(store)]
    rmSync(artifactPath(fixture.options.artifactsDirectory, refOf(fixture)))
    expect([first, second, other].map(id => store.verify(id).problems.map(({ stream }) => stream))).toEqual([
      [first],
      [second],
      [],
    ])
  })

  test("does not look for those of pruned executions", () => {
    using fixture = storeFixture()
    const store = fixture.open()
    runOne(store, long)
    store.executions.prune({}, "all")
    expect(store.verify()).toMatchObject({ ok: true, events: 1 })
  })
})

describe("an audit of the anchors", () => {
  test("finds one that was changed", () => {
    using fixture = storeFixture()
    const store = fixture.open()
    runOne(store)
    store.anchor()
    const path = anchorPath(fixture.options.anchorsDirectory, store.workspaceId)
    writeFileSync(path, readFileSync(path, "utf8").replace('"position":2', '"position":1'))
    expect(store.verify().problems).toEqual([
      { stream: null, seq: null, position: 1, what: "an anchor of this log was changed" },
    ])
  })
})
