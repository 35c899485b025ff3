import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import { type AgentWorkspace, agentWorkspace } from "../../support/agent/agent-workspace.ts"
import { check } from "../../support/checker/checker.ts"
import { concrete, contains, open, reply, type TaskText } from "../../support/script-replies.ts"

let room: AgentWorkspace
beforeEach(() => {
  room = agentWorkspace({ files: { "notes.txt": "the word is swordfish\n" } })
})
afterEach(() => room[Symbol.dispose]())

const script = () => ["--script", room.scriptFile]
/** Runs as a person does, without `--json`. */
const told = (...args: readonly string[]) => room.acode("run", "do what is asked", ...args, ...script())

describe("a question", () => {
  const asking = reply.plan({ intent: "QUERY", steps: [open("s1", "READ_FILE")] })
  const read = reply.calls(["read_file", { path: "notes.txt" }])

  test("is answered without approval, verification and review: at the prompt of nobody, without any --yes", async () => {
    room.script(asking, read, reply.finish("swordfish"))
    const run = await room.run()
    expect([run.exitCode, run.data("session.finished")]).toMatchObject([0, [{ answer: "swordfish" }]])
    expect(run.data("approval.requested")).toEqual([])
    expect(run.data("stage.entered").map(({ stage }) => stage)).toEqual(["planner", "executor"])
    expect(run.data("plan.approved")).toMatchObject([
      { approver: "acode: it only reads (QUERY)", isUnseen: true },
    ])
    expect((await room.acode("session", "validate")).exitCode).toBe(0)
    expect(await check(room.workspace)).toEqual([])
  })

  test("whose plan could do more than read is approved by a person as every other plan", async () => {
    const more: TaskText[] = [
      { write: ["a.txt"] },
      { commands: [["ls"]] },
      { steps: [open("s1", "RUN_COMMAND")] },
      { steps: [concrete("s1", "write_file", { path: "a.txt", content: "a" })] },
      { steps: [concrete("s1", "read_file", { path: "notes.txt" }, { requires_confirmation: true })] },
    ]
    for (const task of more) {
      room.script(reply.plan({ intent: "QUERY", steps: [open("s1", "READ_FILE")], ...task }))
      expect((await room.run()).exitCode).toBe(10)
    }
    room.script(asking)
    expect((await room.run("--approve-plan", "--yes=plan")).exitCode).toBe(10)
  })

  test("is not read from a file that policy asks about, because nobody approved the plan", async () => {
    room.workspace.write(
      "../config/acode/config.yml",
      'schema_version: "1"\napprovals: {file_read: prompt}\n',
    )
    const steps = [concrete("s1", "read_file", { path: "notes.txt" })]
    room.script(reply.plan({ intent: "READ", steps }))
    const run = await room.run()
    expect([run.exitCode, run.data("tool_call.settled")]).toMatchObject([33, [{ outcome: "refused" }]])
  })

  test("is answered by the planner at once, if it can", async () => {
    room.script({ stage: "planner", answer: "The word is swordfish." })
    const run = await room.run()
    const answer = "The word is swordfish."
    expect([run.exitCode, run.data("session.finished")]).toMatchObject([0, [{ answer, unverified: true }]])
    expect(run.data("stage.transitioned")).toMatchObject([{ from: "planner", to: "complete" }])
    expect((await room.acode("session", "show")).stdout).toContain("  answer\n    The word is swordfish.\n")
    expect((await room.acode("status")).stdout).toContain("COMPLETED")
    expect((await room.acode("session", "validate")).exitCode).toBe(0)
    expect(await check(room.workspace)).toEqual([])
  })

  test("is answered at the end, with --quiet too, in the events and in session show", async () => {
    room.script(
      asking,
      read,
      reply.finish("The word is swordfish.\nIt stands in notes.txt."),
      reply.review("approve"),
    )
    const run = await told("--yes=plan", "--quiet")
    expect(run.stdout).toStartWith(
      "\nThe word is swordfish.\nIt stands in notes.txt.\n\n✓ COMPLETED (exit 0): answered",
    )
    expect([run.exitCode, run.stdout.includes("verified")]).toEqual([0, true])
    const answer = "The word is swordfish.\nIt stands in notes.txt."
    const shown = await room.acode("session", "show")
    expect(shown.stdout).toContain("  answer\n    The word is swordfish.\n    It stands in notes.txt.\n")
    expect(JSON.parse((await room.acode("session", "show", "--json")).stdout)).toMatchObject({ answer })
    const events = await room.run("--yes=plan")
    expect(events.data("session.finished")).toMatchObject([{ answer, exitCode: 0, unverified: true }])
    expect(await check(room.workspace)).toEqual([])
  })

  test("is answered by what the model said before it finished the step, and not by what it thought", async () => {
    const said = { stage: "executor", text: "<think>hm</think>It is swordfish." }
    room.script(asking, read, said, reply.finish("answered"), reply.review("approve"))
    const run = await room.run("--yes=plan")
    expect(run.data("session.finished")).toMatchObject([{ answer: "It is swordfish.\n\nanswered" }])
  })

  test("whose answer is empty ends with 41, and so does one that no model was asked", async () => {
    room.script(asking, read, reply.finish(""), reply.review("approve"))
    const run = await told("--yes=plan")
    expect([run.exitCode, run.stdout]).toEqual([41, expect.stringContaining("the model gave no answer")])
    const concrete = { id: "s1", tool: "read_file", arguments: { path: "notes.txt" } }
    const acceptance = [contains("notes.txt", "swordfish")]
    room.script(reply.plan({ intent: "READ", steps: [concrete], acceptance }), reply.review("approve"))
    expect((await room.run("--yes=plan")).exitCode).toBe(41)
  })

  test("that changed something is no question any more and has to be verified", async () => {
    room.script(
      reply.plan({ intent: "EXPLAIN", write: ["a.txt"] }),
      ...[reply.write("a.txt", "a\n"), reply.finish("there"), reply.review("approve")],
    )
    const run = await room.run("--yes=plan")
    expect([run.exitCode, run.data("session.finished")[0]?.["answer"]]).toEqual([41, undefined])
  })
})

