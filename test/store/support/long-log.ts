import type { Store } from "../../../src/store/contract.ts"
import { nextId, recordOf, runOne, type StoreFixture, startOf } from "./store-fixture.ts"

const nothing = { stdout: null, stderr: null }

/**
 * A log of 300 events: what is left of a prune, executions one after the other and interleaved, two sessions, and one
 * command that still runs.
 */
export function writeLongLog(store: Store, fixture: StoreFixture): void {
  for (let count = 0; count < 30; count++) runOne(store, { correlationIds: { runId: "run_old" } })
  store.executions.prune({ runId: "run_old" }, "age")
  for (let count = 0; count < 100; count++) runOne(store)
  for (let count = 0; count < 19; count++) {
    const [a, b] = [nextId(), nextId()]
    store.executions.started(startOf(a))
    store.executions.started(startOf(b))
    store.executions.settled(recordOf(b), nothing)
    store.executions.settled(recordOf(a), nothing)
  }
  const sessions = ["ses_a", "ses_b"].map(stream => ({
    stream,
    epoch: store.leases.acquire(stream, fixture.options.self)?.epoch ?? 0,
  }))
  for (let seq = 0; seq < 11; seq++)
    for (const { stream, epoch } of sessions)
      store.log.append(stream, seq, epoch, [
        { type: "history.pruned", version: 1, data: { reason: `fact ${seq}`, streams: [] } },
      ])
  store.executions.started(startOf(nextId()))
}
