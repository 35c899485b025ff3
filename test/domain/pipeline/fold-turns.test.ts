import { describe, expect, test } from "bun:test"
import { newEvent } from "../../../src/domain/events/definition.ts"
import { StepRefused } from "../../../src/domain/events/pipeline-events.ts"
import { ModelRequested } from "../../../src/domain/events/turn-events.ts"
import { isTooLong, retriesAllowed } from "../../../src/domain/pipeline/retry.ts"
import { defaultLimits } from "../../support/pipeline/default-limits.ts"
import {
  callAsked,
  callSettled,
  replied,
  rested,
  resumed,
  settingsOf,
  startMs,
  wanted,
} from "../../support/pipeline/pipeline-events.ts"
import { atStep } from "../../support/pipeline/pipeline-sessions.ts"

describe("a turn", () => {
  test("is what the model said, and what it asks for has no result", () => {
    const session = atStep().add(
      replied({
        turn: 1,
        text: { kind: "inline", text: "let me see" },
        calls: [wanted("c1", "glob", { pattern: "*" })],
      }),
    )
    expect(session.state.turns).toEqual([
      {
        turn: 1,
        seq: session.events.length,
        atMs: startMs,
        text: "let me see",
        calls: [
          {
            id: "c1",
            tool: "glob",
            arguments: { pattern: "*" },
            argsDigest: '{"pattern":"*"}',
            result: null,
          },
        ],
        output: null,
        problems: [],
        isCutOff: false,
        failure: null,
      },
    ])
  })

  test("counts its tokens, and as a reply only when it was one", () => {
    const { replyCount, tokens } = atStep().state
    const failure = { kind: "timeout", message: "", retryable: true, retryAfterMs: null }
    const { state } = atStep().add(replied(), replied({ replyIndex: null, failure }))
    expect([state.replyCount - replyCount, state.tokens - tokens]).toEqual([1, 30])
  })
})

const asked = (estimatedTokens: number) =>
  newEvent(ModelRequested, {
    stage: "executor",
    stepId: "s1",
    turn: 1,
    replyIndex: 0,
    messageCount: 2,
    requestDigest: "",
    estimatedTokens,
    model: "m",
    endpoint: "http://127.0.0.1:1",
  })

test("what was told are the turns before a request, as long as no other was made", () => {
  const session = atStep().add(replied())
  const told = { turnSeq: session.events.length, windowTokens: null, leftOut: [] }
  expect(session.add(asked(1_000)).state.told).toEqual(told)
  expect(session.add(replied()).state.told).toEqual(told)
})

const tooLong = { kind: "contextTooLong", message: "", retryable: true, retryAfterMs: null }

describe("a request that its server found too long", () => {
  const refused = (estimatedTokens: number) =>
    [asked(estimatedTokens), replied({ failure: tooLong, usage: { input: 0, output: 0 } })] as const

  test("is remembered for its stage, the shortest of them, whatever succeeds later", () => {
    const session = atStep().add(...refused(4_000), ...refused(3_000), ...refused(5_000))
    expect(session.state.tooLong).toEqual({ executor: 3_000 })
    expect(session.add(asked(2_000), replied()).state.tooLong).toEqual({ executor: 3_000 })
  })

  test("is forgotten when the session goes on, for the server may have more room by then", () => {
    const session = atStep().add(...refused(4_000), rested(22), resumed(settingsOf()))
    expect(session.state.tooLong).toEqual({})
  })

  test("is not what could not even be asked", () => {
    const failure = { ...tooLong, retryable: false }
    expect(atStep().add(asked(4_000), replied({ failure })).state.tooLong).toEqual({})
  })
})

describe("a reply that was cut off", () => {
  test("is counted for its stage, and a whole one does not take it back", () => {
    const session = atStep().add(replied({ isCutOff: true }), replied({ turn: 2, isCutOff: true }))
    expect(session.state.cutOff).toEqual({ executor: 2 })
    expect(session.state.turns.map(({ isCutOff }) => isCutOff)).toEqual([true, true])
    expect(session.add(replied({ turn: 3 })).state.cutOff).toEqual({ executor: 2 })
  })

  test("is forgotten when the session goes on, for another model may be asked then", () => {
    const session = atStep().add(replied({ isCutOff: true }), rested(22), resumed(settingsOf()))
    expect(session.state.cutOff).toEqual({})
  })
})

