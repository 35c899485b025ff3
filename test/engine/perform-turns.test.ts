import { afterEach, describe, expect, test } from "bun:test"
import { type AgentRoom, agentRoom } from "../support/agent-room.ts"
import { check } from "../support/checker.ts"
import { contains, greeting, reply } from "../support/script-replies.ts"

let room: AgentRoom | null = null
afterEach(() => {
  room?.[Symbol.dispose]()
  room = null
})

const plan = reply.plan({ write: ["*.txt"], acceptance: [contains("greeting.txt", "hello")] })
const textsOf = ({ messages }: AgentRoom["requests"][number]) => messages.map(({ text }) => text).join("\n")

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
    expect(room.requests[0]?.tools).toEqual([])
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
