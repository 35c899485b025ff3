import { Database } from "bun:sqlite"
import { describe, expect, test } from "bun:test"
import { type NewEvent, newEvent } from "../../../src/domain/events/definition.ts"
import { PlanProposed } from "../../../src/domain/events/pipeline-events.ts"
import { PlanApproved } from "../../../src/domain/events/session-events.ts"
import type { Store } from "../../../src/store/contract.ts"
import {
  changing,
  event,
  remarks,
  type SessionWriter,
  startSession,
} from "../../store/support/session-events.ts"
import { openTempStore } from "../workspace/temp-store.ts"
import { type TempWorkspace, tempWorkspace } from "../workspace/temp-workspace.ts"
import { check } from "./checker.ts"

const asked = { decision: "ask", rule: "writes", reason: "it writes", level: 2 } as const

/** A plan of two steps, the second of them asked about, run to its end and undone. */
function recordedWorkspace(): TempWorkspace {
  const workspace = tempWorkspace()
  using store = openTempStore(workspace)
  store.approvals.approvePlan({
    approvalId: "apr_plan",
    planId: "plan-1",
    planHash: "sha256:1",
    approver: "ada",
    stepCount: 2,
    expiresAt: "2099-01-01T00:00:00Z",
  })
  const session = startSession(store, { stepCount: 2 })
  session.append(event.stepStarted(), event.callRequested("cal_1"), event.callStarted("cal_1"))
  session.append(event.callSettled("cal_1", remarks("a.ts", "TS1", "TS1", "TS2")), event.stepFinished())
  session.append(event.stepStarted({ index: 1 }), event.callRequested("cal_2"))
  grant(store, session)
  session.append(event.callStarted("cal_2", { approvalId: "apr_1", decision: asked }))
  session.append(event.callSettled("cal_2", { ...changing("a.ts"), result: longResult(store) }))
  session.append(event.stepFinished({ index: 1 }), event.sessionFinished(), event.sessionUndone())
  return workspace
}

function grant(store: Store, session: SessionWriter): void {
  session.append(event.approvalRequested("apr_1", session.id, { expiresAt: "2099-01-01T00:00:00Z" }))
  store.approvals.answer({ approvalId: "apr_1", answer: "granted", by: "ada", via: "command", reason: null })
}

function longResult(store: Store): { kind: "artifact"; ref: string; bytes: number } {
  return { kind: "artifact", ref: store.artifacts.put(new TextEncoder().encode('"long"')), bytes: 6 }
}

/** A session with these events after its start. */
async function violationsOf(...events: readonly NewEvent[]): Promise<string> {
  using workspace = tempWorkspace()
  using store = openTempStore(workspace)
  startSession(store).append(...events)
  return (await check(workspace)).join("\n")
}

function tamper(workspace: TempWorkspace, sql: string): void {
  using database = new Database(workspace.state("workspace.db"))
  database.run(sql)
}

test("a session that was run to its end has no violations", async () => {
  using workspace = recordedWorkspace()
  expect(await check(workspace)).toEqual([])
})

test("a session that rests may leave a call open", async () => {
  expect(await violationsOf(event.stepStarted(), event.callRequested("cal_1"), event.sessionRested())).toBe(
    "",
  )
})

