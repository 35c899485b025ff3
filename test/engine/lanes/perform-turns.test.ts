import { afterEach, describe, expect, test } from "bun:test"
import type { AgentParts } from "../../../src/engine/agent-parts.ts"
import { collect } from "../../../src/provider/reply.ts"
import { createScripted } from "../../../src/provider/script/scripted.ts"
import { scriptOf } from "../../provider/provider-kit.ts"
import { type AgentRoom, agentRoom } from "../../support/agent/agent-room.ts"
import type { ReplyText } from "../../support/agent/agent-workspace.ts"
import { check } from "../../support/checker/checker.ts"
import { contains, greeting, reply } from "../../support/script-replies.ts"

let room: AgentRoom | null = null
afterEach(() => {
  room?.[Symbol.dispose]()
  room = null
})

const plan = reply.plan({ write: ["*.txt"], acceptance: [contains("greeting.txt", "hello")] })
/** A server that is always busy, and says for how long. */
function answeringLate(retryAfterMs: number): AgentParts["ask"] {
  const failure = { kind: "rateLimited", message: "busy", retryable: true, retryAfterMs } as const
  return async () => ({
    text: "",
    calls: [],
    problems: [],
    usage: { input: 0, output: 0 },
    end: null,
    failure,
  })
}

const scripted =
  (replies: readonly ReplyText[]): AgentParts["ask"] =>
  (request, signal) =>
    collect(createScripted(scriptOf(JSON.parse(JSON.stringify(replies)))).ask(request, signal), signal)

const textsOf = ({ messages }: AgentRoom["requests"][number]) => messages.map(({ text }) => text).join("\n")

/** A model that says what its script says, and adds that it refuses. */
function refusingAt(stage: string, ask: AgentParts["ask"]): AgentParts["ask"] {
  return async (request, signal) => {
    const reply = await ask(request, signal)
    return request.stage === stage ? { ...reply, end: "refused" } : reply
  }
}

describe("a refusal", () => {
  test.each(["planner", "reviewer"])("of a %s is no answer, however much it looks like one", async stage => {
    room = await agentRoom(greeting())
    const rest = await room.drive({ ask: refusingAt(stage, scripted(greeting())) })
    expect(rest).toMatchObject({
      exitCode: 4,
      reason: expect.stringContaining("the model refuses to answer"),
    })
    expect(room.data("turn.finished").at(-1)).toMatchObject({
      output: null,
      problems: [],
      failure: { kind: "refused", retryable: false },
    })
    expect(await check(room.workspace)).toEqual([])
  })

  test("of an executor ends the session with what it said, and it is not asked again", async () => {
    room = await agentRoom(greeting())
    const ask = scripted([plan, { stage: "executor", text: "I will not do that." }])
    const rest = await room.drive({ ask: refusingAt("executor", ask) })
    expect(rest).toMatchObject({
      exitCode: 4,
      reason: expect.stringContaining("the model refuses to answer: I will not do that."),
    })
    expect(room.data("model.requested").filter(({ stage }) => stage === "executor")).toHaveLength(1)
  })
})

describe("a budget", () => {
  test("that the first request would exceed is not begun", async () => {
    room = await agentRoom(greeting(), { limits: { tokensMax: 1 } })
    expect(await room.drive()).toMatchObject({
      exitCode: 22,
      reason: expect.stringMatching(/would take about \d{3,} tokens, and 1 of the 1 allowed are left/),
    })
    expect([room.requests.length, room.data("model.requested").length]).toEqual([0, 0])
  })

  test("also ends where the server reports nothing of what it took", async () => {
    room = await agentRoom(greeting(), { limits: { tokensMax: 3_000 } })
    expect(await room.drive()).toMatchObject({ exitCode: 22, reason: expect.stringContaining("tokens") })
    const turns = room.data("turn.finished")
    expect([
      turns.length > 0,
      turns.every(({ usage }) => Bun.deepEquals(usage, { input: 0, output: 0 })),
    ]).toEqual([true, true])
    expect(room.requests).toHaveLength(turns.length)
  })
})

describe("a script", () => {
  test("that lacks a reply is asked for the very same one once it is mended", async () => {
    const [first, ...more] = greeting()
    room = await agentRoom([first ?? {}])
    expect(await room.drive()).toMatchObject({ exitCode: 4 })
    expect(room.data("turn.finished").map(({ replyIndex }) => replyIndex)).toEqual([0, null])
    room.script(first ?? {}, ...more)
    expect(await room.drive()).toMatchObject({ exitCode: 0 })
  })
})

