import { afterEach, beforeEach, expect, test } from "bun:test"
import { controlsFrom, requestControl } from "../../src/app/session-control.ts"
import type { Store } from "../../src/store/contract.ts"
import { openTempStore } from "../support/workspace/temp-store.ts"
import { type TempWorkspace, tempWorkspace } from "../support/workspace/temp-workspace.ts"

let workspace: TempWorkspace
let store: Store
beforeEach(() => {
  workspace = tempWorkspace()
  store = openTempStore(workspace)
})
afterEach(() => {
  store[Symbol.dispose]()
  workspace[Symbol.dispose]()
})

const session = "ses_01900000-0000-7000-8000-000000000001"
const told = { by: "grace", reason: "lunch" }

test("what is asked for is heard by whoever drives the session", () => {
  const control = controlsFrom(store, session)
  expect(control()).toBeNull()
  requestControl(store, session, "pause", told)
  expect(control()).toMatchObject({ control: "pause", ...told })
})

test("the newest word counts", () => {
  const control = controlsFrom(store, session)
  requestControl(store, session, "pause", told)
  requestControl(store, session, "cancel", { ...told, reason: "for good" })
  expect(control()).toMatchObject({ control: "cancel", reason: "for good" })
})

test("what was meant for an earlier driver is not obeyed by the next", () => {
  requestControl(store, session, "pause", told)
  expect(controlsFrom(store, session)()).toBeNull()
})

test("what is meant for one session is not heard by another", () => {
  const control = controlsFrom(store, session.replace(/1$/, "2"))
  requestControl(store, session, "cancel", told)
  expect(control()).toBeNull()
})

test("many may leave word one after the other, and all of it is in the log", () => {
  for (let count = 0; count < 5; count++) requestControl(store, session, "pause", told)
  expect(store.log.read(session.replace("ses_", "ctl_"))).toHaveLength(5)
  expect(store.verify().ok).toBe(true)
})
