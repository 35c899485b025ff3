import { Database } from "bun:sqlite"
import { describe, expect, test } from "bun:test"
import { HistoryPruned } from "../../src/domain/events/command-events.ts"
import { newEvent } from "../../src/domain/events/definition.ts"
import type { ProcessIdentity } from "../../src/domain/process-identity.ts"
import { codeOf, storeFixture } from "./support/store-fixture.ts"

const one: ProcessIdentity = { bootId: "b/1", pid: 11, startTicks: "1" }
const other: ProcessIdentity = { bootId: "b/1", pid: 12, startTicks: "2" }
const tenYearsMs = 10 * 365 * 24 * 3_600_000
const fact = newEvent(HistoryPruned, { reason: "x", streams: [] })
const alive = { liveness: () => "alive" as const }
const dead = { liveness: () => "dead" as const }
const firstDead = {
  liveness: (owner: ProcessIdentity) => (owner.pid === one.pid ? ("dead" as const) : ("alive" as const)),
}

describe("a lease", () => {
  test("belongs to one owner at a time", () => {
    using fixture = storeFixture()
    const { leases } = fixture.open(alive)
    expect(leases.acquire("ses_a", one)).toMatchObject({ stream: "ses_a", epoch: 1 })
    expect(leases.acquire("ses_a", other)).toBeNull()
    expect(leases.acquire("ses_b", other)).toMatchObject({ stream: "ses_b", epoch: 1 })
  })

  test("is held until it is given back or taken, and says by whom", () => {
    using fixture = storeFixture()
    const { leases } = fixture.open(firstDead)
    const first = leases.acquire("ses_a", one)
    if (first === null) throw new Error("the lease is held")
    expect([leases.renew(first), leases.owner("ses_a")]).toEqual([true, one])
    const second = leases.acquire("ses_a", other)
    if (second === null) throw new Error("the lease is held")
    expect([leases.renew(first), leases.renew(second), leases.owner("ses_a")]).toEqual([false, true, other])
    leases.release(second)
    expect([leases.renew(second), leases.owner("ses_a"), leases.owner("ses_b")]).toEqual([false, null, null])
  })

  test("can be taken by no one while work is done under it", () => {
    using fixture = storeFixture()
    const { leases } = fixture.open({ ...alive, busyTimeoutMs: 0 })
    const another = fixture.open({ ...dead, busyTimeoutMs: 0 })
    const lease = leases.acquire("ses_a", one)
    if (lease === null) throw new Error("the lease is held")
    const taken = () => another.leases.acquire("ses_a", other)
    expect(leases.whileHeld(lease, lease, () => codeOf(taken))).toBe("ACODE-DB-002")
    expect(taken()).toMatchObject({ stream: "ses_a", epoch: 2 })
    let isDone = false
    expect(codeOf(() => leases.whileHeld(lease, lease, () => (isDone = true)))).toBe("ACODE-DB-007")
    expect(isDone).toBeFalse()
  })

  test("is taken from a dead owner at once, with a higher epoch", () => {
    using fixture = storeFixture()
    const { leases } = fixture.open(firstDead)
    leases.acquire("ses_a", one)
    expect(leases.acquire("ses_a", other)).toMatchObject({ stream: "ses_a", epoch: 2 })
    expect(leases.acquire("ses_a", one)).toBeNull()
  })

  test("stays with a living owner and leaves a dead one, wherever the clock is set", () => {
    for (const jumpMs of [tenYearsMs, -tenYearsMs]) {
      using fixture = storeFixture()
      const [living, gone] = [fixture.open(alive), fixture.open(dead)]
      living.leases.acquire("ses_a", one)
      fixture.clock.jump(jumpMs)
      expect([living.leases.acquire("ses_a", other), gone.leases.acquire("ses_a", other)]).toEqual([
        null,
        { stream: "ses_a", epoch: 2, owner: other },
      ])
    }
  })

  test("of an owner that cannot be inspected lasts as long as it is renewed, whatever the clock says", () => {
    using fixture = storeFixture()
    let uptimeMs = 5_000
    const store = fixture.open({ liveness: () => "hidden", uptimeMs: () => uptimeMs, hiddenLeaseMs: 1000 })
    const lease = store.leases.acquire("ses_a", one)
    for (let round = 0; round < 3; round++) {
      uptimeMs += 999
      fixture.clock.jump(tenYearsMs)
      expect(store.leases.acquire("ses_a", other)).toBeNull()
      expect(lease && store.leases.renew(lease)).toBe(true)
    }
    uptimeMs += 1000
    fixture.clock.jump(-9 * tenYearsMs)
    expect(store.leases.acquire("ses_a", other)?.epoch).toBe(2)
    expect(codeOf(() => store.log.append("ses_a", 0, lease?.epoch ?? 0, [fact]))).toBe("ACODE-DB-007")
    expect(lease && store.leases.renew(lease)).toBe(false)
  })

  test("whose end an older acode wrote by the time of day does not hold for years", () => {
    using fixture = storeFixture()
    const store = fixture.open({ liveness: () => "hidden", uptimeMs: () => 5_000 })
    store.leases.acquire("ses_a", one)
    using raw = new Database(fixture.options.databasePath)
    raw.query("UPDATE leases SET expires_at = ?").run(fixture.clock.now() + 60_000)
    expect(store.leases.acquire("ses_a", other)?.epoch).toBe(2)
  })

  test("given back, is free at once, and its epoch is not given out again", () => {
    using fixture = storeFixture()
    const store = fixture.open(alive)
    const first = store.leases.acquire("ses_a", one)
    if (first !== null) store.leases.release(first)
    expect(first && store.leases.renew(first)).toBe(false)
    const second = store.leases.acquire("ses_a", other)
    expect(second?.epoch).toBe(2)
    expect(codeOf(() => store.log.append("ses_a", 0, first?.epoch ?? 0, [fact]))).toBe("ACODE-DB-007")
  })

  test("cannot be given back by an owner that has lost it", () => {
    using fixture = storeFixture()
    const { leases } = fixture.open(dead)
    const stale = leases.acquire("ses_a", one)
    const current = leases.acquire("ses_a", other)
    if (stale !== null) leases.release(stale)
    expect(current && leases.renew(current)).toBe(true)
  })

  test("is above the epochs of the events, even when its row is gone", () => {
    using fixture = storeFixture()
    const store = fixture.open(dead)
    store.leases.acquire("ses_a", one)
    const second = store.leases.acquire("ses_a", one)
    store.log.append("ses_a", 0, second?.epoch ?? 0, [fact])
    using raw = new Database(fixture.options.databasePath)
    raw.run("DELETE FROM leases")
    expect(store.leases.acquire("ses_a", other)?.epoch).toBe(3)
  })

  test("whose row someone changed is above the epochs of the events nevertheless", () => {
    using fixture = storeFixture()
    const store = fixture.open(dead)
    const first = store.leases.acquire("ses_a", one)
    store.log.append("ses_a", 0, first?.epoch ?? 0, [fact])
    using raw = new Database(fixture.options.databasePath)
    raw.run("UPDATE leases SET epoch = -5, boot_id = NULL")
    expect(store.leases.acquire("ses_a", other)?.epoch).toBe(2)
  })

  test("that someone gave to another owner by changing its row is lost to the first, whatever the epoch", () => {
    using fixture = storeFixture()
    const store = fixture.open(alive)
    const workspace = store.leases.acquire("workspace", one)
    const own = store.leases.acquire("ses_a", one)
    if (workspace === null || own === null) throw new Error("the lease is held")
    using raw = new Database(fixture.options.databasePath)
    raw.run("UPDATE leases SET epoch = epoch - 1, boot_id = NULL WHERE stream = 'workspace'")
    expect(store.leases.acquire("workspace", other)?.epoch).toBe(workspace.epoch)
    expect(codeOf(() => store.log.append("ses_a", 0, own.epoch, [fact], workspace))).toBe("ACODE-DB-007")
    expect(codeOf(() => store.leases.whileHeld(own, workspace, () => undefined))).toBe("ACODE-DB-007")
  })

  test("is seen by every connection", () => {
    using fixture = storeFixture()
    const [here, there] = [fixture.open(alive), fixture.open(alive)]
    expect(here.leases.acquire("ses_a", one)).not.toBeNull()
    expect(there.leases.acquire("ses_a", other)).toBeNull()
  })
})
