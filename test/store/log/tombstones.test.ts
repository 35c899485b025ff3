import { expect, test } from "bun:test"
import { noFaults } from "../../../src/base/faults.ts"
import { openDatabase } from "../../../src/store/database/database.ts"
import { readTombstones } from "../../../src/store/log/tombstones.ts"
import { runOne, type StoreFixture, storeFixture } from "../support/store-fixture.ts"

function connectionOf({ options }: StoreFixture) {
  return openDatabase({ path: options.databasePath, readOnly: false, busyTimeoutMs: 100, faults: noFaults })
}

test("tombstones come in the order of their positions, from all prunes together", () => {
  using fixture = storeFixture()
  const store = fixture.open()
  const first = runOne(store, { correlationIds: { runId: "run_b" } })
  const second = runOne(store, { correlationIds: { runId: "run_a" } })
  const expected = [...store.log.read(first), ...store.log.read(second)].map(
    ({ stream, position, hash }) => ({
      stream,
      position,
      hash,
    }),
  )
  store.executions.prune({ runId: "run_a" }, "one")
  store.executions.prune({ runId: "run_b" }, "two")
  using connection = connectionOf(fixture)
  expect(readTombstones(connection)).toEqual(expected)
})

test("a tombstone that was made unreadable says nothing", () => {
  using fixture = storeFixture()
  const store = fixture.open()
  runOne(store)
  store.executions.prune({}, "all")
  using connection = connectionOf(fixture)
  connection.db.run("DROP TRIGGER events_are_never_changed")
  for (const data of ["{", "null", '{"reason":"x"}', '{"reason":"x","streams":[{"stream":1,"events":[]}]}']) {
    connection.db.query("UPDATE events SET data = ?").run(data)
    expect(readTombstones(connection)).toEqual([])
  }
})
