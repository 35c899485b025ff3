import { afterEach, expect, test } from "bun:test"
import { existsSync } from "node:fs"
import { runAcode } from "../../support/acode.ts"
import { type AgentRoom, agentRoom } from "../../support/agent/agent-room.ts"
import { greeting, reply } from "../../support/script-replies.ts"

let room: AgentRoom | null = null
afterEach(() => {
  room?.[Symbol.dispose]()
  room = null
})

const asked = (session: AgentRoom, stage: string) =>
  session.requests
    .filter(request => request.stage === stage)
    .flatMap(({ messages }) => messages.map(({ text }) => text))
    .join("\n")

const files = { "src/a.ts": "export const a = 1\n", "AGENTS.md": "Always say please.\n" }

test("the planner sees the request, an outline of the repository and the project's instructions", async () => {
  room = await agentRoom(greeting(), { files })
  await room.drive()
  for (const text of ["do what is asked", "a.ts", "Always say please."])
    expect(asked(room, "planner")).toContain(text)
  expect(asked(room, "planner")).not.toContain("export const a")
})

test("where there is a code index, the planner sees symbols, and models are offered the tools that ask it", async () => {
  const code = {
    "src/a.ts": "export function used() {}\nfunction own() {}\n",
    "src/b.ts":
      'import { used } from "./a.ts"\nexport const token = used("ghp_a1B2c3D4a1B2c3D4a1B2c3D4a1B2c3D4a1B2")\n',
    "src/c.ts": 'import { token } from "./b.ts"\nconsole.log(token)\n',
    "package.json": "{}",
  }
  room = await agentRoom(greeting(), { files: code })
  const { root, environment } = room.workspace
  expect((await runAcode(["index"], { cwd: root, env: environment })).exitCode).toBe(0)
  await room.drive()
  const prompt = asked(room, "planner")
  for (const text of ["src/a.ts:\n  1  export function used()", "  package.json", "splice_patch"])
    expect(prompt).toContain(text)
  expect(prompt).toContain("export const token")
  for (const text of ["ghp_a1B2", "\n  src/c.ts"]) expect(prompt).not.toContain(text)
  const offered = room.requests.find(({ stage }) => stage === "executor")?.tools.map(({ name }) => name)
  expect(offered).toContain("symbols_in_file")
})

test("without a code index, no model is offered the tools that ask it, and none is made", async () => {
  room = await agentRoom(greeting(), { files })
  await room.drive()
  expect(asked(room, "planner")).not.toContain("splice_patch")
  const offered = room.requests.flatMap(({ tools }) => tools.map(({ name }) => name))
  expect(offered).toContain("write_file")
  expect(offered).not.toContain("symbols_in_file")
  expect(existsSync(room.workspace.state("code.db"))).toBe(false)
})

test("the reviewer sees the request, the plan, the change and the verification, and not what was said", async () => {
  const [plan, write, finish] = greeting()
  const talking = { ...write, text: "I think this is going to be easy." }
  room = await agentRoom([plan ?? {}, talking, finish ?? {}, reply.review("approve")], { files })
  await room.drive()
  const packet = asked(room, "reviewer")
  for (const text of ["do what is asked", "+hello", "greeting.txt", "passed"]) expect(packet).toContain(text)
  expect(packet).not.toContain("going to be easy")
})

test("the reviewer is told what was not let happen", async () => {
  const [plan, ...rest] = greeting()
  room = await agentRoom([plan ?? {}, reply.write("other.txt", "x"), ...rest], { files })
  await room.drive()
  expect(asked(room, "reviewer")).toContain("write_file was refused")
})
