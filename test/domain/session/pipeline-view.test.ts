import { describe, expect, test } from "bun:test"
import { escalate } from "../../../src/domain/pipeline/escalation.ts"
import type { ModelSelection, StageModel } from "../../../src/domain/pipeline-settings.ts"
import { planHash } from "../../../src/domain/plan/plan.ts"
import { emptyPipeline, withPipelineEvent } from "../../../src/domain/session/pipeline-view.ts"
import {
  approved,
  checked,
  cycle,
  ended,
  entered,
  escalated,
  moved,
  proposed,
  type RecordedSession,
  replied,
  resumed,
  settingsOf,
  startMs,
} from "../../support/pipeline/pipeline-events.ts"
import { planOf, smallPlan, taskOf, writeStep } from "../../support/pipeline/pipeline-plans.ts"
import { atPlanner, atReviewer, atVerifier, toVerifier } from "../../support/pipeline/pipeline-sessions.ts"

const viewOf = ({ events }: RecordedSession) => events.reduce(withPipelineEvent, emptyPipeline)
const at = new Date(startMs).toISOString()

describe("what an agent session went through", () => {
  test("is nothing before it has begun", () => {
    expect(viewOf(atPlanner()).stages).toEqual([
      {
        stage: "planner",
        attempt: 0,
        planVersion: 0,
        enteredAt: at,
        status: null,
        message: null,
        durationMs: null,
      },
    ])
    expect(withPipelineEvent(emptyPipeline, { type: "step.started", data: {}, at })).toBe(emptyPipeline)
  })

  test("are its stages in order, each with how it ended", () => {
    const { stages } = viewOf(
      atReviewer().add(ended("reviewer", "retry"), entered("reviewer", { attempt: 1 })),
    )
    expect(stages.map(({ stage, attempt, status }) => [stage, attempt, status])).toEqual([
      ["planner", 0, "success"],
      ["executor", 0, "success"],
      ["verifier", 0, "success"],
      ["reviewer", 0, "retry"],
      ["reviewer", 1, null],
    ])
  })

  test("are its plans, and who approved which", () => {
    const other = planOf([taskOf("t1", [writeStep("s9")])])
    const session = atReviewer().add(proposed(other, 2))
    expect(viewOf(session).plans).toMatchObject([
      { version: 1, planHash: planHash(smallPlan()), approver: "ann" },
      { version: 2, planHash: planHash(other), approver: null },
    ])
    session.add(approved("sha256:of another one"))
    expect(viewOf(session).plans[1]?.approver).toBeNull()
    session.add(approved(planHash(other)))
    expect(viewOf(session).plans[1]?.approver).toBe("ann")
  })

  test("are its checks by round, and its ways back", () => {
    const session = atVerifier().add(
      checked("a1", "failed"),
      ended("verifier", "cycle"),
      cycle("verifier", "executor"),
      moved("verifier", "executor"),
      entered("executor"),
    )
    toVerifier(session, []).add(checked("a1", "passed"))
    const { checks, cycles } = viewOf(session)
    expect(checks.map(({ round, criterionId, verdict }) => [round, criterionId, verdict])).toEqual([
      [1, "a1", "failed"],
      [2, "a1", "passed"],
    ])
    expect(cycles).toEqual([{ from: "verifier", to: "executor", count: 1, limit: 3, reason: "" }])
  })

  test("is why it needed a person", () => {
    const action = escalate("planner", "StageRetryLimit", "needsPerson", {
      reason: "no plan",
      advice: "say more",
    })
    const session = atPlanner()
    const view = viewOf(session.add(...escalated(action, session.state)))
    expect(view.escalations).toEqual([
      { stage: "planner", level: "StageRetryLimit", exitCode: 22, reason: "no plan", advice: "say more", at },
    ])
    expect(view.stages[0]?.status).toBe("failed")
  })

  test("is which models it was given last, and what each stage took", () => {
    const model: StageModel = {
      name: "m",
      rung: "native",
      editFormat: "whole",
      windowTokens: 8192,
      outputTokensMax: 4096,
    }
    const selection: ModelSelection = {
      protocol: "ollama",
      endpoint: "http://127.0.0.1:1",
      consentBy: null,
      planner: model,
      executor: model,
      verifier: model,
      reviewer: model,
    }
    const session = atPlanner().add(replied({ stage: "planner" }), replied({ stage: "planner" }))
    expect(viewOf(session)).toMatchObject({ models: null, mode: "local-only" })
    session.add(resumed(settingsOf({}, { mode: "airgapped", selection })))
    expect(viewOf(session)).toMatchObject({
      models: selection,
      mode: "airgapped",
      usage: { planner: { requests: 2, input: 20, output: 10 }, executor: { requests: 0 } },
    })
  })

  test("leaves out the end of a stage that never began", () => {
    expect(withPipelineEvent(emptyPipeline, { ...ended("planner"), at })).toEqual(emptyPipeline)
  })
})
