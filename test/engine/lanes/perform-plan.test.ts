import { afterEach, describe, expect, test } from "bun:test"
import type { ApprovalQuestion, PromptedAnswer } from "../../../src/app/approval-desk.ts"
import { type AgentRoom, agentRoom } from "../../support/agent/agent-room.ts"
import { check } from "../../support/checker/checker.ts"
import { concrete, contains, greeting, open, reply, type TaskText } from "../../support/script-replies.ts"

let room: AgentRoom | null = null
afterEach(() => {
  room?.[Symbol.dispose]()
  room = null
})

const nobody = { surface: { acceptsPlans: false } }
const asking = (answer: PromptedAnswer["answer"], reason: string | null = null) => ({
  surface: { acceptsPlans: false, isInteractive: true, prompt: async () => ({ answer, reason }) },
})
const openQuestion = ({ store }: AgentRoom) => store.approvals.list({ open: true })[0]?.id ?? ""
const answer = (session: AgentRoom, given: "granted" | "refused", reason: string | null = null) =>
  session.store.approvals.answer({
    approvalId: openQuestion(session),
    answer: given,
    reason,
    by: "grace",
    via: "command",
  })
const task = { write: ["greeting.txt"], acceptance: [contains("greeting.txt", "hello")] }

describe("a plan that nobody is there to approve", () => {
  test("rests with exit 10, again and again, until somebody answers; then it goes on", async () => {
    room = await agentRoom(greeting(), nobody)
    expect(await room.drive()).toMatchObject({ state: "AWAITING_APPROVAL", exitCode: 10 })
    expect(await room.drive()).toMatchObject({ state: "AWAITING_APPROVAL", exitCode: 10 })
    expect(room.data("approval.requested")).toHaveLength(1)
    answer(room, "granted")
    expect(await room.drive()).toMatchObject({ state: "COMPLETED", exitCode: 0 })
    expect(room.data("plan.approved")).toMatchObject([{ approver: "grace" }])
    expect(await check(room.workspace)).toEqual([])
  })

  test("goes on when who resumes it accepts plans unseen", async () => {
    room = await agentRoom(greeting(), nobody)
    expect(await room.drive()).toMatchObject({ exitCode: 10 })
    expect(await room.drive({ acceptsPlan: () => "yes" })).toMatchObject({ exitCode: 0 })
    expect(room.data("plan.approved")).toMatchObject([{ approver: "--yes=plan", isUnseen: true }])
    expect(await check(room.workspace)).toEqual([])
  })

  test("goes back to the planner with the reason it was refused for", async () => {
    room = await agentRoom([reply.plan(task), ...greeting()], nobody)
    await room.drive()
    answer(room, "refused", "say it in French")
    expect(await room.drive()).toMatchObject({ exitCode: 10 })
    expect(room.requests[1]?.messages.map(({ text }) => text).join()).toContain("say it in French")
    answer(room, "granted")
    expect(await room.drive()).toMatchObject({ exitCode: 0 })
    expect(await check(room.workspace)).toEqual([])
  })

  test("ends in exit 33 when every plan is refused", async () => {
    room = await agentRoom(
      [1, 2, 3].map(() => reply.plan(task)),
      nobody,
    )
    await room.drive()
    answer(room, "refused")
    await room.drive()
    answer(room, "refused")
    await room.drive()
    answer(room, "refused", "no plan at all")
    expect(await room.drive()).toMatchObject({
      exitCode: 33,
      reason: expect.stringContaining("no plan at all"),
    })
  })
})

