import { describe, expect, test } from "bun:test"
import { liveLine, sessionWaits, taskWaits } from "../../../src/cli/run/live-line.ts"
import { type NewEvent, newEvent } from "../../../src/domain/events/definition.ts"
import { TaskAsked, TaskReplied } from "../../../src/domain/events/skill-events.ts"
import { ModelRequested } from "../../../src/domain/events/turn-events.ts"
import * as made from "../../support/pipeline/pipeline-events.ts"

function line(columns = 80, waitedFor = sessionWaits()) {
  let nowMs = 0
  let tick: () => void = () => undefined
  let shown: string | null = null
  let isStopped = false
  const live = liveLine({
    draw: text => {
      shown = text
    },
    clock: { monotonicMs: () => nowMs },
    columns: () => columns,
    waitedFor,
    every: (_, work) => {
      tick = work
      return () => {
        isStopped = true
      }
    },
  })
  return {
    live,
    after: (event: NewEvent) => live.after(event),
    pass: (ms: number) => {
      nowMs += ms
      tick()
      return shown
    },
    shown: () => shown,
    isStopped: () => isStopped,
  }
}

const asked = newEvent(ModelRequested, {
  stage: "executor",
  stepId: "s2",
  turn: 1,
  replyIndex: 0,
  messageCount: 2,
  requestDigest: "sha256:0",
  estimatedTokens: 10,
  model: "qwen3:8b",
  endpoint: "http://127.0.0.1:11434",
})

describe("the live line", () => {
  test("says who is asked and for how long, once it takes a while", () => {
    const { after, pass, live } = line()
    after(asked)
    expect(pass(900)).toBeNull()
    expect(pass(200)).toBe("… qwen3:8b is asked (executor, step s2): 1 s")
    live.received("twelve signs")
    expect(pass(4_000)).toBe("… qwen3:8b is asked (executor, step s2): 5 s, 12 characters so far")
  })

  test("says who is in the way, and for how long from the first time on", () => {
    const { after, pass, live } = line()
    live.awaits("session 1")
    expect(pass(600)).toBeNull()
    live.awaits("session 1")
    expect(pass(600)).toBe("… waits for session 1: 1 s")
    after(made.replied())
    expect(pass(5_000)).toBeNull()
  })

  test("is gone with the next event, and counts anew", () => {
    const { after, pass, shown } = line()
    after(asked)
    pass(5_000)
    after(made.replied())
    expect(shown()).toBeNull()
    expect(pass(5_000)).toBeNull()
    after(asked)
    expect(pass(1_500)).toBe("… qwen3:8b is asked (executor, step s2): 1 s")
  })

  test("names the command that runs", () => {
    const { after, pass } = line()
    const { data, ...event } = made.callAsked("call_1")
    const args = { kind: "inline" as const, value: { argv: ["npm", "test"] } }
    after({ ...event, data: { ...data, tool: "run_command", arguments: args } })
    expect(pass(5_000)).toBeNull()
    after(made.callBegan("call_1", "run"))
    expect(pass(2_000)).toBe("… run_command npm test runs: 2 s")
  })

  test("names the task that was asked first, and how many are asked beside it", () => {
    const { after, pass, shown } = line(120, taskWaits())
    const asks = (index: number, attempt = 1) =>
      newEvent(TaskAsked, {
        taskId: `t${index}`,
        index,
        attempt,
        replyIndex: 0,
        model: "sonnet",
        requestDigest: "sha256:0",
        maxTokens: 10,
      })
    const replies = (index: number) =>
      newEvent(TaskReplied, {
        taskId: `t${index}`,
        index,
        attempt: 1,
        text: { kind: "inline", text: "" },
        isRedacted: false,
        stopReason: "end_turn",
        failure: null,
        usage: { input: 0, output: 0 },
        durationMs: 1,
      })
    after(asks(0))
    pass(2_000)
    after(asks(1))
    expect(pass(1_000)).toBe("… sonnet is asked (t0) and 1 other task: 3 s")
    after(replies(0))
    expect(shown()).toBeNull()
    expect(pass(1_000)).toBe("… sonnet is asked (t1): 1 s")
    after(replies(1))
    expect(pass(9_000)).toBeNull()
    after(asks(1, 2))
    expect(pass(1_000)).toBe("… sonnet is asked (t1, attempt 2): 1 s")
  })

  test("never takes more than one row", () => {
    const { after, pass } = line(20)
    after(asked)
    expect(pass(2_000)?.length).toBeLessThan(20)
  })

  test("ends with the session", () => {
    const { live, after, pass, shown, isStopped } = line()
    after(asked)
    pass(2_000)
    live[Symbol.dispose]()
    expect([shown(), isStopped()]).toEqual([null, true])
  })
})
