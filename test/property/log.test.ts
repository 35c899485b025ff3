import { Database } from "bun:sqlite"
import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { canonicalJson } from "../../src/base/canonical.ts"
import { HistoryPruned } from "../../src/domain/events/command-events.ts"
import { newEvent } from "../../src/domain/events/definition.ts"
import type { Store } from "../../src/store/contract.ts"
import { nextId, recordOf, runOne, startOf, storeFixture } from "../store/support/store-fixture.ts"

const nothing = { stdout: null, stderr: null }

/** What a history is, in a few lines: which executions there are and how each ended. */
class Model {
  readonly endings = new Map<string, string | null>()
  readonly runs = new Map<string, string>()

  open(): string[] {
    return [...this.endings].filter(([, ending]) => ending === null).map(([id]) => id)
  }

  prune(runId: string): string[] {
    const ids = [...this.endings].filter(([id, ending]) => ending !== null && this.runs.get(id) === runId)
    for (const [id] of ids) this.endings.delete(id)
    return ids.map(([id]) => id).sort()
  }
}

const step = fc.oneof(
  fc.record({ kind: fc.constant("start" as const), run: fc.integer({ min: 0, max: 2 }) }),
  fc.record({
    kind: fc.constant("finish" as const),
    pick: fc.nat(),
    bytes: fc.integer({ min: 0, max: 200 }),
  }),
  fc.record({ kind: fc.constant("prune" as const), run: fc.integer({ min: 0, max: 2 }) }),
  fc.constant({ kind: "recover" as const }),
  fc.constant({ kind: "anchor" as const }),
  fc.constant({ kind: "reopen" as const }),
)
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never

function apply(taken: Step, store: Store, model: Model): void {
  const open = model.open()
  switch (taken.kind) {
    case "start": {
      const id = nextId()
      const runId = `run_${taken.run}`
      store.executions.started(startOf(id, { correlationIds: { runId } }))
      model.endings.set(id, null)
      model.runs.set(id, runId)
      return
    }
    case "finish": {
      const id = open[taken.pick % Math.max(1, open.length)]
      if (id === undefined) return
      store.executions.settled(recordOf(id, { result: { stdout: "x".repeat(taken.bytes) } }), nothing)
      model.endings.set(id, "exited")
      return
    }
    case "prune":
      expect(store.executions.prune({ runId: `run_${taken.run}` }, "age")).toEqual(
        model.prune(`run_${taken.run}`),
      )
      return
    case "recover":
      expect(store.executions.recover(() => false)).toEqual(open)
      for (const id of open) model.endings.set(id, "interrupted")
      return
    case "anchor":
      store.anchor()
      return
    case "reopen":
      return
  }
}

describe("any history", () => {
  test("is what was done to it, and verifies after every step", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 14 }), steps => {
        using fixture = storeFixture()
        const model = new Model()
        let store = fixture.open({ inlineBytesMax: 100 })
        for (const taken of steps) {
          // An execution that is open when its process ends is closed by the next one, as in life.
          if (taken.kind === "reopen") {
            apply({ kind: "recover" }, store, model)
            store[Symbol.dispose]()
            store = fixture.open({ inlineBytesMax: 100 })
          }
          apply(taken, store, model)
          const listed = store.executions.list({}).map(row => [row.id, row.ending])
          expect(listed.sort()).toEqual([...model.endings].sort())
          expect(store.verify().problems).toEqual([])
        }
      }),
      { numRuns: 40 },
    )
  }, 60_000)

  test("gives back any content it was given", () => {
    using fixture = storeFixture()
    const store = fixture.open()
    const epoch = store.leases.acquire("ses_a", fixture.options.self)?.epoch ?? 0
    let seq = 0
    const text = fc.string({ unit: "binary" })
    const hashes = fc.array(fc.record({ position: fc.integer(), hash: text }), { maxLength: 3 })
    const streams = fc.array(fc.record({ stream: text, events: hashes }), { maxLength: 3 })
    fc.assert(
      fc.property(fc.record({ reason: text, streams }), data => {
        store.log.append("ses_a", seq, epoch, [newEvent(HistoryPruned, data)])
        const [event] = store.log.read("ses_a", seq)
        seq += 1
        expect(canonicalJson(event?.data)).toBe(canonicalJson(data))
      }),
      { numRuns: 100 },
    )
    expect(store.verify()).toMatchObject({ ok: true, events: seq })
  }, 30_000)

  test("is not the same after any change of any value in it", () => {
    using fixture = storeFixture()
    const store = fixture.open()
    for (let count = 0; count < 6; count++) runOne(store)
    store.executions.prune({ beforePosition: 1 }, "none")
    using db = new Database(fixture.options.databasePath)
    db.run("DROP TRIGGER events_are_never_changed")
    const columns = ["stream", "seq", "epoch", "at", "type", "version", "data", "prev_hash", "hash"]
    fc.assert(
      fc.property(
        fc.constantFrom(...columns),
        fc.integer({ min: 1, max: 12 }),
        fc.oneof(fc.string(), fc.integer(), fc.stringMatching(/^[0-9a-f]{64}$/)),
        (column, position, value) => {
          const before = db
            .query<Record<string, unknown>, []>(
              `SELECT ${column} AS value FROM events WHERE position = ${position}`,
            )
            .get()?.["value"]
          const isNumber = typeof before === "number"
          const changed = isNumber ? (typeof value === "number" ? value : value.length) : String(value)
          fc.pre(changed !== before)
          const write = (to: unknown) => {
            db.query(`UPDATE OR IGNORE events SET ${column} = ? WHERE position = ?`).run(
              to as string,
              position,
            )
            return db.query("SELECT changes() AS count").get()
          }
          if ((write(changed) as { count: number }).count === 0) return
          expect(store.verify().problems[0]?.position).toBe(position)
          write(before)
        },
      ),
      { numRuns: 150 },
    )
    expect(store.verify().ok).toBe(true)
  }, 30_000)
})