describe("a plan that a person is asked about", () => {
  test("is run when they approve", async () => {
    room = await agentRoom(greeting(), asking("granted"))
    expect(await room.drive()).toMatchObject({ exitCode: 0 })
    expect(room.data("approval.requested")).toMatchObject([{ kind: "plan", files: ["greeting.txt"] }])
  })

  test("is the end of the session when they stop: exit 23", async () => {
    room = await agentRoom(greeting(), asking("stopped"))
    expect(await room.drive()).toMatchObject({ state: "CANCELLED", exitCode: 23 })
    expect(room.data("step.started")).toEqual([])
  })

  test("is asked about with --approve-plan, whatever --yes says", async () => {
    room = await agentRoom(greeting(), { settings: { approvePlan: true } })
    expect(await room.drive()).toMatchObject({ exitCode: 10 })
  })

  test("is let go when somebody pauses the session from elsewhere", async () => {
    const { surface } = asking("granted")
    const waiting = { ...surface, prompt: (_: unknown, dismissed: AbortSignal) => until(dismissed) }
    room = await agentRoom(greeting(), { surface: waiting })
    const isAsked = () => room?.events().at(-1)?.type === "approval.requested"
    const control = () => (isAsked() ? { control: "pause" as const, by: "grace", reason: "later" } : null)
    expect(await room.drive({ control })).toMatchObject({ state: "PAUSED", exitCode: 22 })
    expect(room.store.approvals.list({ open: true })).toHaveLength(1)
  })
})

function until(signal: AbortSignal): Promise<null> {
  return new Promise(resolve => signal.addEventListener("abort", () => resolve(null)))
}

const runs = (...command: string[]) => ({ id: "a9", kind: "command", command, expect_exit: 0 })

describe("another plan", () => {
  const replanned = (second: TaskText) =>
    greeting(
      reply.review("replan", "otherwise"),
      reply.plan(second),
      reply.write("greeting.txt", "hello again\n"),
      reply.finish(),
      reply.review("approve"),
    )

  test("that asks for no more keeps the grant, and nobody is asked", async () => {
    room = await agentRoom(replanned({ ...task, steps: [open("s2")] }), asking("granted"))
    expect(await room.drive()).toMatchObject({ exitCode: 0 })
    expect(room.data("approval.requested")).toHaveLength(1)
    expect(room.data("plan.approved")).toMatchObject([{}, { approver: expect.stringContaining("version 1") }])
    expect(await check(room.workspace)).toEqual([])
  })

  test.each([
    ["a file", { ...task, write: ["greeting.txt", "more.txt"], steps: [open("s2")] }],
    ["a command", { ...task, commands: [["make"]], steps: [open("s2")] }],
    [
      "a command that verifies it",
      { ...task, acceptance: [...task.acceptance, runs("true")], steps: [open("s2")] },
    ],
    ["a call", { ...task, steps: [open("s2"), concrete("s3", "read_file", { path: "greeting.txt" })] }],
    ["a tool the model may call", { ...task, steps: [open("s2", "GENERATE_CODE")] }],
  ])("that asks for %s more is asked about again", async (_name, second) => {
    room = await agentRoom(replanned(second), asking("granted"))
    expect(await room.drive()).toMatchObject({ exitCode: 0 })
    expect(room.data("approval.requested")).toHaveLength(2)
  })

  const read = (id: string, more: object = {}) =>
    concrete(id, "read_file", { path: "greeting.txt" }, { ...more })
  const asked = async (first: TaskText, second: TaskText) => {
    const [, ...rest] = replanned(second)
    room = await agentRoom([reply.plan(first), ...rest], asking("granted"))
    expect(await room.drive()).toMatchObject({ exitCode: 0 })
    return room.data("approval.requested").length
  }

  test("with another exit code for a command that verifies it is asked about again", async () => {
    const first = { ...task, commands: [["true"]], acceptance: [runs("true")] }
    const second = { ...first, steps: [open("s2")] }
    expect(await asked(first, second)).toBe(1)
    room?.[Symbol.dispose]()
    const other = { ...runs("true"), id: "a8", expect_exit: 1 }
    room = await agentRoom(
      [reply.plan(first), ...replanned({ ...second, acceptance: [other] }).slice(1)],
      asking("granted"),
    )
    await room.drive()
    expect(room.data("approval.requested")).toHaveLength(2)
  })

  test("that has a call which is done under another name is asked about: a call is granted once", async () => {
    const first = { ...task, steps: [open("s1"), read("r1")] }
    expect(await asked(first, { ...task, steps: [open("s2"), read("r1")] })).toBe(1)
    room?.[Symbol.dispose]()
    expect(await asked(first, { ...task, steps: [open("s2"), read("r2")] })).toBe(2)
  })

  test("in which a task of the model's own calls reaches the hosts of another task is asked about again", async () => {
    const reaching = (hosts: readonly string[]) => ({
      more: { resources: { write: ["greeting.txt"], commands: [], hosts } },
    })
    const fetching: TaskText = { steps: [read("r1")], ...reaching(["example.com"]) }
    const drive = async (hosts: readonly string[]) => {
      const second = reply.plan({ ...task, steps: [open("s2")], ...reaching(hosts) }, fetching)
      const first = reply.plan({ ...task, ...reaching([]) }, fetching)
      const known = replanned(task)
      room?.[Symbol.dispose]()
      room = await agentRoom([first, ...known.slice(1, 4), second, ...known.slice(5)], asking("granted"))
      expect(await room.drive()).toMatchObject({ exitCode: 0 })
      return room.data("approval.requested").length
    }
    expect(await drive([])).toBe(1)
    expect(await drive(["example.com"])).toBe(2)
  })

  test("that no longer asks for confirmation of a step is asked about again", async () => {
    const read = (more: object) => concrete("s3", "read_file", { path: "greeting.txt" }, { ...more })
    const first = { ...task, steps: [open("s1"), read({ requires_confirmation: true })] }
    const [, ...rest] = replanned({ ...task, steps: [open("s2"), read({})] })
    room = await agentRoom([reply.plan(first), ...rest], asking("granted"))
    expect(await room.drive()).toMatchObject({ exitCode: 0 })
    expect(room.data("approval.requested").map(({ kind }) => kind)).toEqual(["plan", "confirmation", "plan"])
  })
})

