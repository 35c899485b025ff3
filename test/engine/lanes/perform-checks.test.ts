import { afterEach, describe, expect, test } from "bun:test"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { wholeNetwork } from "../../../src/domain/effect.ts"
import { type AgentRoom, agentRoom } from "../../support/agent/agent-room.ts"
import { check } from "../../support/checker/checker.ts"
import { missingProgram, missingSandbox, testWhere } from "../../support/requirement.ts"
import { concrete, contains, open, reply } from "../../support/script-replies.ts"

let room: AgentRoom | null = null
afterEach(() => {
  room?.[Symbol.dispose]()
  room = null
})

const holds = { id: "a1", kind: "command", command: ["grep", "-q", "hello", "greeting.txt"], expect_exit: 0 }
const written = (text: string) => [reply.write("greeting.txt", text), reply.finish()]
const task = (acceptance: readonly Readonly<Record<string, unknown>>[]) =>
  reply.plan({ write: ["greeting.txt"], steps: [open("s1")], acceptance })
const verdicts = (session: AgentRoom) =>
  session.data("check.finished").map(({ criterionId, verdict }) => [criterionId, verdict])

/** A check whose argv the plan names, and whose script the model writes: it makes a file beside the workspace. */
describe("a check that runs what the model wrote", () => {
  const makefile = "test:\n\ttouch ran ../beside\n"
  const making = { id: "a1", kind: "command", command: ["make", "test"], expect_exit: 0 }
  const replies = [
    reply.plan({ write: ["Makefile"], acceptance: [making] }),
    reply.write("Makefile", makefile),
    reply.finish(),
  ]
  const beside = (session: AgentRoom) => existsSync(join(session.workspace.root, "../beside"))

  testWhere(missingSandbox ?? missingProgram("make"))(
    "is confined like the commands of the model, although its plan is approved",
    async () => {
      room = await agentRoom([...replies, reply.review("approve")])
      expect(await room.drive()).toMatchObject({ exitCode: 0 })
      // Where the sandbox shows a directory of its own beside the workspace, what is made there is gone with it.
      expect([room.file("ran"), beside(room)]).toEqual(["", false])
      expect(room.data("tool_call.started").at(-1)).toMatchObject({
        confinement: { sandboxed: true, network: "none" },
      })
    },
  )

  test("is asked about where nothing confines it, and the question says what it could reach and write", async () => {
    const unconfined = { yes: "plan", config: { execution: { sandbox: "none" } } }
    room = await agentRoom(replies, unconfined)
    expect(await room.drive()).toMatchObject({ exitCode: 41 })
    expect([room.data("command.started"), beside(room)]).toEqual([[], false])
    expect(room.data("approval.requested").at(-1)).toMatchObject({
      kind: "action",
      reach: `network: ${wholeNetwork}; writes: everything that you may write`,
      preview: { text: "make test\nin .\n" },
    })
  })

  test("written down as a call of the plan is asked about as well where only a flag approved the plan", async () => {
    const steps = [open("s1"), concrete("s2", "run_command", { argv: ["make", "test"] })]
    const [, ...rest] = replies
    room = await agentRoom([reply.plan({ write: ["Makefile"], steps }), ...rest], {
      yes: "plan",
      config: { execution: { sandbox: "none" } },
    })
    expect(await room.drive()).toMatchObject({ exitCode: 33 })
    expect([room.data("command.started"), beside(room)]).toEqual([[], false])
  })
})

describe("a verification", () => {
  test("runs a command and holds its exit code, its output and the tree it was run on", async () => {
    room = await agentRoom([task([holds]), ...written("hello\n"), reply.review("approve")])
    expect(await room.drive()).toMatchObject({ exitCode: 0, unverified: false })
    const [checked] = room.data("check.finished")
    expect(checked).toMatchObject({ verdict: "passed", argv: holds.command, exitCode: 0 })
    expect(checked?.["treeDigest"]).toBe(room.data("session.finished")[0]?.["treeDigest"])
    expect(checked?.["executionId"]).toBe(room.data("command.finished")[0]?.["executionId"])
  })

  test("that fails tells the step that mends it what failed", async () => {
    room = await agentRoom([
      task([holds]),
      ...written("hallo\n"),
      ...written("hello\n"),
      reply.review("approve"),
    ])
    expect(await room.drive()).toMatchObject({ exitCode: 0 })
    expect(verdicts(room)).toEqual([
      ["a1", "failed"],
      ["a1", "passed"],
    ])
    const mending = room.requests.find(({ messages }) =>
      messages.some(({ text }) => text.includes("t1.fix1")),
    )
    expect(mending?.messages.map(({ text }) => text).join()).toContain("exit code 1")
    expect(await check(room.workspace)).toEqual([])
  })

  test("asks a model only what no program can decide, and takes its verdicts", async () => {
    const judged = { id: "a2", kind: "judgement", text: "it is friendly" }
    room = await agentRoom([
      task([contains("greeting.txt", "hello"), judged]),
      ...written("hello\n"),
      reply.judge("a2", "failed"),
      ...written("hello, friend\n"),
      reply.judge("a2", "passed"),
      reply.review("approve"),
    ])
    expect(await room.drive()).toMatchObject({ exitCode: 0 })
    expect(verdicts(room)).toEqual([
      ["a1", "passed"],
      ["a2", "failed"],
      ["a1", "passed"],
      ["a2", "passed"],
    ])
  })

  test("is never passed where no check gave a verdict: exit 41", async () => {
    room = await agentRoom([
      task([{ id: "a1", kind: "diagnostics", path: ".", max_errors: 0 }]),
      ...written("hello\n"),
    ])
    expect(await room.drive()).toMatchObject({
      exitCode: 41,
      reason: expect.stringContaining("no check gave a verdict"),
    })
    expect(verdicts(room)).toEqual([["a1", "inconclusive"]])
  })

  test("runs the project's own tests as well, and a session whose tests fail never exits 0", async () => {
    const files = { Makefile: "test:\n\tfalse\n" }
    room = await agentRoom([task([contains("greeting.txt", "hello")]), ...written("hello\n")], {
      files,
      limits: { cyclesMax: 0 },
    })
    expect(await room.drive()).toMatchObject({ exitCode: 40 })
    expect(verdicts(room)).toEqual([
      ["project-tests", "failed"],
      ["a1", "passed"],
    ])
  })

  test("is left out with --skip-verify, and the result says so", async () => {
    room = await agentRoom([task([holds]), ...written("hallo\n"), reply.review("approve")], {
      settings: { skipVerify: true },
    })
    expect(await room.drive()).toMatchObject({ exitCode: 0, unverified: true })
    expect(verdicts(room)).toEqual([])
  })
})
