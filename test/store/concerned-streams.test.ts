import { expect, test } from "bun:test"
import { noFaults } from "../../src/base/faults.ts"
import { CommandStarted } from "../../src/domain/events/command-events.ts"
import { newEvent } from "../../src/domain/events/definition.ts"
import { ControlRequested } from "../../src/domain/events/pipeline-events.ts"
import { PlanApproved } from "../../src/domain/events/session-events.ts"
import { openDatabase } from "../../src/store/database/database.ts"
import { concernedStreams } from "../../src/store/verify.ts"
import { event, sessionWriter, startSession } from "./support/session-events.ts"
import { runOne, startOf, storeFixture } from "./support/store-fixture.ts"

test("a session depends on its events, the answers to it, its plan's approval and the requests to it", () => {
  using fixture = storeFixture()
  const store = fixture.open()
  const execution = runOne(store)
  const approval = { planId: "p", planHash: "sha256:1", approver: "ada", stepCount: 1 }
  sessionWriter(store, "apr_plan").append(
    newEvent(PlanApproved, { ...approval, approvalId: "apr_plan", expiresAt: "2026-01-02T04:00:00.000Z" }),
  )
  const session = startSession(store, { approvalId: "apr_plan" })
  session.append(
    event.approvalRequested("apr_1", session.id),
    event.approvalRequested("apr_open", session.id),
    newEvent(CommandStarted, startOf("exe_inside")),
  )
  sessionWriter(store, "apr_1").append(event.approvalAnswered("apr_1"))
  const control = { control: "pause", by: "ada", reason: "lunch" } as const
  const controls = sessionWriter(store, "ctl_1")
  for (let count = 0; count < 2; count++)
    controls.append(newEvent(ControlRequested, { sessionId: session.id, ...control }))
  sessionWriter(store, "ctl_2").append(newEvent(ControlRequested, { sessionId: "ses_other", ...control }))
  const { databasePath: path } = fixture.options
  using connection = openDatabase({ path, readOnly: true, busyTimeoutMs: 100, faults: noFaults })
  expect([...concernedStreams(connection, session.id)].sort()).toEqual([
    ["apr_1", 1],
    ["apr_plan", 1],
    ["ctl_1", 2],
    [session.id, 4],
  ])
  expect([...concernedStreams(connection, execution)]).toEqual([[execution, 2]])
  expect([...concernedStreams(connection, "exe_inside")].sort()).toEqual(
    [...concernedStreams(connection, session.id)].sort(),
  )
  expect([...concernedStreams(connection, "ses_nobody")]).toEqual([])
})