describe("the project's own tests", () => {
  const manifest = JSON.stringify({ scripts: { test: "true" } })

  test("stand in the question about the plan, and are granted with it", async () => {
    const shown: string[] = []
    const prompt = async ({ approval }: ApprovalQuestion) => {
      shown.push(approval.preview)
      return { answer: "granted", reason: null } as const
    }
    const surface = { acceptsPlans: false, isInteractive: true, prompt }
    room = await agentRoom(greeting(), { files: { "package.json": manifest }, surface })
    await room.drive()
    expect(shown).toHaveLength(1)
    expect(shown[0]?.split("\n").slice(-2)).toEqual([
      "the project's own checks, run at the end",
      "  runs npm test",
    ])
  })

  test("that the session itself made are asked about, and a later answer counts", async () => {
    const plan = { write: ["Makefile"], acceptance: [contains("Makefile", "test")] }
    const made = [reply.plan(plan), reply.write("Makefile", "test:\n\ttrue\n"), reply.finish()]
    room = await agentRoom([...made, reply.review("approve")], {
      config: {
        approvals: { non_interactive: "rest" },
        rules: [{ name: "make", operation: "TERMINAL_COMMAND", policy: "prompt", command: "make" }],
      },
    })
    expect(await room.drive()).toMatchObject({ exitCode: 10 })
    expect(room.data("command.started")).toEqual([])
    expect(room.store.approvals.list({ open: true })).toMatchObject([{ operation: "run make test" }])
    answer(room, "granted")
    await room.drive()
    expect(room.data("command.started")).toMatchObject([{}])
    expect(room.data("approval.requested").map(({ kind }) => kind)).toEqual(["plan", "action"])
  })
})

describe("a review that a person has to accept", () => {
  const options = { settings: { requireReviewApproval: true } }

  test("rests until it is accepted", async () => {
    room = await agentRoom(greeting(), options)
    expect(await room.drive()).toMatchObject({ state: "AWAITING_APPROVAL", exitCode: 10 })
    answer(room, "granted")
    expect(await room.drive()).toMatchObject({ state: "COMPLETED", exitCode: 0 })
  })

  test("goes back as a fix when it is not", async () => {
    const mended = [reply.write("greeting.txt", "hello!\n"), reply.finish(), reply.review("approve")]
    room = await agentRoom(greeting(reply.review("approve"), ...mended), options)
    await room.drive()
    answer(room, "refused", "louder")
    expect(await room.drive()).toMatchObject({ exitCode: 10 })
    expect(room.data("step.started").map(({ stepId }) => stepId)).toEqual(["s1", "t1.fix1"])
    expect(room.file("greeting.txt")).toBe("hello!\n")
  })
})
