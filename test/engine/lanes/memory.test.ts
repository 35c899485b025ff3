import { afterEach, describe, expect, test } from "bun:test"
import { type AgentRoom, type AgentRoomOptions, agentRoom } from "../../support/agent/agent-room.ts"
import type { ReplyText } from "../../support/agent/agent-workspace.ts"
import { check } from "../../support/checker/checker.ts"
import { contains, open, reply } from "../../support/script-replies.ts"

let room: AgentRoom | null = null
afterEach(() => {
  room?.[Symbol.dispose]()
  room = null
})

const files = { "a.txt": "the word is swordfish\n", "b.txt": "the number is 4711\n" }
const read = (path: string, stage = "executor"): ReplyText => ({
  stage,
  calls: [{ tool: "read_file", args: { path } }],
})

async function drive(replies: readonly ReplyText[], options: AgentRoomOptions = {}): Promise<AgentRoom> {
  room = await agentRoom(replies, { files, ...options })
  await room.drive()
  return room
}

/** Returns the message with the task of each request of the executor. */
function prompts({ requests }: AgentRoom): readonly string[] {
  return requests.filter(({ stage }) => stage === "executor").map(({ messages }) => messages[1]?.text ?? "")
}

describe("a later step", () => {
  const steps = [open("s1", "READ_FILE"), open("s2", "WRITE_FILE", { depends_on: ["s1"] })]
  const plan = reply.plan({ write: ["*.txt"], steps, acceptance: [contains("made.txt", "made")] })

  test("knows what the planner and the steps before it read, and what they found", async () => {
    const done = await drive([
      read("b.txt", "planner"),
      plan,
      read("a.txt"),
      reply.finish("the word is in a.txt"),
      reply.write("made.txt", "made\n"),
      reply.finish(),
      reply.review("approve"),
    ])
    const [first = "", , second = ""] = prompts(done)
    expect([first.includes("4711"), first.includes("swordfish")]).toEqual([true, false])
    expect([second.includes("4711"), second.includes("swordfish")]).toEqual([true, true])
    expect(second).toContain("t1/s1: the word is in a.txt")
    expect(first).not.toContain("findings of earlier steps")
    expect(await check(done.workspace)).toEqual([])
  })

  test("sees files as they are when it begins, and the same in each of its requests", async () => {
    const done = await drive([
      plan,
      read("a.txt"),
      reply.finish("read it"),
      reply.write("a.txt", "changed by the step\n"),
      reply.write("made.txt", "made\n"),
      reply.finish(),
      reply.review("approve"),
    ])
    const second = prompts(done).slice(2)
    expect(second).toHaveLength(3)
    expect(new Set(second).size).toBe(1)
    expect(second[0]).toContain("swordfish")
  })

  test("sees a file as an earlier step left it, without its secrets, and no file that is gone or protected", async () => {
    const key = "ghp_0123456789abcdefghijABCDEFGHIJ012345"
    const writing = [open("s1"), open("s2", "WRITE_FILE", { depends_on: ["s1"] })]
    const done = await drive([
      reply.plan({
        write: ["*.txt"],
        commands: [["rm", "b.txt"]],
        steps: writing,
        acceptance: [contains("made.txt", "made")],
      }),
      reply.write("a.txt", `now with ${key}\n`),
      read("b.txt"),
      reply.calls(["run_command", { argv: ["rm", "b.txt"] }]),
      reply.finish(),
      reply.write("made.txt", "made\n"),
      reply.finish(),
      reply.review("approve"),
    ])
    const last = prompts(done).at(-1) ?? ""
    expect(last).toContain("now with [REDACTED:")
    expect([last.includes(key), last.includes("swordfish"), last.includes("4711")]).toEqual([
      false,
      false,
      false,
    ])
  })

  test("is told less where the window is small: files give way before the task does", async () => {
    const long = { "a.txt": "a line of text\n".repeat(3_000) }
    const done = await drive(
      [
        plan,
        read("a.txt"),
        reply.finish("it is long"),
        reply.write("made.txt", "made\n"),
        reply.finish(),
        reply.review("approve"),
      ],
      { files: long, limits: { contextTokensMax: 4_000 } },
    )
    const last = prompts(done).at(-1) ?? ""
    expect(last).toContain("t1/s1: it is long")
    expect(last.length).toBeLessThan(12_000)
    expect(done.data("context.trimmed").at(-1)).toMatchObject({
      shortened: expect.arrayContaining(["files"]),
    })
  })
})

describe("a step that fixes a failed check", () => {
  test("gets the diff of the session and the check with its output", async () => {
    const argv = ["grep", "-n", "right", "a.txt"]
    const acceptance = [{ id: "a1", kind: "command", command: argv }]
    const done = await drive([
      reply.plan({ write: ["a.txt"], commands: [argv], acceptance }),
      reply.write("a.txt", "wrong\n"),
      reply.finish("wrote it"),
      reply.write("a.txt", "right\n"),
      reply.finish("fixed it"),
      reply.review("approve"),
    ])
    const [before = "", , fix = ""] = prompts(done)
    expect(before).not.toContain("change so far")
    expect(fix).toContain("-the word is swordfish")
    expect(fix).toContain("+wrong")
    expect(fix).toContain("Make these checks pass: a1: ")
    expect(fix).toContain("t1/s1: wrote it")
    expect(done.data("session.finished")).toMatchObject([{ exitCode: 0, unverified: false }])
  })
})

describe("another plan", () => {
  test("is made with what the steps found, and why one failed", async () => {
    const done = await drive([
      reply.plan({ write: ["made.txt"], acceptance: [contains("made.txt", "made")] }),
      reply.write("made.txt", "made\n"),
      reply.finish("made.txt was missing"),
      reply.review("replan", "think again"),
      reply.plan({ write: ["made.txt"], acceptance: [contains("made.txt", "made")] }),
      reply.review("approve"),
    ])
    const planner = done.requests.filter(({ stage }) => stage === "planner").at(-1)?.messages[1]?.text
    expect(planner).toContain("t1/s1: made.txt was missing")
  })
})

describe("a second request", () => {
  test("is planned with the first one, its answer and what it changed in sight", async () => {
    const done = await drive([
      reply.plan({ write: ["made.txt"], acceptance: [contains("made.txt", "made")] }),
      reply.write("made.txt", "made\n"),
      reply.finish("made it"),
      reply.review("approve"),
      { stage: "planner", answer: "It is in made.txt." },
      { stage: "planner", answer: "As I said." },
    ])
    await done.drive({}, {}, {}, "where is it?")
    await done.drive({}, {}, {}, "say it again")
    const [, second = "", third = ""] = done.requests
      .filter(({ stage }) => stage === "planner")
      .map(({ messages }) => messages[1]?.text ?? "")
    expect(second).toContain(
      "request: do what is asked\nplan: what is asked\nchanged: made.txt\nresult: done and verified",
    )
    expect(second).toContain("where is it?")
    expect(second).not.toContain("earlier plan")
    expect(third).toContain("request: where is it?\nanswer: It is in made.txt.\nresult: answered")
    expect(await check(done.workspace)).toEqual([])
  })
})
