import { Database } from "bun:sqlite"
import { describe, expect, test } from "bun:test"
import type { ProcessIdentity } from "../../../src/domain/process-identity.ts"
import { openStore } from "../../../src/store/open-store.ts"
import { isProcessAlive } from "../../../src/store/process-identity.ts"
import { storeChild, storeChildren } from "../support/children.ts"
import {
  hides,
  nextId,
  recordOf,
  runOne,
  type StoreFixture,
  startOf,
  storeFixture,
} from "../support/store-fixture.ts"

const dead: ProcessIdentity = { bootId: "gone/1", pid: 1, startTicks: "1" }

/** Starts a command as that process would. */
function startAs(fixture: StoreFixture, owner: ProcessIdentity): string {
  using store = openStore({ ...fixture.options, self: owner })
  const id = nextId()
  store.executions.started(startOf(id, { owner }))
  return id
}

describe("recovery", () => {
  test("closes what a dead process left open, as interrupted", () => {
    using fixture = storeFixture()
    const id = startAs(fixture, dead)
    const store = fixture.open()
    fixture.clock.advance(3_600_000)
    expect(store.executions.recover(isProcessAlive)).toEqual([id])
    expect(store.executions.show(id)?.result).toMatchObject({
      ending: "interrupted",
      success: false,
      durationMs: 0,
      error: { code: "ACODE-EXE-013" },
    })
    expect(store.log.read(id).map(event => event.epoch)).toEqual([1, 2])
    expect(store.verify().ok).toBe(true)
  })

  test("leaves alone what a live process is doing", () => {
    using fixture = storeFixture()
    const store = fixture.open()
    const id = nextId()
    store.executions.started(startOf(id))
    expect(store.executions.recover(isProcessAlive)).toEqual([])
    store.executions.settled(recordOf(id), { stdout: null, stderr: null })
    expect(store.executions.show(id)?.result.ending).toBe("exited")
  })

  test("asks about each owner and takes only the dead", () => {
    using fixture = storeFixture()
    const ids = [1, 2, 3].map(pid => startAs(fixture, { bootId: "b/1", pid, startTicks: "9" }))
    const asked: number[] = []
    const closed = fixture.open().executions.recover(owner => {
      asked.push(owner.pid)
      return owner.pid === 2
    })
    expect(asked).toEqual([1, 2, 3])
    expect(closed).toEqual(ids.filter((_, index) => index !== 1))
  })

  test("knows the owner although the redactor hid it in the event, and from the event when the lease is gone", () => {
    using fixture = storeFixture()
    const owner = { bootId: "boot/1", pid: 7, startTicks: "9" }
    const id = startAs({ ...fixture, options: { ...fixture.options, redactor: hides("boot") } }, owner)
    const store = fixture.open()
    const asked: ProcessIdentity[] = []
    const ask = () => store.executions.recover(found => asked.push(found) > 0)
    ask()
    using db = new Database(fixture.options.databasePath)
    db.run("DELETE FROM leases")
    ask()
    expect(asked).toEqual([owner, { ...owner, bootId: "[REDACTED:test]/1" }])
    expect(store.executions.recover(() => false)).toEqual([id])
    expect(store.verify().ok).toBe(true)
  })

  test("has nothing to do a second time, nor where everything ended", () => {
    using fixture = storeFixture()
    const store = fixture.open()
    runOne(store)
    store.executions.started(startOf(nextId()))
    expect(store.executions.recover(() => false)).toHaveLength(1)
    expect(store.executions.recover(() => false)).toEqual([])
  })

  test("leaves the executions of a session to the session", () => {
    using fixture = storeFixture()
    const store = fixture.open()
    const epoch = store.leases.acquire("ses_a", fixture.options.self)?.epoch ?? 0
    const start = { type: "command.started", version: 1, data: startOf(nextId(), { owner: dead }) }
    store.log.append("ses_a", 0, epoch, [start])
    expect(store.executions.recover(() => false)).toEqual([])
  })

  test("finds a process that was killed by its own identity", async () => {
    using fixture = storeFixture()
    const child = await storeChild(fixture.directory, "abandon")
    expect(child.signal).toBe("SIGKILL")
    const store = fixture.open()
    expect(store.executions.list({}).map(row => row.ending)).toEqual([null])
    expect(store.executions.recover(isProcessAlive)).toHaveLength(1)
    expect(store.executions.list({}).map(row => row.ending)).toEqual(["interrupted"])
  })

  test("two that inspect once close each execution once", async () => {
    using fixture = storeFixture()
    const store = fixture.open()
    const ids = Array.from({ length: 20 }, () => {
      const id = nextId()
      store.executions.started(startOf(id, { owner: dead }))
      return id
    })
    const children = await storeChildren(fixture.directory, "recover", 3)
    const closed = children.flatMap(child => child.answer as string[])
    expect(closed.sort()).toEqual(ids)
    expect(store.verify()).toMatchObject({ ok: true, events: 40 })
  })
})
