import { expect, test } from "bun:test"
import { finishedFields, startedFields } from "../../../src/store/executions/execution-outcome.ts"
import { runOne, startOf, storeFixture } from "../support/store-fixture.ts"

test("each reads the event it is for and no other", () => {
  using fixture = storeFixture()
  const store = fixture.open()
  const id = runOne(store)
  const events = store.log.read(id)
  expect(events.map(event => startedFields(event)?.executionId ?? null)).toEqual([id, null])
  expect(events.map(event => finishedFields(event)?.result.ending ?? null)).toEqual([null, "exited"])
  expect(events[0] && startedFields(events[0])).toEqual(startOf(id))
})
