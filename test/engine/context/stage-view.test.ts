import { afterEach, expect, test } from "bun:test"
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
