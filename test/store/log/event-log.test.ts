import { describe, expect, test } from "bun:test"
import { HistoryPruned } from "../../../src/domain/events/command-events.ts"
import { newEvent } from "../../../src/domain/events/definition.ts"
import type { Store } from "../../../src/store/contract.ts"
import { codeOf, failureOf, hides, runOne, storeFixture } from "../support/store-fixture.ts"

const fact = (reason: string) => newEvent(HistoryPruned, { reason, streams: [] })

function owned(store: Store, stream: string): number {
  const lease = store.leases.acquire(stream, { bootId: "b/1", pid: 1, startTicks: "1" })
  if (lease === null) throw new Error("the lease is held")
  return lease.epoch
}

describe("an append", () => {
  test("gives each event its place in the stream and in the workspace", () => {
    using fixture = storeFixture()
    const store = fixture.open()
    const [a, b] = [owned(store, "ses_a"), owned(store, "ses_b")]
    store.log.append("ses_a", 0, a, [fact("1"), fact("2")])
    store.log.append("ses_b", 0, b, [fact("3")])
    const [fourth] = store.log.append("ses_a", 2, a, [fact("4")])
    const places = [...store.log.read("ses_a"), ...store.log.read("ses_b")].map(
      ({ stream, seq, position }) => [stream, seq, position],
    )
    expect(places).toEqual([
      ["ses_a", 1, 1],
      ["ses_a", 2, 2],
      ["ses_a", 3, 4],
      ["ses_b", 1, 3],
    ])
    expect(fourth).toEqual(store.log.read("ses_a", 2)[0])
    expect([...store.log.each("ses_a")]).toEqual([...store.log.read("ses_a")])
    expect(["ses_a", "ses_b", "ses_c"].map(stream => store.log.lastSeq(stream))).toEqual([3, 1, 0])
  })

  test("of nothing writes nothing, and is refused to anyone who may not append", () => {
    using fixture = storeFixture()
    const store = fixture.open()
    const epoch = owned(store, "ses_a")
    expect(store.log.append("ses_a", 0, epoch, [])).toEqual([])
    expect(store.log.read("ses_a")).toEqual([])
    expect(codeOf(() => store.log.append("ses_a", 0, epoch + 1, []))).toBe("ACODE-DB-007")
    expect(codeOf(() => store.log.append("ses_a", 5, epoch, []))).toBe("ACODE-DB-007")
  })

  test("links each event to the one before it in its stream", () => {
    using fixture = storeFixture()
    const store = fixture.open()
    const epoch = owned(store, "ses_a")
    store.log.append("ses_a", 0, epoch, [fact("1"), fact("2")])
    store.log.append("ses_a", 2, epoch, [fact("3")])
    const events = store.log.read("ses_a")
    expect(events.map(event => event.prevHash)).toEqual(["", events[0]?.hash ?? "", events[1]?.hash ?? ""])
    expect(new Set(events.map(event => event.hash)).size).toBe(3)
  })

  test("is stamped with the time it was made", () => {
    using fixture = storeFixture()
    const store = fixture.open()
    const epoch = owned(store, "ses_a")
    store.log.append("ses_a", 0, epoch, [fact("1")])
    fixture.clock.jump(-3_600_000)
    store.log.append("ses_a", 1, epoch, [fact("2")])
    expect(store.log.read("ses_a").map(event => event.at)).toEqual([
      "2026-01-02T03:04:05.678Z",
      "2026-01-02T02:04:05.678Z",
    ])
    expect(store.verify().ok).toBe(true)
  })

  test("survives closing and opening again", () => {
    using fixture = storeFixture()
    const first = fixture.open()
    const appended = first.log.append("ses_a", 0, owned(first, "ses_a"), [fact("1")])
    first[Symbol.dispose]()
    expect(fixture.open().log.read("ses_a")).toEqual([...appended])
  })

  test("hides secrets before it hashes them", () => {
    using fixture = storeFixture()
    const store = fixture.open({ redactor: hides("hunter22") })
    const [event] = store.log.append("ses_a", 0, owned(store, "ses_a"), [fact("it was hunter22")])
    expect(event?.data).toEqual({ reason: "it was [REDACTED:test]", streams: [] })
    expect(store.verify().ok).toBe(true)
  })

  test("of nothing changes nothing", () => {
    using fixture = storeFixture()
    const store = fixture.open()
    expect(store.log.append("ses_a", 0, owned(store, "ses_a"), [])).toEqual([])
    expect(store.verify()).toMatchObject({ ok: true, events: 0 })
  })
})