describe("the checker notices in a session", () => {
  const wrong: readonly (readonly [string, RegExp, readonly NewEvent[]])[] = [
    ["that it never ended", /^I1 ses_\S+ ends with step.started/, [event.stepStarted()]],
    [
      "that it continued after its end",
      /^I1 ses_\S+ ends with step.finished/m,
      [event.stepStarted(), event.sessionFinished(), event.stepFinished()],
    ],
    ["that it began twice", /^I1 ses_\S+ begins more/, [event.sessionStarted(), event.sessionFinished()]],
    ["that it ended twice", /^I1 ses_\S+ ends more/, [event.sessionFinished(), event.sessionFinished()]],
    [
      "a call without an end",
      /^I1 cal_1 was requested 1, started 1 and settled 0 times/,
      [event.callRequested("cal_1"), event.callStarted("cal_1"), event.sessionFinished()],
    ],
    [
      "a call without a request",
      /^I1 cal_1 was requested 0, started 1/,
      [event.callStarted("cal_1"), event.sessionFinished()],
    ],
    [
      "a call begun twice",
      /^I1 cal_1 was requested 1, started 2/,
      [
        event.callRequested("cal_1"),
        event.callStarted("cal_1"),
        event.callStarted("cal_1"),
        event.callSettled("cal_1"),
        event.sessionFinished(),
      ],
    ],
    ["a step without an end", /^I1 step 0 of ses_/, [event.stepStarted(), event.sessionFinished()]],
    ["a step without a beginning", /^I1 step 0 of ses_/, [event.stepFinished(), event.sessionFinished()]],
    [
      "an action without its question",
      /^I10 cal_1 was begun without a question/,
      [
        event.callRequested("cal_1"),
        event.callStarted("cal_1", { decision: asked }),
        event.callSettled("cal_1"),
        event.sessionFinished(),
      ],
    ],
    [
      "an action that was begun without an answer",
      /^I10 cal_1 was begun on apr_1, which says undefined/,
      [
        event.callRequested("cal_1"),
        event.callStarted("cal_1", { approvalId: "apr_1" }),
        event.callSettled("cal_1"),
        event.approvalAnswered("apr_1", { answer: "granted" }),
        event.sessionFinished(),
      ],
    ],
    [
      "an action that was refused first",
      /^I10 cal_1 was begun on apr_1, which says refused/,
      [
        event.callRequested("cal_1"),
        event.approvalAnswered("apr_1"),
        event.approvalAnswered("apr_1", { answer: "granted" }),
        event.callStarted("cal_1", { approvalId: "apr_1" }),
        event.callSettled("cal_1"),
        event.sessionFinished(),
      ],
    ],
    [
      "an answer that was used twice",
      /^I10 apr_1 was used again by cal_2/,
      [
        event.approvalAnswered("apr_1", { answer: "granted" }),
        ...["cal_1", "cal_2"].flatMap(id => [
          event.callRequested(id),
          event.callStarted(id, { approvalId: "apr_1" }),
          event.callSettled(id),
        ]),
        event.sessionFinished(),
      ],
    ],
  ]

  test.each(wrong)("%s", async (_name, expected, events) => {
    expect(await violationsOf(...events)).toMatch(expected)
  })

  const approval = {
    approvalId: "apr_plan",
    planId: "plan-1",
    planHash: "sha256:1",
    approver: "ada",
    stepCount: 1,
    expiresAt: "2099-01-01T00:00:00.000Z",
  }
  const ran = { approvalId: "apr_plan", planHash: "sha256:1" }
  const runs: readonly (readonly [string, RegExp, Partial<typeof approval>, Partial<typeof ran>])[] = [
    [
      "an approval of no plan",
      /^I10 ses_\S+ ran under apr_other, which approves no plan$/,
      {},
      { approvalId: "apr_other" },
    ],
    ["another plan", /^I10 ses_\S+ ran another plan than apr_plan approves$/, {}, { planHash: "sha256:2" }],
    [
      "an approval that was over",
      /^I10 ses_\S+ ran when apr_plan was over$/,
      { expiresAt: "2020-01-01T00:00:00.000Z" },
      {},
    ],
  ]

  test.each(runs)("a plan that ran under %s", async (_name, expected, changed, started) => {
    using workspace = tempWorkspace()
    using store = openTempStore(workspace)
    store.approvals.approvePlan({ ...approval, ...changed })
    startSession(store, { ...ran, ...started }).append(event.sessionFinished())
    expect((await check(workspace)).join("\n")).toMatch(expected)
  })

  const planned = [
    [
      "that was not proposed",
      ["apr_1"],
      "sha256:other",
      /^I10 ses_\S+ approves a plan that was not proposed$/,
    ],
    ["that was not granted", [], "sha256:1", /^I10 ses_\S+ approves a plan that was not granted$/],
  ] as const

  test.each(planned)("a plan of a model %s", async (_name, granted, planHash, expected) => {
    const plan = { kind: "inline", value: {} } as const
    const found = await violationsOf(
      newEvent(PlanProposed, { version: 1, planHash: "sha256:1", plan, explanation: "" }),
      ...granted.map(id => event.approvalAnswered(id, { answer: "granted" })),
      newEvent(PlanApproved, { ...approval, approvalId: "apr_1", planHash }),
      event.sessionFinished(),
    )
    expect(found).toMatch(expected)
  })

  const changes: readonly (readonly [string, string])[] = [
    ["sessions", "UPDATE sessions SET steps_done = 1"],
    ["approvals", "UPDATE approvals SET used_at = NULL"],
    ["plan_approvals", "UPDATE plan_approvals SET approver = 'eve'"],
    ["evidence", "UPDATE evidence SET duration_ms = 0 WHERE id = 'cal_1'"],
    ["evidence_files", "UPDATE evidence_files SET changed = 1"],
    ["evidence_diagnostics", "DELETE FROM evidence_diagnostics WHERE code = 'TS2'"],
    ["evidence_files", "INSERT INTO evidence_files VALUES ('x', '', 1, 0)"],
  ]

  test.each(changes)("a table of %s that says otherwise: %s", async (table, sql) => {
    using workspace = recordedWorkspace()
    tamper(workspace, sql)
    const found = await check(workspace)
    expect(found).toHaveLength(1)
    expect(found[0]).toStartWith(`I7 ${table}: `)
  })

  test("an artifact that a call names and that is gone", async () => {
    using workspace = recordedWorkspace()
    const artifacts = workspace.state("artifacts")
    await Bun.$`rm -r ${artifacts}`.quiet()
    expect((await check(workspace)).join("\n")).toMatch(/^I6 the artifact sha256:\w+ is missing$/)
  })
})