describe("what a session has spent", () => {
  const said = { kind: "inline", text: "four" } as const
  const spentAfter = (...change: Parameters<typeof replied>) => {
    const before = atStep().state.spentTokens
    return atStep().add(asked(1_000), replied(...change)).state.spentTokens - before
  }

  test("is what its servers report", () => {
    expect(spentAfter({ usage: { input: 700, output: 30 } })).toBe(730)
  })

  test("is what was estimated where a server reports nothing", () => {
    const usage = { input: 0, output: 0 }
    expect(spentAfter({ usage, text: said, calls: [] })).toBe(1_001)
    expect(spentAfter({ usage, text: said, calls: [wanted("c1", "glob", { pattern: "**" })] })).toBe(1_006)
    expect(spentAfter({ usage: { input: 0, output: 9 }, text: said })).toBe(1_009)
  })

  test("holds replies that broke off, and not those that never began", () => {
    const usage = { input: 0, output: 0 }
    const failed = (kind: string) => ({ failure: { ...tooLong, kind }, usage, calls: [] })
    expect(spentAfter({ ...failed("truncated"), text: said })).toBe(1_001)
    expect(spentAfter({ ...failed("timeout"), text: { kind: "inline", text: "" } })).toBe(1_000)
    for (const kind of ["unavailable", "rateLimited", "auth", "contextTooLong", "script"])
      expect(spentAfter({ ...failed(kind), text: { kind: "inline", text: "" } })).toBe(0)
  })
})

describe("a result belongs to the call", () => {
  const results = (session: ReturnType<typeof atStep>) =>
    session.state.turns.map(({ calls }) => calls.map(({ result }) => result?.digest ?? null))

  test("of the newest turn when ids come again in every turn", () => {
    const session = atStep().add(replied({ calls: [wanted("1", "glob")] }), callAsked("call_1", "1"))
    session.add(callSettled("call_1", { resultDigest: "first" }))
    session.add(replied({ turn: 2, calls: [wanted("1", "glob")] }), callAsked("call_2", "1"))
    expect(results(session.add(callSettled("call_2", { resultDigest: "second" })))).toEqual([
      ["first"],
      ["second"],
    ])
  })

  test("that has none yet when one turn has an id twice", () => {
    const session = atStep().add(replied({ calls: [wanted("1", "glob"), wanted("1", "read_file")] }))
    session.add(callAsked("call_1", "1"), callSettled("call_1", { resultDigest: "first" }))
    expect(results(session)).toEqual([["first", null]])
    session.add(callAsked("call_2", "1"), callSettled("call_2", { resultDigest: "second" }))
    expect(results(session)).toEqual([["first", "second"]])
  })

  test("and to none when no turn has it", () => {
    const session = atStep().add(replied({ calls: [wanted("1", "glob")] }), callAsked("call_1", "other"))
    expect(results(session.add(callSettled("call_1")))).toEqual([[null]])
  })
})

test("a refused claim has the reason as its result", () => {
  const session = atStep().add(replied({ calls: [wanted("f1", "finish_step")] }))
  const refusal = { taskId: "t1", stepId: "s1", modelCallId: "f1", reason: "nothing was done" }
  session.add(newEvent(StepRefused, refusal))
  expect(session.state.turns[0]?.calls[0]?.result).toEqual({
    outcome: "refused",
    certainty: "notDone",
    text: "nothing was done",
    digest: "nothing was done",
  })
})

test("a model that does not answer is asked twice more, and one that holds less three times with less", () => {
  expect(retriesAllowed(defaultLimits, "overloaded")).toBe(2)
  expect(retriesAllowed(defaultLimits, "contextTooLong")).toBe(3)
  expect(["contextTooLong", "overloaded", "timeout"].filter(isTooLong)).toEqual(["contextTooLong"])
})

test("each has its own limit, and where only one was recorded it holds for both", () => {
  const both = { ...defaultLimits, stepRetriesMax: 7, modelRetriesMax: 0 }
  expect([retriesAllowed(both, "timeout"), retriesAllowed(both, "contextTooLong")]).toEqual([0, 7])
  const older = { ...both, modelRetriesMax: undefined }
  expect([retriesAllowed(older, "timeout"), retriesAllowed(older, "contextTooLong")]).toEqual([7, 7])
})
