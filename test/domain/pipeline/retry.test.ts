import { describe, expect, test } from "bun:test"
import type { Protocol } from "../../../src/domain/model-choice.ts"
import { nextReply, turnsOfRun } from "../../../src/domain/pipeline/retry.ts"
import type { TurnFailure } from "../../../src/domain/pipeline/state.ts"
import type { ModelSelection } from "../../../src/domain/pipeline-settings.ts"
import {
  entered,
  escalated,
  replied,
  rested,
  resumed,
  settingsOf,
  wanted,
} from "../../support/pipeline/pipeline-events.ts"
import { atPlanner, atReviewer, atStep } from "../../support/pipeline/pipeline-sessions.ts"

const busy = { kind: "overloaded", message: "try later", retryable: true, retryAfterMs: null }
const wrong = { kind: "unauthorized", message: "who are you", retryable: false, retryAfterMs: null }
const failing = (failure: TurnFailure, turn = 1) => replied({ failure, turn, replyIndex: null })

describe("a model that could not answer", () => {
  test("is asked the same again twice, each time later", () => {
    const session = atStep()
    const waits = [1_000, 2_000].map(() => {
      const action = session.add(failing(busy)).next()
      return action.kind === "askModel" ? [action.turn, action.waitMs] : action
    })
    expect(waits).toEqual([
      [1, 1_000],
      [1, 2_000],
    ])
    expect(session.add(failing(busy)).next()).toEqual({
      kind: "escalate",
      level: "StepRetryLimit",
      stage: "executor",
      exitCode: 4,
      code: "ACODE-MODEL-001",
      reason: "the model could not answer: try later (overloaded), 3 times",
      advice: "make sure that the model server runs and answers (`acode doctor`), then `acode resume`",
      status: "failed",
    })
  })

  test.each([0, 1, 5])("is asked again as often as is allowed: %d times", modelRetriesMax => {
    const session = atPlanner(settingsOf({ modelRetriesMax, stepRetriesMax: 2 }))
    for (let retry = 1; retry <= modelRetriesMax; retry++)
      expect(session.add(failing(busy)).next()).toMatchObject({ kind: "askModel", turn: 1 })
    expect(session.add(failing(busy)).next()).toMatchObject({ kind: "escalate", level: "StepRetryLimit" })
  })

  test("is asked as often as was allowed when its session began, also before this was a limit of its own", () => {
    const session = atPlanner(settingsOf({ modelRetriesMax: undefined, stepRetriesMax: 3 }))
    for (const waitMs of [1_000, 2_000, 4_000])
      expect(session.add(failing(busy)).next()).toMatchObject({ kind: "askModel", waitMs })
    expect(session.add(failing(busy)).next()).toMatchObject({ kind: "escalate" })
  })

  test("is left alone for as long as its server asks, and not waited for when that is long", () => {
    const later = { ...busy, kind: "rateLimited", retryAfterMs: 7_000 }
    expect(atStep().add(failing(later)).next()).toMatchObject({ waitMs: 1_000, waitAtLeastMs: 7_000 })
    const tomorrow = { ...later, retryAfterMs: 86_400_000 }
    expect(atStep().add(failing(tomorrow)).next()).toMatchObject({
      kind: "escalate",
      exitCode: 4,
      reason: "try later: the model server asked for no requests for 86400 s",
    })
  })

  test("is not asked again when that is declared not to help", () => {
    expect(atPlanner().add(failing(wrong)).next()).toMatchObject({
      kind: "escalate",
      level: "Unrecoverable",
      stage: "planner",
      exitCode: 4,
      reason: "the model could not answer: who are you (unauthorized)",
    })
  })

  test("has all its attempts again after an answer", () => {
    const session = atStep().add(failing(busy), failing(busy))
    session.add(replied({ calls: [wanted("c", "glob")] }))
    session.add(failing(busy, 2))
    expect(session.next()).toMatchObject({ kind: "askModel", turn: 2, waitMs: 1_000 })
  })

  test("is asked at once when a person lets the session go on", () => {
    const session = atStep().add(failing(wrong))
    session.add(...escalated(session.next(), session.state), resumed(settingsOf()))
    session.add(entered("executor", { attempt: 1 }))
    expect(session.next()).toMatchObject({ kind: "askModel", stage: "executor", turn: 1, waitMs: 0 })
    expect(session.add(failing(busy)).next()).toMatchObject({ kind: "askModel", waitMs: 1_000 })
  })

  test("is not left alone again for what has passed before the session went on", () => {
    const later = { ...busy, kind: "rateLimited", retryAfterMs: 7_000 }
    const waitsAfter = (passedMs: number) => {
      const session = atStep().add(failing(later))
      session.nowMs += passedMs
      return session.add(rested(130), resumed(settingsOf())).next()
    }
    expect(waitsAfter(400)).toMatchObject({ waitMs: 600, waitAtLeastMs: 6_600 })
    expect(waitsAfter(5_000)).toMatchObject({ waitMs: 0, waitAtLeastMs: 2_000 })
    expect(waitsAfter(60_000)).toMatchObject({ waitMs: 0, waitAtLeastMs: 0 })
  })

  test("keeps its count of failures when another process takes over", () => {
    const session = atStep().add(failing(busy), failing(busy), failing(busy))
    expect(session.add(resumed(settingsOf())).next()).toMatchObject({ kind: "escalate", exitCode: 4 })
  })
})

