import { describe, expect, test } from "bun:test"
import { CommandStarted } from "../../src/domain/events/command-events.ts"
import { newEvent } from "../../src/domain/events/definition.ts"
import { event, type SessionWriter, startSession } from "./support/session-events.ts"
import { nextId, recordOf, runOne, startOf, storeFixture } from "./support/store-fixture.ts"

const nothing = { stdout: null, stderr: null }
const dead = () => false

/** A command that a call of this session has started. */
function begin(session: SessionWriter, id: string): void {
  const start = startOf(id, { correlationIds: { sessionId: session.id } })
  session.append(event.callRequested(`cal_${id}`))
  session.append(event.callStarted(`cal_${id}`), newEvent(CommandStarted, start))
}

const recordIn = (session: SessionWriter, id: string, stdout = "fine\n") =>
  recordOf(id, { correlationIds: { sessionId: session.id }, result: { stdout } })

describe("a command inside a session", () => {
  test("is committed with the call, and then shown, listed and matched like any other", () => {
    using fixture = storeFixture()
    const store = fixture.open()
    const session = startSession(store)
    const id = nextId()
    begin(session, id)
    expect(store.executions.show(id)).toBeNull()
    const record = recordIn(session, id)
    session.append(store.executions.outcome(record, nothing), event.callSettled(`cal_${id}`))
    expect(store.executions.show(id)).toEqual(record)
    expect(store.executions.list({ sessionId: session.id })).toMatchObject([{ id, success: true }])
    expect(store.executions.matching(id.slice(-6))).toEqual([id])
    expect(store.verify()).toMatchObject({ ok: true })
  })

  test("has its long output stored before the event that names it", () => {
    using fixture = storeFixture()
    const store = fixture.open({ inlineBytesMax: 10 })
    const session = startSession(store)
    const id = nextId()
    begin(session, id)
    const outcome = store.executions.outcome(recordIn(session, id, "a long output\n"), nothing)
    expect(outcome.data.result.stdout.kind).toBe("artifact")
    session.append(outcome)
    expect(store.executions.show(id)?.result.stdout).toBe("a long output\n")
  })

  test("is left alone by the recovery of commands, whose end is the session's business", () => {
    using fixture = storeFixture()
    const store = fixture.open()
    const session = startSession(store)
    const [inside, outside] = [nextId(), nextId()]
    begin(session, inside)
    store.executions.started(startOf(outside))
    expect(store.executions.recover(dead)).toEqual([outside])
    expect(store.executions.list({ sessionId: session.id })).toMatchObject([{ id: inside, ending: null }])
  })

  test("is ended as interrupted by anyone who owns the session", () => {
    using fixture = storeFixture()
    const store = fixture.open()
    const session = startSession(store)
    const id = nextId()
    begin(session, id)
    session.append(store.executions.interrupted(id))
    expect(store.executions.show(id)?.result).toMatchObject({
      ending: "interrupted",
      success: false,
      error: { code: "ACODE-EXE-013" },
    })
    expect(() => store.executions.interrupted(id)).toThrow("has started and not ended")
    expect(() => store.executions.interrupted(nextId())).toThrow("has started and not ended")
  })

  test("stays when commands are pruned, with everything it names", () => {
    using fixture = storeFixture()
    const store = fixture.open({ inlineBytesMax: 10 })
    const session = startSession(store)
    const [inside, outside] = [nextId(), nextId()]
    begin(session, inside)
    session.append(store.executions.outcome(recordIn(session, inside, "a long output\n"), nothing))
    runOne(store, { result: { stdout: "a long output\n" } }, outside)
    const before = store.log.read(session.id)
    fixture.clock.advance(7_200_000)
    expect(store.executions.prune({ runId: "run_1" }, "test")).toEqual([outside])
    expect(store.log.read(session.id)).toEqual(before)
    expect(store.executions.show(inside)?.result.stdout).toBe("a long output\n")
    expect(store.verify()).toMatchObject({ ok: true })
  })

  test("artifacts of calls and questions survive a collection as well", () => {
    using fixture = storeFixture()
    const store = fixture.open()
    const session = startSession(store)
    const stored = (text: string) => {
      const bytes = new TextEncoder().encode(text)
      return { kind: "artifact", ref: store.artifacts.put(bytes), bytes: bytes.length } as const
    }
    const [given, result, changes, preview] = ["1", "2", "[]", "look"].map(stored)
    if (!given || !result || !changes || !preview) return expect.unreachable()
    session.append(event.callRequested("cal_1", { arguments: given }))
    session.append(event.approvalRequested("apr_1", session.id, { preview }))
    session.append(event.callSettled("cal_1", { result, changes: { ...changes, count: 1 } }))
    const orphan = stored("nobody names this")
    runOne(store)
    fixture.clock.advance(1e12)
    store.executions.prune({ runId: "run_1" }, "test")
    expect(store.artifacts.get(orphan.ref)).toBeNull()
    for (const { ref } of [given, result, changes, preview]) expect(store.artifacts.get(ref)).not.toBeNull()
  })
})
