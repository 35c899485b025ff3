import { afterEach, describe, expect, test } from "bun:test"
import { type AgentRoom, agentRoom } from "../../support/agent/agent-room.ts"
import { check } from "../../support/checker/checker.ts"
import { concrete, contains, open, reply } from "../../support/script-replies.ts"

let room: AgentRoom | null = null
afterEach(() => {
  room?.[Symbol.dispose]()
  room = null
})

const plan = reply.plan({ write: ["greeting.txt"], acceptance: [contains("greeting.txt", "hello")] })
const done = [reply.write("greeting.txt", "hello\n"), reply.finish(), reply.review("approve")]
const settled = (session: AgentRoom) =>
  session.data("tool_call.settled").map(({ outcome, error }) => [outcome, codeOf(error)])
const codeOf = (error: unknown) => (error as { readonly code: string } | null)?.code ?? null

describe("what a plan does not grant", () => {
  test.each([
    ["another file", ["write_file", { path: "other.txt", content: "x" }], "refused", "ACODE-EXEC-005"],
    ["a way out", ["read_file", { path: "../../etc/passwd" }], "failed", "ACODE-SEC-005"],
    ["a protected file", ["read_file", { path: ".env" }], "denied", "ACODE-SEC-003"],
    ["a tool that is not offered", ["delete_file", { paths: ["a"] }], "failed", "E201"],
    ["a tool there is not", ["make_coffee", {}], "failed", "E201"],
  ] as const)(
    "%s is not let happen, and the model is told and goes on",
    async (_name, call, outcome, code) => {
      room = await agentRoom([plan, reply.calls([call[0], call[1]]), ...done])
      expect(await room.drive()).toMatchObject({ exitCode: 0 })
      expect(settled(room)).toEqual([
        [outcome, code],
        ["succeeded", null],
      ])
      const told = room.requests[2]?.messages.at(-1)
      expect(told?.role).toBe("tool")
      expect(told?.text).not.toBe("")
      expect(await check(room.workspace)).toEqual([])
    },
  )

  test.each([
    ["another file", ["write_file", { path: "other.txt", content: "x" }], 33],
    ["a way out", ["read_file", { path: "../../etc/passwd" }], 32],
    ["a protected file", ["write_file", { path: ".git/config", content: "x" }], 32],
  ] as const)("%s is the reason a step failed that cannot do without", async (_name, call, exitCode) => {
    room = await agentRoom([plan, reply.calls([call[0], call[1]]), reply.giveUp("I need it")])
    expect(await room.drive()).toMatchObject({ exitCode, reason: expect.stringContaining("I need it") })
  })

  test("is the end of the session when the person who is asked says stop", async () => {
    room = await agentRoom([plan, reply.write("other.txt", "x")], {
      surface: { isInteractive: true, prompt: async () => ({ answer: "stopped", reason: null }) },
    })
    expect(await room.drive()).toMatchObject({ state: "CANCELLED", exitCode: 23 })
    expect(await check(room.workspace)).toEqual([])
  })
})

describe("a question that nobody here can answer", () => {
  test("is asked once, and the session rests in the same commit", async () => {
    room = await agentRoom([plan, reply.write("other.txt", "x"), ...done], {
      config: { approvals: { non_interactive: "rest" } },
    })
    expect(await room.drive()).toMatchObject({ state: "AWAITING_APPROVAL", exitCode: 10 })
    const [asked, answered, rested] = room.events().slice(-3)
    expect([asked, answered, rested].map(event => event?.type)).toEqual([
      "approval.requested",
      "tool_call.settled",
      "session.rested",
    ])
    expect(new Set([asked?.at, answered?.at, rested?.at]).size).toBe(1)
  })
})

