import { expect, test } from "bun:test"
import { noFaults } from "../../../src/base/faults.ts"
import { openDatabase } from "../../../src/store/database/database.ts"
import { type EventRow, eventColumns, toStoredEvent } from "../../../src/store/log/event-rows.ts"
import { runOne, storeFixture } from "../support/store-fixture.ts"

test("a row of the table is the event that was appended, but for its content, which is still text", () => {
  using fixture = storeFixture()
  const store = fixture.open()
  const id = runOne(store)
  using connection = openDatabase({
    path: fixture.options.databasePath,
    readOnly: true,
    busyTimeoutMs: 100,
    faults: noFaults,
  })
  const rows = connection.db.query<EventRow, []>(`SELECT ${eventColumns} FROM events ORDER BY position`).all()
  expect(rows.map(row => typeof row.data)).toEqual(["string", "string"])
  expect(rows.map(toStoredEvent)).toEqual([...store.log.read(id)])
})

test("while the events of a stream are read one by one, those of others and of itself can be read as well", () => {
  using fixture = storeFixture()
  const store = fixture.open()
  const [one, other] = [runOne(store), runOne(store)]
  const seen: string[] = []
  for (const { stream, seq } of store.log.each(one)) {
    const inner = [...store.log.each(one), ...store.log.each(other), ...store.log.read(other)]
    seen.push(`${stream === one} ${seq} ${inner.length}`)
  }
  expect(seen).toEqual(["true 1 6", "true 2 6"])
})

test("what is left in the middle of reading a stream keeps no one from making the database smaller", () => {
  using fixture = storeFixture()
  const store = fixture.open()
  const id = runOne(store)
  for (const _ of store.log.each(id)) break
  for (let count = 0; count < 200; count++) runOne(store, { correlationIds: { runId: "run_old" } })
  store.executions.prune({ runId: "run_old" }, "age")
  expect(store.upkeep.shrink()).toBeGreaterThan(0)
})
