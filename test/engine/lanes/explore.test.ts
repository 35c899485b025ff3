import { afterEach, describe, expect, test } from "bun:test"
import { type AgentRoom, agentRoom } from "../../support/agent/agent-room.ts"
import type { ReplyText } from "../../support/agent/agent-workspace.ts"
import { check } from "../../support/checker/checker.ts"
import { greeting } from "../../support/script-replies.ts"

let room: AgentRoom | null = null
afterEach(() => {
  room?.[Symbol.dispose]()
  room = null
})

type Call = readonly [tool: string, args: Readonly<Record<string, unknown>>]

const looks = (...calls: readonly Call[]): ReplyText => ({
  stage: "planner",
  calls: calls.map(([tool, args]) => ({ tool, args })),
})
const files = { "src/a.ts": "export const word = 'swordfish'\n", "src/b.ts": "export const other = 1\n" }

describe("a planner", () => {
  test("reads in turns before it plans, and sees what it read", async () => {
    const both = looks(["list_directory", { path: "src" }], ["search_code", { pattern: "swordfish" }])
    room = await agentRoom([both, looks(["read_file", { path: "src/a.ts" }]), ...greeting()], { files })
    expect(await room.drive()).toMatchObject({ exitCode: 0 })
    const [first, second, third] = room.requests
    expect(third?.messages.map(({ role }) => role)).toEqual([
      "system",
      "user",
      "assistant",
      "tool",
      "tool",
      "assistant",
      "tool",
    ])
    expect(third?.messages.at(-1)?.text).toContain("export const word = 'swordfish'")
    // Servers reuse what begins the same.
    expect(second?.messages.slice(0, 2)).toEqual([...(first?.messages ?? [])])
    expect(third?.messages.slice(0, 5)).toEqual([...(second?.messages ?? [])])
    expect([second?.tools, third?.tools]).toEqual([first?.tools, first?.tools])
    expect(room.data("tool_call.requested").slice(0, 3)).toMatchObject([
      { tool: "list_directory", origin: { stepId: null, taskId: null } },
      { tool: "search_code", origin: { stepId: null } },
      { tool: "read_file", origin: { stepId: null } },
    ])
    expect(await check(room.workspace)).toEqual([])
  })

  test("may only read: whatever else it calls is refused, and says so", async () => {
    const writes = looks(
      ["write_file", { path: "made.txt", content: "x" }],
      ["run_command", { argv: ["touch", "made.txt"] }],
      ["delete_file", { paths: ["src/a.ts"] }],
      ["read_file", { path: ".env" }],
    )
    room = await agentRoom([writes, ...greeting()], { files: { ...files, ".env": "KEY=1\n" } })
    expect(await room.drive()).toMatchObject({ exitCode: 0 })
    expect([room.file("made.txt"), room.file("src/a.ts")]).toEqual([null, files["src/a.ts"]])
    const outcomes = room.data("tool_call.settled").slice(0, 4)
    expect(outcomes.map(({ outcome }) => outcome).sort()).toEqual(["denied", "failed", "failed", "failed"])
    expect(room.requests[1]?.messages.at(-1)?.text).not.toContain("KEY=1")
    expect(await check(room.workspace)).toEqual([])
  })

  test("that has read enough gets no tools any more, and has to plan", async () => {
    const reading = [looks(["read_file", { path: "src/a.ts" }]), looks(["read_file", { path: "src/b.ts" }])]
    room = await agentRoom([...reading, ...greeting()], { files, limits: { exploreTurnsMax: 2 } })
    expect(await room.drive()).toMatchObject({ exitCode: 0 })
    expect(room.requests.slice(0, 3).map(({ tools }) => tools.length)).toEqual([4, 4, 0])
    expect(room.requests[2]?.messages.at(-1)?.text).toContain("You have read enough")
  })

  test("that reads on and on is stopped, with the number of its tries", async () => {
    const again = Array.from({ length: 9 }, (_, at) => looks(["read_file", { path: `src/${at}.ts` }]))
    room = await agentRoom(again, { files, limits: { exploreTurnsMax: 2 } })
    expect(await room.drive()).toMatchObject({
      exitCode: 22,
      reason: expect.stringContaining("no valid plan in 3 tries: it only read more"),
    })
    expect(room.requests).toHaveLength(5)
  })

  test("that reads the same again and again has to plan, and so does one that used its share of the tokens", async () => {
    const same = looks(["read_file", { path: "src/a.ts" }])
    room = await agentRoom([same, same, same, ...greeting()], { files })
    expect(await room.drive()).toMatchObject({ exitCode: 0 })
    expect(room.requests[3]?.tools).toEqual([])
    room[Symbol.dispose]()
    const dear = { ...same, usage: { input: 40_000, output: 10 } }
    room = await agentRoom([dear, ...greeting()], { files, limits: { tokensMax: 100_000 } })
    await room.drive()
    expect(room.requests[1]?.tools).toEqual([])
  })

  test("continues where it was after its process died while it read", async () => {
    const reading = [looks(["read_file", { path: "src/a.ts" }]), looks(["glob", { pattern: "**/*.ts" }])]
    room = await agentRoom([...reading, ...greeting()], { files })
    const calls: string[] = []
    const dying = {
      gate: { call: () => Promise.reject(new Error("died")) },
    }
    await expect(room.drive(dying)).rejects.toThrow("died")
    calls.push(...room.data("turn.finished").map(({ stage }) => String(stage)))
    expect(calls).toEqual(["planner"])
    expect(await room.drive()).toMatchObject({ exitCode: 0 })
    expect(room.data("turn.finished").filter(({ stage }) => stage === "planner")).toHaveLength(3)
    expect(await check(room.workspace)).toEqual([])
  })
})