describe("an append is refused", () => {
  test("when the stream has moved on", () => {
    using fixture = storeFixture()
    const store = fixture.open()
    const epoch = owned(store, "ses_a")
    store.log.append("ses_a", 0, epoch, [fact("1")])
    for (const expectedSeq of [0, 2])
      expect(codeOf(() => store.log.append("ses_a", expectedSeq, epoch, [fact("x")]))).toBe("ACODE-DB-007")
    expect(store.log.read("ses_a")).toHaveLength(1)
  })

  test("when no one holds the stream", () => {
    using fixture = storeFixture()
    const store = fixture.open()
    expect(codeOf(() => store.log.append("ses_a", 0, 1, [fact("x")]))).toBe("ACODE-DB-007")
    const lease = store.leases.acquire("ses_a", fixture.options.self)
    if (lease !== null) store.leases.release(lease)
    expect(codeOf(() => store.log.append("ses_a", 0, 1, [fact("x")]))).toBe("ACODE-DB-007")
  })

  test("when it comes from an owner that has been replaced", () => {
    using fixture = storeFixture()
    const store = fixture.open({ liveness: () => "dead" })
    const [stale, current] = [owned(store, "ses_a"), owned(store, "ses_a")]
    const failure = failureOf(() => store.log.append("ses_a", 0, stale, [fact("x")]))
    expect(failure.report.code).toBe("ACODE-DB-007")
    expect(failure.report.message).toContain("has epoch 2")
    expect(store.log.append("ses_a", 0, current, [fact("y")])).toHaveLength(1)
  })

  test("when another process has taken what it is appended under", () => {
    using fixture = storeFixture()
    const store = fixture.open({ liveness: () => "dead" })
    const epoch = owned(store, "ses_a")
    const under = { stream: "workspace", epoch: owned(store, "workspace") }
    expect(store.log.append("ses_a", 0, epoch, [fact("1")], under)).toHaveLength(1)
    owned(store, "workspace")
    for (const events of [[fact("2")], []]) {
      const { code, where } = failureOf(() => store.log.append("ses_a", 1, epoch, events, under)).report
      expect([code, where]).toEqual(["ACODE-DB-007", "workspace"])
    }
    expect(store.log.read("ses_a")).toHaveLength(1)
  })

  test("whole when one of its events cannot be written", () => {
    using fixture = storeFixture()
    const store = fixture.open()
    const epoch = owned(store, "ses_a")
    const invalid = { ...fact("2"), version: 99 }
    expect(() => store.log.append("ses_a", 0, epoch, [fact("1"), invalid])).toThrow(
      "is declared in the manifest",
    )
    expect(store.log.read("ses_a")).toEqual([])
    expect(store.log.append("ses_a", 0, epoch, [fact("1")])[0]?.position).toBe(1)
  })
})

describe("reading", () => {
  test("gives the events after a number, in order", () => {
    using fixture = storeFixture()
    const store = fixture.open()
    const id = runOne(store)
    expect(store.log.read(id).map(event => event.type)).toEqual(["command.started", "command.finished"])
    expect(store.log.read(id, 1).map(event => event.seq)).toEqual([2])
    expect(store.log.read(id, 2)).toEqual([])
    expect(store.log.read("exe_nobody")).toEqual([])
  })
})
