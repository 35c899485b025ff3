import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import { type AgentWorkspace, agentWorkspace, type ReplyText } from "../../support/agent/agent-workspace.ts"
import { check } from "../../support/checker/checker.ts"
import { contains, greeting, open, reply } from "../../support/script-replies.ts"

let room: AgentWorkspace
beforeEach(() => {
  room = agentWorkspace({ files: { "notes.txt": "the word is swordfish\n" } })
})
afterEach(() => room[Symbol.dispose]())

const script = () => ["--script", room.scriptFile]
const other: readonly ReplyText[] = [
  reply.plan({ write: ["other.txt"], acceptance: [contains("other.txt", "more")] }),
  reply.write("other.txt", "more\n"),
  reply.finish("wrote the other"),
  reply.review("approve"),
]

/** Returns the ids of all agent sessions. */
async function sessions(): Promise<readonly string[]> {
  const rows = JSON.parse((await room.acode("session", "list", "--json")).stdout) as readonly { id: string }[]
  return rows.map(({ id }) => id)
}

describe("a second request", () => {
  test("in a finished session is planned, approved and verified anew, in the same log", async () => {
    room.script(...greeting(), ...other)
    expect((await room.run("--yes=plan,file_write")).exitCode).toBe(0)
    const [id = ""] = await sessions()
    // The grant of the first plan is not one for the second, although that asks for another file only.
    const more = ["resume", id, "write the other one too", "--approve-plan", "--json"]
    const asked = await room.acode(...more, ...script())
    expect([asked.exitCode, room.file("other.txt")]).toEqual([10, null])
    const lines = asked.stdout.trimEnd().split("\n")
    expect(JSON.parse(lines[0] ?? "").type).toBe("session.resumed")
    expect(JSON.parse(lines[1] ?? "")).toMatchObject({
      type: "request.added",
      data: { text: "write the other one too" },
    })
    const [question] = JSON.parse((await room.acode("approvals", "list", "--json")).stdout)
    expect((await room.acode("approve", question.id)).exitCode).toBe(0)
    const end = await room.resume()
    expect([end.exitCode, room.file("greeting.txt"), room.file("other.txt")]).toEqual([
      0,
      "hello\n",
      "more\n",
    ])
    expect(end.data("session.finished")).toMatchObject([{ state: "COMPLETED", unverified: false }])
    expect(await sessions()).toEqual([id])
    expect((await room.acode("session", "validate")).exitCode).toBe(0)
    expect((await room.acode("audit", "verify")).exitCode).toBe(0)
    expect(await check(room.workspace)).toEqual([])
  })

  test("is added to the latest session by run --continue, also to one that only asked", async () => {
    room.script({ stage: "planner", answer: "It is swordfish." }, ...other)
    expect((await room.acode("ask", "what is the word?", ...script())).exitCode).toBe(0)
    const run = await room.run("--continue", "--yes=plan,file_write")
    expect([run.exitCode, room.file("other.txt")]).toEqual([0, "more\n"])
    expect(await sessions()).toHaveLength(1)
    const shown = await room.acode("session", "show")
    expect(shown.stdout).not.toContain("It is swordfish.")
    expect(await check(room.workspace)).toEqual([])
  })

  test("in a session that rests in a step or at a question replaces what was open", async () => {
    const asks = { stage: "planner", answer: "so it is" }
    room.script(reply.plan({ steps: [open("s1")] }), reply.fault("executor", "disconnect"), asks)
    expect((await room.run("--yes=plan")).exitCode).toBe(4)
    const [id = ""] = await sessions()
    const end = await room.acode("resume", id, "is it so?", "--json", ...script())
    expect(end.exitCode).toBe(0)
    expect(end.stdout).toContain('"answer":"so it is"')
    room.script(...Array.from({ length: 3 }, () => asks), reply.plan({ write: ["a.txt"] }), asks)
    expect((await room.acode("resume", id, "write it", "--approve-plan", ...script())).exitCode).toBe(10)
    expect((await room.acode("approvals", "list")).stdout).toContain("run plan version")
    expect((await room.acode("resume", id, "or is it?", ...script())).exitCode).toBe(0)
    expect((await room.acode("approvals", "list")).stdout).not.toContain("run plan version")
    expect((await room.acode("session", "validate")).exitCode).toBe(0)
    expect(await check(room.workspace)).toEqual([])
  })

  test("is refused where there is nothing to continue, and for a session that was cancelled", async () => {
    room.script(reply.fault("planner", "disconnect"))
    const none = await room.acode("run", "more", "--continue", ...script())
    expect([none.exitCode, none.stderr]).toEqual([2, expect.stringContaining("no session to continue")])
    await room.run()
    expect((await room.acode("cancel", "--reason", "enough")).exitCode).toBe(0)
    const [id = ""] = await sessions()
    const refused = await room.acode("resume", id, "more", ...script())
    expect([refused.exitCode, refused.stderr]).toEqual([2, expect.stringContaining("the session has ended")])
    expect((await room.acode("resume", id, " ", ...script())).exitCode).toBe(2)
  })
})