describe("a concrete step", () => {
  const write = (more: Readonly<Record<string, unknown>> = {}) =>
    concrete("s1", "write_file", { path: "greeting.txt", content: "hello\n" }, more)
  const task = { acceptance: [contains("greeting.txt", "hello")] }

  test("is done exactly as written, in one commit with its end, and no model is asked", async () => {
    room = await agentRoom([reply.plan({ ...task, steps: [write()] }), reply.review("approve")])
    expect(await room.drive()).toMatchObject({ exitCode: 0 })
    expect(room.requests.map(({ stage }) => stage)).toEqual(["planner", "reviewer"])
    expect(room.data("step.finished")).toMatchObject([
      { success: true, callId: room.data("tool_call.settled")[0]?.["callId"] },
    ])
  })

  test("that needs a confirmation nobody can give is E105 and exit 33, also with --yes", async () => {
    room = await agentRoom([reply.plan({ ...task, steps: [write({ requires_confirmation: true })] })])
    expect(await room.drive()).toMatchObject({ exitCode: 33 })
    expect(room.data("step.finished")).toMatchObject([{ success: false, code: "E105" }])
    expect(room.file("greeting.txt")).toBeNull()
  })

  test.each([
    ["granted", 0, "hello\n"],
    ["refused", 33, null],
  ] as const)(
    "that waits for a confirmation rests, and goes on when it is %s",
    async (answer, exitCode, text) => {
      const steps = [write({ requires_confirmation: true })]
      room = await agentRoom([reply.plan({ ...task, steps }), reply.review("approve")], {
        config: { approvals: { non_interactive: "rest" } },
      })
      expect(await room.drive()).toMatchObject({ state: "AWAITING_APPROVAL", exitCode: 10 })
      const [asked] = room.store.approvals.list({ open: true })
      expect([room.file("greeting.txt"), room.data("step.finished")]).toEqual([null, []])
      room.store.approvals.answer({
        approvalId: asked?.id ?? "",
        answer,
        by: "grace",
        via: "command",
        reason: null,
      })
      expect(await room.drive()).toMatchObject({ exitCode })
      expect([room.file("greeting.txt"), room.data("approval.requested").length]).toEqual([text, 2])
      expect(await check(room.workspace)).toEqual([])
    },
  )

  test("is the end of the session when the person who is asked says stop", async () => {
    room = await agentRoom([reply.plan({ ...task, steps: [write({ requires_confirmation: true })] })], {
      surface: { isInteractive: true, prompt: async () => ({ answer: "stopped", reason: null }) },
    })
    expect(await room.drive()).toMatchObject({ state: "CANCELLED", exitCode: 23 })
    expect(room.file("greeting.txt")).toBeNull()
  })

  test("is not done where its precondition does not hold", async () => {
    room = await agentRoom([reply.plan({ ...task, steps: [write({ precondition: "file_exists" })] })])
    expect(await room.drive()).toMatchObject({ exitCode: 30 })
    expect(room.data("step.finished")).toMatchObject([{ success: false, code: "E101" }])
    expect(room.file("greeting.txt")).toBeNull()
  })

  test("that fails keeps what depends on it from being done, and nothing else", async () => {
    const steps = [
      concrete("s1", "read_file", { path: "missing.txt" }),
      concrete("s2", "write_file", { path: "after.txt", content: "x" }, { depends_on: ["s1"] }),
      concrete("s3", "write_file", { path: "beside.txt", content: "x" }),
    ]
    room = await agentRoom([reply.plan({ steps })])
    expect(await room.drive()).toMatchObject({
      exitCode: 30,
      reason: expect.stringContaining("1 step waits"),
    })
    expect([room.file("after.txt"), room.file("beside.txt")]).toEqual([null, "x"])
    expect(await check(room.workspace)).toEqual([])
  })
})

describe("the calls of one turn", () => {
  test("are made in their order where one changes what the next reads", async () => {
    const both = reply.calls(
      ["write_file", { path: "greeting.txt", content: "hello\n" }],
      ["read_file", { path: "greeting.txt" }],
      ["finish_step", { summary: "written" }],
    )
    room = await agentRoom([plan, both, reply.review("approve")])
    expect(await room.drive()).toMatchObject({ exitCode: 0 })
    expect(settled(room)).toEqual([
      ["succeeded", null],
      ["succeeded", null],
    ])
  })

  test("that only read are all on record before the first has ended", async () => {
    const reads = reply.calls(["read_file", { path: "a" }], ["read_file", { path: "b" }])
    room = await agentRoom([plan, reads, ...done], { files: { a: "1", b: "2" } })
    expect(await room.drive()).toMatchObject({ exitCode: 0 })
    const types = room.events().map(({ type }) => type)
    const second = types.indexOf("tool_call.requested", types.indexOf("tool_call.requested") + 1)
    expect(second).toBeLessThan(types.indexOf("tool_call.settled"))
  })
})

test("a step that wrote nothing is not done until it has written something", async () => {
  const steps = [open("s1", "MODIFY_FILE")]
  room = await agentRoom(
    [
      reply.plan({ write: ["greeting.txt"], steps, acceptance: [contains("greeting.txt", "hello")] }),
      reply.calls(["read_file", { path: "greeting.txt" }], ["finish_step", { summary: "looked at it" }]),
      reply.calls(["modify_file", { path: "greeting.txt", edits: [{ search: "hi", replace: "hello" }] }]),
      reply.finish(),
      reply.review("approve"),
    ],
    { files: { "greeting.txt": "hi\n" } },
  )
  expect(await room.drive()).toMatchObject({ exitCode: 0 })
  expect(room.data("step.refused")).toHaveLength(1)
})
