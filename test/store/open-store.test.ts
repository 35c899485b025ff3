import { describe, expect, test } from "bun:test"
import { existsSync, statSync } from "node:fs"
import { migrations } from "../../src/store/database/schema.ts"
import { recordPoints } from "../support/crash/record-points.ts"
import { storeChildren } from "./support/children.ts"
import { codeOf, failureOf, runOne, storeFixture } from "./support/store-fixture.ts"

describe("opening a store", () => {
  test("makes it on first use, and finds it again", () => {
    using fixture = storeFixture({ onDisk: true })
    const first = fixture.open()
    const id = runOne(first)
    first[Symbol.dispose]()
    const second = fixture.open()
    expect(second.workspaceId).toBe(first.workspaceId)
    expect(second.executions.show(id)?.id).toBe(id)
    expect(statSync(fixture.options.databasePath).mode & 0o777).toBe(0o600)
  })

  test("makes files beside the database as private as the database", () => {
    using fixture = storeFixture({ onDisk: true })
    runOne(fixture.open())
    for (const suffix of ["-wal", "-shm"])
      expect(statSync(`${fixture.options.databasePath}${suffix}`).mode & 0o777).toBe(0o600)
  })

  test("has a point to crash at wherever something becomes durable", () => {
    using fixture = storeFixture({ onDisk: true })
    const points: string[] = []
    const store = fixture.open({ faults: recordPoints(points) })
    store.anchor()
    const inside = (name: string) => ["begun", "written", "committed"].map(point => `${name}.${point}`)
    expect(points).toEqual([
      ...migrations.flatMap(() => inside("migration")),
      "identity.begun",
      "key.written",
      "key.linked",
      "identity.written",
      "identity.committed",
      // The first anchor stands before there is any event.
      ...inside("anchor"),
      ...inside("anchor"),
      ...inside("time"),
    ])
  })

  test("writes nothing when everything is there", () => {
    using fixture = storeFixture({ onDisk: true })
    fixture.open()
    const points: string[] = []
    fixture.open({ faults: recordPoints(points) })
    expect(points).toEqual([])
  })

  test("gives an id to each workspace", () => {
    using one = storeFixture({ onDisk: true })
    using other = storeFixture({ onDisk: true })
    expect(one.open().workspaceId).not.toBe(other.open().workspaceId)
  })

  test("says what is wrong with the file itself when asked", () => {
    using fixture = storeFixture({ onDisk: true })
    expect(fixture.open().fileProblems()).toEqual([])
  })
})

describe("a reader", () => {
  test("sees everything and can change nothing", () => {
    using fixture = storeFixture({ onDisk: true })
    const id = runOne(fixture.open())
    const reader = fixture.open({ readOnly: true })
    expect(reader.executions.show(id)?.id).toBe(id)
    expect(reader.executions.list({})).toHaveLength(1)
    expect(reader.executions.stats().executions).toBe(1)
    expect(reader.log.read(id)).toHaveLength(2)
    expect(codeOf(() => runOne(reader))).toBe("ACODE-DB-003")
    expect(codeOf(() => reader.executions.prune({}, "x"))).toBe("ACODE-DB-003")
  })

  test("of a workspace without history is reported so, and leaves no trace", () => {
    using fixture = storeFixture({ onDisk: true })
    const failure = failureOf(() => fixture.open({ readOnly: true }))
    expect(failure.report.code).toBe("ACODE-DB-001")
    expect(failure.report.hint).toContain("acode exec")
    expect(existsSync(fixture.options.databasePath)).toBe(false)
  })

  test("gives equal texts equal fingerprints, and those of another workspace others", () => {
    using one = storeFixture()
    using other = storeFixture()
    const [a, b] = [one.open(), other.open()]
    expect(a.fingerprint("text")).toMatch(/^[0-9a-f]{64}$/)
    expect(one.open().fingerprint("text")).toBe(a.fingerprint("text"))
    expect(a.fingerprint("texT")).not.toBe(a.fingerprint("text"))
    expect(b.fingerprint("text")).not.toBe(a.fingerprint("text"))
  })
})

describe("several processes at once", () => {
  test("that open a new workspace together all get the same one", async () => {
    using fixture = storeFixture({ onDisk: true })
    const children = await storeChildren(fixture.directory, "open", 6)
    expect(children.map(child => child.answer)).toEqual(children.map(() => fixture.open().workspaceId))
  })

  test("record 100 commands from 4 processes, every one of them, in one unbroken chain", async () => {
    using fixture = storeFixture({ onDisk: true })
    const children = await storeChildren(fixture.directory, "run", 4, 25)
    const acknowledged = children.flatMap(child => child.answer as string[])
    expect(acknowledged).toHaveLength(100)
    const store = fixture.open()
    const recorded = store.executions.list({}).map(row => row.id)
    expect(recorded.sort()).toEqual(acknowledged.sort())
    expect(store.verify()).toMatchObject({ ok: true, events: 200, streams: 100 })
  }, 30_000)
})