const long = { kind: "contextTooLong", message: "too long", retryable: false, retryAfterMs: null }

describe("a request that its server finds too long", () => {
  const tooLong = { ...long, retryable: true }

  test("is made shorter three times, at once", () => {
    const session = atStep()
    for (let retry = 1; retry <= 3; retry++)
      expect(session.add(failing(tooLong)).next()).toMatchObject({ kind: "askModel", turn: 1, waitMs: 0 })
    expect(session.add(failing(tooLong)).next()).toMatchObject({ kind: "escalate", exitCode: 22 })
  })

  test("is counted apart from a model that does not answer, and both come to an end", () => {
    const session = atStep().add(failing(tooLong), failing(tooLong), failing(busy), failing(busy))
    expect(session.next()).toMatchObject({ kind: "askModel", waitMs: 2_000 })
    expect(session.add(failing(tooLong)).next()).toMatchObject({ kind: "askModel", waitMs: 0 })
    expect(session.add(failing(busy)).next()).toMatchObject({
      kind: "escalate",
      reason: "the model could not answer: try later (overloaded), 3 times",
    })
  })
})

describe("a request that is refused", () => {
  const model = { name: "org/m:7b", rung: "native", editFormat: "whole" } as const
  const sized = { ...model, windowTokens: 8_192, outputTokensMax: 4_096 }
  const selection = (protocol: Protocol): ModelSelection => ({
    protocol,
    endpoint: "http://127.0.0.1:1",
    consentBy: null,
    planner: sized,
    executor: sized,
    verifier: sized,
    reviewer: sized,
  })
  const advice = (contextTokensMax: number | null, protocol: Protocol | null, failure = long) => {
    const selected = protocol === null ? null : selection(protocol)
    const session = atPlanner(settingsOf({ contextTokensMax }, { selection: selected }))
    const action = session.add(failing(failure)).next()
    return action.kind === "escalate" ? [Number(action.exitCode), action.advice] : action
  }

  test("as longer than a person allowed is helped by allowing more", () => {
    const more = (tokens: number) => [22, `allow more: \`acode resume --max-context-tokens ${tokens}\``]
    expect([advice(256, null), advice(null, null), advice(1_000, "ollama")]).toEqual(
      [512, 16_384, 2_000].map(more),
    )
  })

  test("as longer than the window is helped only by a larger one, which is taken when the model is chosen again", () => {
    const pinned = "`acode config set model.parameters.context_window 16384`"
    for (const allowed of [null, 1_000_000]) {
      expect(advice(allowed, "ollama")).toEqual([
        22,
        `give the model a larger window: ${pinned}, then \`acode resume --model ollama/org/m:7b\``,
      ])
      expect(advice(allowed, "openai")).toEqual([
        22,
        `let the server load the model with a larger window (and ${pinned}, if the server does not report its window), then \`acode resume --model openai/org/m:7b\``,
      ])
    }
  })

  test("for what it holds may come from a server that has changed, which is tried out again", () => {
    const refused = { ...long, kind: "badRequest", message: "no tools" }
    const model = "openai/org/m:7b"
    expect(advice(null, "openai", refused)).toEqual([
      4,
      `if the server or its model has changed, probe it again: \`acode models probe ${model}\`, then \`acode resume --model ${model}\`; or name another model`,
    ])
    expect(advice(null, null, refused)).toEqual([4, "check why the request is refused, then `acode resume`"])
  })
})

describe("answers of the wrong shape", () => {
  test("are asked for anew as often as the stage may be repeated", () => {
    const planner = atPlanner()
    const turns = [1, 2, 3].map(turn => {
      const action = nextReply(planner.state, "planner")
      planner.add(replied({ stage: "planner", turn, problems: ["no JSON"] }))
      return action?.kind === "askModel" ? action.turn : action
    })
    expect(turns).toEqual([1, 2, 3])
    expect(nextReply(planner.state, "planner")).toBeNull()
  })

  test("count also when nobody said what is wrong with them", () => {
    const reviewer = atReviewer().add(replied(), replied({ turn: 2 }))
    expect(nextReply(reviewer.state, "reviewer")).toBeNull()
  })

  test("are not the failures to answer between them", () => {
    const reviewer = atReviewer().add(failing(busy), failing(busy), replied({ problems: ["no JSON"] }))
    expect(nextReply(reviewer.state, "reviewer")).toMatchObject({ kind: "askModel", turn: 2 })
  })
})

test("turns from before the stage was entered are not counted", () => {
  const session = atStep().add(
    replied({ turn: 1 }),
    entered("executor", { attempt: 1 }),
    replied({ turn: 2 }),
  )
  expect(session.state.turns.map(({ turn }) => turn)).toEqual([1, 2])
  expect(turnsOfRun(session.state).map(({ turn }) => turn)).toEqual([2])
})
