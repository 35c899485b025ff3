import { describe, expect, test } from "bun:test"
import { processIdentity } from "../../../src/store/process-identity.ts"
import { changeDatabase } from "../../support/workspace/at-the-file.ts"
import { event, startSession } from "../support/session-events.ts"
import { hides, storeFixture } from "../support/store-fixture.ts"

const dead = () => false
const alive = () => true

describe("the sessions of a workspace", () => {
  test("are listed newest first by their place in the log, wherever the clock was", () => {
    using fixture = storeFixture()
    const store = fixture.open()
    expect(store.sessions.latest()).toBeNull()
    const [a, b] = [startSession(store), startSession(store)]
    fixture.clock.jump(-3_600_000)
    const c = startSession(store)
    expect(store.sessions.list({}).map(session => session.id)).toEqual([c.id, b.id, a.id])
    expect(store.sessions.list({ limit: 2 }).map(session => session.id)).toEqual([c.id, b.id])
    expect(store.sessions.latest()?.id).toBe(c.id)
  })

  test("are listed by lane", () => {
    using fixture = storeFixture()
    const store = fixture.open()
    startSession(store)
    const agent = startSession(store, { lane: "agent", planId: null, planHash: null })
    expect(store.sessions.list({ lane: "agent" }).map(session => session.id)).toEqual([agent.id])
    expect(store.sessions.list({ lane: "skill" })).toEqual([])
  })

  test("are found whole", () => {
    using fixture = storeFixture()
    const store = fixture.open()
    const session = startSession(store, { goal: "tidy", stepCount: 2 })
    session.append(event.stepStarted(), event.stepFinished(), event.sessionFinished())
    const at = new Date(fixture.clock.now()).toISOString()
    expect(store.sessions.find(session.id)).toEqual({
      id: session.id,
      lane: "plan",
      goal: "tidy",
      planId: "plan-1",
      planHash: `sha256:${"1".repeat(64)}`,
      state: "COMPLETED",
      reason: "all steps done",
      exitCode: 0,
      stepCount: 2,
      stepsDone: 1,
      startedAt: at,
      endedAt: at,
      owner: processIdentity(),
      undoneAt: null,
      partlyUndoneAt: null,
    })
    expect(store.sessions.find("ses_other")).toBeNull()
  })

  test("of which something was left when they were undone are undone in part", () => {
    using fixture = storeFixture()
    const store = fixture.open()
    const session = startSession(store)
    const at = new Date(fixture.clock.now()).toISOString()
    session.append(event.sessionFinished(), event.sessionUndone({ foreign: ["b.txt"] }))
    expect(store.sessions.find(session.id)).toMatchObject({ undoneAt: null, partlyUndoneAt: at })
    session.append(event.sessionUndone())
    expect(store.sessions.find(session.id)).toMatchObject({ undoneAt: at, partlyUndoneAt: null })
  })

  test("are undone until they continue", () => {
    using fixture = storeFixture()
    const store = fixture.open()
    const session = startSession(store)
    const at = new Date(fixture.clock.now()).toISOString()
    const undoneAt = () => store.sessions.find(session.id)?.undoneAt
    session.append(event.sessionRested(), event.sessionUndone())
    expect(undoneAt()).toBe(at)
    session.append(event.sessionResumed())
    expect([undoneAt(), store.sessions.list({})[0]?.undoneAt]).toEqual([null, null])
    fixture.clock.advance(1_000)
    session.append(event.sessionFinished(), event.sessionUndone())
    expect(undoneAt()).toBe(new Date(fixture.clock.now()).toISOString())
  })

  test("are matched by the beginning and by the end of their ids", () => {
    using fixture = storeFixture()
    const store = fixture.open()
    const [a, b] = [startSession(store), startSession(store)]
    expect(store.sessions.matching("ses_")).toEqual([a.id, b.id])
    expect(store.sessions.matching(a.id.slice(-6))).toEqual([a.id])
    expect(store.sessions.matching("%")).toEqual([])
    expect(store.sessions.matching("")).toEqual([])
  })
})

describe("an interrupted session", () => {
  test("is one that runs and whose process is gone", () => {
    using fixture = storeFixture()
    const store = fixture.open()
    const [first, second] = [startSession(store), startSession(store)]
    expect(store.sessions.interrupted(dead).map(session => session.id)).toEqual([first.id, second.id])
    expect(store.sessions.interrupted(alive)).toEqual([])
  })

  test("is none that rests or has ended", () => {
    using fixture = storeFixture()
    const store = fixture.open()
    startSession(store).append(event.sessionRested())
    startSession(store).append(event.sessionFinished())
    expect(store.sessions.interrupted(dead)).toEqual([])
  })

  test("is judged by anyone who holds its lease, whatever the redactor made of the event", () => {
    using fixture = storeFixture()
    const self = processIdentity()
    const store = fixture.open({ redactor: hides(self.bootId) })
    const session = startSession(store)
    expect(store.sessions.find(session.id)?.owner.bootId).not.toBe(self.bootId)
    expect(store.sessions.interrupted(owner => Bun.deepEquals(owner, self))).toEqual([])
  })

  test("is none because a table says so: its events say that it rests, or is of another lane, or that its process lives", () => {
    using fixture = storeFixture()
    const store = fixture.open()
    const rests = startSession(store)
    rests.append(event.sessionRested())
    const agent = startSession(store, { lane: "agent", planId: null, planHash: null })
    const changed = startSession(store)
    const { databasePath } = fixture.options
    changeDatabase(
      databasePath,
      "UPDATE sessions SET reason = NULL, exit_code = NULL, lane = 'plan', pid = 1",
      "UPDATE leases SET boot_id = 'gone'",
      `UPDATE events SET epoch = 7 WHERE stream = '${changed.id}'`,
    )
    expect(store.sessions.interrupted(dead, "plan")).toEqual([])
    expect(store.sessions.interrupted(dead).map(({ id }) => id)).toEqual([agent.id])
    expect(store.sessions.interrupted(owner => Bun.deepEquals(owner, processIdentity()))).toEqual([])
    expect(store.changed()[0]?.report.where).toBe(changed.id)
  })

  test("is judged by its first event when the lease was given back", () => {
    using fixture = storeFixture()
    const store = fixture.open()
    const owner = { bootId: "boot", pid: 77, startTicks: "5" }
    const session = startSession(store, { owner })
    store.leases.release({ stream: session.id, epoch: 1 })
    const asked: unknown[] = []
    store.sessions.interrupted(who => asked.push(who) === 0)
    expect(asked).toEqual([owner])
  })
})
