import { expect, test } from "bun:test"
import { noFaults } from "../../src/base/faults.ts"
import { openDatabase } from "../../src/store/database.ts"
import { type EventRow, eventColumns, toStoredEvent } from "../../src/store/event-rows.ts"
import { runOne, storeFixture } from "./support/store-fixture.ts"

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