describe("acode ask", () => {
  const read = reply.calls(["read_file", { path: "notes.txt" }])

  test("prints the answer and changes nothing", async () => {
    room.script(
      reply.plan({ intent: "EXPLAIN", steps: [open("s1", "ANALYZE_CODE")] }),
      read,
      reply.finish("So."),
    )
    const run = await room.acode("ask", "what is it?", "--quiet", ...script())
    expect([run.exitCode, run.stdout.startsWith("\nSo.\n\n✓ COMPLETED (exit 0): answered")]).toEqual([
      0,
      true,
    ])
  })

  test("refuses every plan that would change something, and says what may", async () => {
    const wanting = reply.plan({ write: ["a.txt"], acceptance: [contains("a.txt", "a")] })
    room.script(wanting, wanting, wanting)
    const run = await room.acode("ask", "what is it?", "--yes=plan,file_write", ...script())
    expect([run.exitCode, room.file("a.txt")]).toEqual([22, null])
    expect(run.stdout).toContain("only questions are answered here")
    expect(run.stdout).toContain('`acode run "GOAL"` starts a session that may')
    expect(await check(room.workspace)).toEqual([])
  })

  test("still only reads when it is resumed", async () => {
    room.script({ stage: "planner", fault: { kind: "disconnect" } })
    expect((await room.acode("ask", "what?", "--json", ...script())).exitCode).toBe(4)
    const wanting = reply.plan({ write: ["a.txt"] })
    room.script(reply.fault("planner", "disconnect"), wanting, wanting, wanting)
    expect((await room.resume("--yes=plan,file_write")).exitCode).toBe(22)
    expect(room.file("a.txt")).toBeNull()
  })
})
