import { afterEach, describe, expect, test } from "bun:test"
import type { ControlRequest } from "../../../src/engine/agent-parts.ts"
import { type AgentRoom, type AgentRoomOptions, agentRoom } from "../../support/agent/agent-room.ts"
import type { ReplyText } from "../../support/agent/agent-workspace.ts"
import { check } from "../../support/checker/checker.ts"
import { contains, greeting, open, reply } from "../../support/script-replies.ts"

let room: AgentRoom | null = null
afterEach(() => {
  room?.[Symbol.dispose]()
  room = null
})

async function made(replies: readonly ReplyText[], options: AgentRoomOptions = {}): Promise<AgentRoom> {
  room = await agentRoom(replies, options)
  return room
}

const plan = reply.plan({ write: ["greeting.txt"], acceptance: [contains("greeting.txt", "hello")] })
const attempt = (text: string) => [reply.write("greeting.txt", text), reply.finish()]

describe("a session", () => {
  test("goes through all four stages and is done", async () => {
    const session = await made(greeting())
    expect(await session.drive()).toEqual({
      state: "COMPLETED",
      reason: "done and verified",
      exitCode: 0,
      unverified: false,
    })
    expect(session.data("stage.transitioned").map(({ to }) => to)).toEqual([
      "executor",
      "verifier",
      "reviewer",
      "complete",
    ])
    expect(await check(session.workspace)).toEqual([])
  })

  test.each<[string, readonly ReplyText[], AgentRoomOptions, number]>([
    ["too many turns", [plan, ...turns("a", "b")], { limits: { turnsMax: 2 } }, 31],
    ["the same turn over and over", [plan, ...turns("a", "a", "a", "a")], {}, 22],
    ["a slow step", [plan, reply.fault("executor", "slow", 9_000)], { limits: { stepTimeoutMs: 50 } }, 34],
    ["a step given up", [plan, reply.giveUp("I cannot")], {}, 30],
    ["no cycle at all", [plan, ...attempt("x")], { limits: { cyclesMax: 0 } }, 40],
    ["too many cycles", [plan, ...attempt("x"), ...attempt("y")], { limits: { cyclesMax: 1 } }, 21],
    ["no valid plan", [1, 2, 3].map(() => reply.fault("planner", "garbage")), {}, 22],
    ["no review that is one", greeting(...[1, 2].map(() => ({ stage: "reviewer", text: "fine!" }))), {}, 22],
    ["a script for another stage", [reply.review("approve")], {}, 4],
  ])("rests with its exit code after %s", async (_name, replies, options, exitCode) => {
    const session = await made(replies, options)
    expect(await session.drive()).toMatchObject({ state: "PAUSED", exitCode })
    expect(session.data("escalation.raised")).toMatchObject([{ exitCode }])
    expect(await check(session.workspace)).toEqual([])
  })

  test("is ended in the middle of a command when the step has no time left", async () => {
    const steps = [open("s1", "RUN_COMMAND")]
    const sleeping = reply.calls(["run_command", { argv: ["sleep", "60"] }])
    const session = await made([reply.plan({ commands: [["sleep"]], steps }), sleeping], {
      limits: { stepTimeoutMs: 400 },
    })
    expect(await session.drive()).toMatchObject({ exitCode: 34 })
    expect(session.data("tool_call.settled")).toMatchObject([
      { outcome: expect.not.stringMatching("succeeded") },
    ])
  })

  test("is ended in the middle of a stage that has no time left, and says which one", async () => {
    const limits = { stageTimeoutMs: { planner: 30, executor: null, verifier: null, reviewer: null } }
    const session = await made([{ ...plan, fault: { kind: "slow", after_ms: 9_000 } }], { limits })
    expect(await session.drive()).toMatchObject({ exitCode: 20, reason: expect.stringContaining("planner") })
    expect(session.data("stage.finished")).toMatchObject([{ stage: "planner", status: "timeout" }])
    expect(session.data("turn.finished")).toEqual([])
  })
})

function turns(...paths: readonly string[]): readonly ReplyText[] {
  return paths.map(path => reply.calls(["read_file", { path }]))
}

describe("a model that does not answer", () => {
  test("is asked again after 1 and 2 seconds, and then it is exit 4", async () => {
    const session = await made([1, 2, 3].map(() => reply.fault("planner", "rate_limit")))
    expect(await session.drive()).toMatchObject({ exitCode: 4 })
    expect(session.waits).toEqual([1_000, 2_000])
    expect(session.requests.map(({ replyIndex }) => replyIndex)).toEqual([0, 1, 2])
  })

  test("and then does costs nothing but the wait", async () => {
    const session = await made([reply.fault("planner", "disconnect"), ...greeting()])
    expect(await session.drive()).toMatchObject({ exitCode: 0 })
    expect(session.waits).toEqual([1_000])
  })
})

describe("somebody at another terminal", () => {
  const from = (control: ControlRequest["control"], after: string): (() => ControlRequest | null) => {
    return () =>
      room?.events().some(({ type }) => type === after) ? { control, by: "grace", reason: "enough" } : null
  }

  test("pauses it between two things it does, and it goes on there", async () => {
    const session = await made(greeting())
    expect(await session.drive({ control: from("pause", "tool_call.settled") })).toEqual({
      state: "PAUSED",
      reason: "paused by grace: enough",
      exitCode: 22,
      unverified: true,
    })
    expect(session.requests).toHaveLength(2)
    expect(await session.drive()).toMatchObject({ exitCode: 0 })
    expect(await check(session.workspace)).toEqual([])
  })

  test("cancels it for good, also while a model is slow", async () => {
    const session = await made([plan, reply.fault("executor", "slow", 60_000)])
    const rest = await session.drive({ control: from("cancel", "step.started") })
    expect(rest).toMatchObject({ state: "CANCELLED", exitCode: 23, reason: "cancelled by grace: enough" })
    expect(session.events().at(-1)?.type).toBe("session.finished")
    expect(await check(session.workspace)).toEqual([])
  })
})

describe("the person at the terminal", () => {
  test("stops it with Ctrl-C once what is being done is done: exit 130", async () => {
    const drain = new AbortController()
    const session = await made(greeting(), {
      surface: { onEvent: ({ type }) => type === "tool_call.started" && drain.abort() },
    })
    expect(await session.drive({}, { drain: drain.signal })).toMatchObject({ state: "PAUSED", exitCode: 130 })
    expect(session.data("tool_call.settled")).toMatchObject([{ outcome: "succeeded" }])
    expect(await session.drive()).toMatchObject({ exitCode: 0 })
  })

  test("stops a slow model as well with Ctrl-C twice, and the reply is asked for again", async () => {
    const [drain, stop] = [new AbortController(), new AbortController()]
    const session = await made([{ ...plan, fault: { kind: "slow", after_ms: 60_000 } }])
    const driving = session.drive(
      {
        faults: {
          reach: point => {
            if (point !== "agent.asked") return
            drain.abort()
            stop.abort()
          },
        },
      },
      { drain: drain.signal, stop: stop.signal },
    )
    expect(await driving).toMatchObject({ state: "PAUSED", exitCode: 130 })
    session.script(...greeting())
    expect(await session.drive()).toMatchObject({ exitCode: 0 })
    expect(session.requests.map(({ replyIndex }) => replyIndex)).toEqual([0, 0, 1, 2, 3])
  })
})