describe("a model", () => {
  test("sees the results of its calls, each behind its call and in their order", async () => {
    room = await agentRoom(
      [
        plan,
        reply.calls(["read_file", { path: "b.txt" }], ["read_file", { path: "a.txt" }]),
        reply.write("greeting.txt", "hello\n"),
        reply.finish(),
        reply.review("approve"),
      ],
      { files: { "a.txt": "first\n", "b.txt": "second\n" } },
    )
    expect(await room.drive()).toMatchObject({ exitCode: 0 })
    const [, , asked] = room.requests
    expect(asked?.messages.map(({ role }) => role)).toEqual(["system", "user", "assistant", "tool", "tool"])
    const [, , , one, other] = asked?.messages ?? []
    expect([one?.text, other?.text]).toEqual([
      expect.stringContaining("second"),
      expect.stringContaining("first"),
    ])
  })

  test("is not told again what it thought aloud, nor made to read the same words anew", async () => {
    const thinking = (said: string) => `<think>maybe ${said}?</think>\n${said}`
    const looking = {
      stage: "executor",
      text: thinking("I look"),
      calls: [{ tool: "list_directory", args: { path: "." } }],
    }
    room = await agentRoom([plan, looking, ...greeting().slice(1)])
    expect(await room.drive()).toMatchObject({ exitCode: 0 })
    const [, , second, third] = room.requests
    expect(second?.messages[2]).toMatchObject({ role: "assistant", text: "I look" })
    // The very same objects: whoever measures a message or spells it out does it once.
    expect(third?.messages[2]).toBe(second?.messages[2])
    expect(third?.messages[3]).toBe(second?.messages[3])
  })

  test("that counts its calls from 1 in every turn gets all of them done as it said", async () => {
    const call = (path: string) => ({ id: "1", tool: "write_file", args: { path, content: `hello ${path}` } })
    const turns = ["greeting.txt", "other.txt"].map(path => ({ stage: "executor", calls: [call(path)] }))
    room = await agentRoom([plan, ...turns, reply.finish(), reply.review("approve")])
    expect(await room.drive()).toMatchObject({ exitCode: 0 })
    expect([room.file("greeting.txt"), room.file("other.txt")]).toEqual([
      "hello greeting.txt",
      "hello other.txt",
    ])
  })

  test("that is busy is left alone for any part of the wait, and never less than its server asks", async () => {
    const busy = reply.fault("planner", "overloaded")
    room = await agentRoom([busy, busy, ...greeting()])
    expect(await room.drive({ jitter: () => 0.25 })).toMatchObject({ exitCode: 0 })
    expect(room.waits).toEqual([250, 500])
    room[Symbol.dispose]()
    room = await agentRoom(greeting())
    await room.drive({ jitter: () => 0, ask: answeringLate(300) })
    expect(room.waits[0]).toBe(300)
  })

  test("is told what was wrong with its answer, and asked again", async () => {
    room = await agentRoom([{ stage: "planner", plan: { goal: "x" } }, ...greeting()])
    expect(await room.drive()).toMatchObject({ exitCode: 0 })
    const [first] = room.data("turn.finished")
    const problems = first?.["problems"] as readonly string[]
    expect([first?.["output"], problems.length > 0]).toEqual([null, true])
    for (const problem of problems) expect(textsOf(room.requests[1] ?? never())).toContain(problem)
  })

  test("that says a step is done which is not is told why, and goes on", async () => {
    room = await agentRoom([
      plan,
      reply.finish(),
      reply.write("greeting.txt", "hello"),
      reply.finish(),
      reply.review("approve"),
    ])
    expect(await room.drive()).toMatchObject({ exitCode: 0 })
    const [refused] = room.data("step.refused")
    expect(textsOf(room.requests[2] ?? never())).toContain(String(refused?.["reason"]))
  })

  test("is asked only with the tools its step may use", async () => {
    room = await agentRoom(greeting())
    await room.drive()
    const names = room.requests[1]?.tools.map(({ name }) => name)
    expect(names).toContain("write_file")
    expect(names).not.toContain("delete_file")
    expect(room.requests[0]?.tools.map(({ name }) => name)).toEqual([
      "read_file",
      "list_directory",
      "search_code",
      "glob",
    ])
    expect(room.requests.at(-1)?.tools).toEqual([])
  })
})

