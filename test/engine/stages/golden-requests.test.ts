import { expect, test } from "bun:test"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { ModelRequest } from "../../../src/provider/contract.ts"
import { agentRoom } from "../../support/agent/agent-room.ts"
import { contains, open, reply } from "../../support/script-replies.ts"

const goldenFile = join(import.meta.dirname, "golden-requests.txt")

/** A planner that reads, two steps, a check that fails, its fix, and a review. */
const replies = [
  { stage: "planner", calls: [{ tool: "read_file", args: { path: "words.txt" } }] },
  reply.plan({
    write: ["greeting.txt"],
    acceptance: [contains("greeting.txt", "hello"), { id: "a2", kind: "judgement", text: "it is polite" }],
    steps: [open("s1", "ANALYZE_CODE"), open("s2", "WRITE_FILE", { depends_on: ["s1"] })],
  }),
  reply.calls(["read_file", { path: "words.txt" }]),
  reply.finish("the greeting in use is hello"),
  reply.write("greeting.txt", "bye\n"),
  reply.finish("wrote greeting.txt"),
  reply.write("greeting.txt", "hello\n"),
  reply.finish("corrected it"),
  reply.judge("a2", "passed"),
  reply.review("approve"),
]

/** Returns a request as text, without what differs each time: marks, hashes, ids. */
function shown({ stage, tools, messages, format }: ModelRequest, index: number): string {
  const parts = messages.map(message => {
    const calls = message.role === "assistant" ? message.calls : []
    return `--- ${message.role}\n${message.text}${calls.map(call => `\n[call] ${call.tool} ${JSON.stringify(call.arguments)}`).join("")}`
  })
  const offer = `tools: ${tools.map(({ name }) => name).join(", ") || "none"}; format: ${format?.name ?? "none"}`
  return [`===== request ${index + 1}, ${stage}; ${offer}`, ...parts].join("\n")
}

function settled(text: string): string {
  return text
    .replace(/<<<(.*) [0-9a-f]{24}$/gm, "<<<$1 MARK")
    .replace(/^[0-9a-f]{24}>>>/gm, "MARK>>>")
    .replace(/sha256:[0-9a-f]+/g, "sha256:HASH")
}

test("each whole request of a golden session is this text; ACODE_TEST_GOLDEN=write writes it anew", async () => {
  using room = await agentRoom(replies, {
    files: { "words.txt": "hello, and not bye\n", "AGENTS.md": "Greet briefly.\n" },
  })
  expect(await room.drive()).toMatchObject({ exitCode: 0 })
  const text = `${settled(room.requests.map(shown).join("\n\n"))}\n`
  if (process.env["ACODE_TEST_GOLDEN"] === "write") writeFileSync(goldenFile, text)
  expect(text.split("\n")).toEqual(readFileSync(goldenFile, "utf8").split("\n"))
  // A server reuses what begins like the request before it.
  const stages = Map.groupBy(room.requests, ({ stage }) => stage)
  const [first, second] = stages.get("planner") ?? []
  expect(second?.messages.slice(0, first?.messages.length)).toEqual([...(first?.messages ?? [])])
})
