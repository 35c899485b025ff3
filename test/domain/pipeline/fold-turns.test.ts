import { describe, expect, test } from "bun:test"
import { newEvent } from "../../../src/domain/event-definition.ts"
import { StepRefused } from "../../../src/domain/pipeline/pipeline-events.ts"
import { callAsked, callSettled, replied, wanted } from "../../support/pipeline-events.ts"
import { atStep } from "../../support/pipeline-sessions.ts"

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
        failure: null,
      },
    ])
  })

  test("counts its tokens, and as a reply only when it was one", () => {
    const { replyCount, tokens } = atStep().state
    const failure = { kind: "timeout", message: "", retryable: true }
    const { state } = atStep().add(replied(), replied({ replyIndex: null, failure }))
    expect([state.replyCount - replyCount, state.tokens - tokens]).toEqual([1, 30])
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