describe("a request that is too long for what is allowed", () => {
  const files = { "a.txt": "a line of text\n".repeat(1_000), "b.txt": "other text\n".repeat(1_000) }
  const reading = ["a.txt", "b.txt"].map(path => reply.calls(["read_file", { path }]))

  test("is shortened, and what was left out is on record", async () => {
    room = await agentRoom(
      [plan, ...reading, reply.write("greeting.txt", "hello\n"), reply.finish(), reply.review("approve")],
      { files, limits: { contextTokensMax: 6_000 } },
    )
    expect(await room.drive()).toMatchObject({ exitCode: 0 })
    const [first] = room.data("context.trimmed")
    expect(first).toMatchObject({
      stage: "executor",
      tokensMax: 6_000,
      shortened: ["results"],
      shortenedCount: 1,
    })
    for (const { tokensBefore, tokensAfter } of room.data("context.trimmed"))
      expect(Number(tokensBefore) > 6_000 && Number(tokensAfter) <= 6_000).toBe(true)
    for (const { estimatedTokens } of room.data("model.requested"))
      expect(Number(estimatedTokens)).toBeWithin(1, 6_001)
  })

  test("also leaves on record what is too old or too long to be shown, once and with the request", async () => {
    const names = Array.from({ length: 20 }, (_, at) => `${at}.txt`)
    const content = (at: number) =>
      at === 3 ? "a long line of text\n".repeat(3_000) : "a line of text\n".repeat(40)
    room = await agentRoom(
      [
        plan,
        ...names.map(path => reply.calls(["read_file", { path }])),
        reply.write("greeting.txt", "hello\n"),
        ...[reply.finish(), reply.review("approve")],
      ],
      { files: Object.fromEntries(names.map((path, at) => [path, content(at)])), limits: { turnsMax: 30 } },
    )
    expect(await room.drive()).toMatchObject({ exitCode: 0 })
    expect(
      room
        .data("context.trimmed")
        .map(({ turn, shortened, shortenedCount }) => ({ turn, shortened, shortenedCount })),
    ).toEqual([
      { turn: 5, shortened: ["longResults"], shortenedCount: 1 },
      ...[16, 21].map(turn => ({ turn, shortened: ["oldResults"], shortenedCount: 5 })),
    ])
    for (const { tokensBefore, tokensAfter, tokensMax } of room.data("context.trimmed"))
      expect([Number(tokensBefore) > Number(tokensAfter), tokensMax]).toEqual([true, null])
    const events = room.events()
    for (const [at, { type, at: time }] of events.entries())
      if (type === "context.trimmed")
        expect(events[at + 1]).toMatchObject({ type: "model.requested", at: time })
    expect(await check(room.workspace)).toEqual([])
  })

  test("leaves on record what reading it left out, once for each thing and with how much it is", async () => {
    const names = Array.from({ length: 300 }, (_, at) => `src/some/where/a-file-with-a-long-name-${at}.txt`)
    const long = "a line of text\n".repeat(6_000)
    const again = reply.finish("not yet")
    room = await agentRoom(
      [
        reply.plan({ write: ["*.txt"], acceptance: [contains("greeting.txt", "hello")] }),
        ...[again, reply.write("greeting.txt", `hello\n${long}`), reply.finish()],
        ...[{ stage: "reviewer", text: "no JSON" }, reply.review("approve")],
      ],
      { files: { "AGENTS.md": long, ...Object.fromEntries(names.map(path => [path, "x\n"])) } },
    )
    expect(await room.drive()).toMatchObject({ exitCode: 0 })
    expect(room.data("context.trimmed")).toMatchObject([
      {
        stage: "planner",
        shortened: ["longOutline", "longInstructions"],
        shortenedCount: 2,
        leftOut: [
          { part: "longOutline", name: null },
          { part: "longInstructions", name: "AGENTS.md", tokens: 18_404 },
        ],
      },
      { stage: "reviewer", shortened: ["longDiff"], shortenedCount: 1, leftOut: [{ part: "longDiff" }] },
    ])
    for (const { tokensBefore, tokensAfter, tokensMax } of room.data("context.trimmed"))
      expect([Number(tokensBefore) - Number(tokensAfter) > 1_000, tokensMax]).toEqual([true, null])
    expect(room.data("model.requested")).toHaveLength(6)
    expect(await check(room.workspace)).toEqual([])
  })

  test("and cannot be shortened is not asked, and its sizes are told", async () => {
    room = await agentRoom([plan], { limits: { contextTokensMax: 300 } })
    const { reason, exitCode } = await room.drive()
    expect([exitCode, room.requests, room.data("model.requested")]).toEqual([22, [], []])
    expect(reason).toMatch(
      /needs about \d+ tokens even after shortening, but 300 are allowed: tools and answer/,
    )
  })
})

describe("a secret", () => {
  const secret = "s3cr3t-value-of-the-user"

  test("that a file, a call or an answer holds reaches neither a model nor the log", async () => {
    room = await agentRoom(
      [
        plan,
        reply.calls(["read_file", { path: "notes.md" }]),
        { ...reply.write("greeting.txt", `hello ${secret}`), text: `I know ${secret}` },
        reply.finish(`wrote ${secret}`),
        reply.review("approve", `looks like ${secret}`),
      ],
      { files: { "notes.md": `the key is ${secret}\n` }, environment: { DEPLOY_TOKEN: secret } },
    )
    expect(await room.drive()).toMatchObject({ exitCode: 0 })
    expect(room.file("greeting.txt")).toBe(`hello ${secret}`)
    expect(JSON.stringify(room.requests)).not.toContain(secret)
    expect(JSON.stringify(room.events())).not.toContain(secret)
    expect(await check(room.workspace)).toEqual([])
  })
})

function never(): never {
  throw new Error("there is such a request")
}
