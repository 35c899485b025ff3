import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { acodeProgram, runAcode } from "../../support/acode.ts"
import { type AgentWorkspace, agentWorkspace } from "../../support/agent/agent-workspace.ts"
import { check } from "../../support/checker/checker.ts"
import { eventually } from "../../support/eventually.ts"
import { missingProgram, missingSandbox, testWhere } from "../../support/requirement.ts"
import { concrete, contains, greeting, open, reply } from "../../support/script-replies.ts"
import { openTerminal } from "../../support/terminal/terminal.ts"

let room: AgentWorkspace
beforeEach(() => {
  room = agentWorkspace({ files: { "notes.txt": "the word is swordfish\n" } })
})
afterEach(() => room[Symbol.dispose]())

const plan = reply.plan({ write: ["greeting.txt"], acceptance: [contains("greeting.txt", "hello")] })

describe("user verification scenarios of the executor", () => {
  test("UVS-01 a simple step is done and the session with it", async () => {
    room.script(...greeting())
    const run = await room.run("--yes=plan")
    expect([run.exitCode, run.data("session.finished")]).toMatchObject([0, [{ state: "COMPLETED" }]])
    expect(run.data("step.finished")).toMatchObject([{ stepId: "s1", success: true }])
    expect(await check(room.workspace)).toEqual([])
  })

  test("UVS-02 several steps run in the order of what they depend on", async () => {
    const write = (id: string, needs: readonly string[]) =>
      concrete(id, "write_file", { path: `${id}.txt`, content: id }, { depends_on: needs })
    const steps = [write("last", ["middle"]), write("middle", ["first"]), write("first", [])]
    room.script(reply.plan({ acceptance: [contains("last.txt", "last")], steps }), reply.review("approve"))
    const run = await room.run("--yes=plan")
    expect(run.exitCode).toBe(0)
    expect(run.data("step.started").map(({ stepId }) => stepId)).toEqual(["first", "middle", "last"])
  })

  test("UVS-03 what a file says is in front of the model in its next turn", async () => {
    room.script(
      plan,
      reply.calls(["read_file", { path: "notes.txt" }]),
      reply.write("greeting.txt", "hello swordfish\n"),
      reply.finish(),
      reply.review("approve"),
    )
    const recording = join(room.workspace.outside, "recording.jsonl")
    const run = await room.run("--yes=plan", "--record", recording)
    expect(run.exitCode).toBe(0)
    const [read] = run.data("tool_call.settled")
    expect(read).toMatchObject({ outcome: "succeeded", text: { text: expect.stringContaining("swordfish") } })
    const messages = run.data("model.requested").filter(({ stage }) => stage === "executor")
    expect(messages.map(({ messageCount }) => messageCount)).toEqual([2, 4, 6])
    expect(readFileSync(recording, "utf8")).toContain("hello swordfish")
  })

  test("UVS-04 a file is written, with its content before and after on record", async () => {
    room.script(...greeting())
    const run = await room.run("--yes=plan")
    expect([run.exitCode, room.file("greeting.txt")]).toEqual([0, "hello\n"])
    const [written] = run.data("tool_call.settled")
    expect(written).toMatchObject({
      certainty: "done",
      changes: { value: [{ path: "greeting.txt", before: null }] },
    })
    const undone = await room.acode("session", "undo", "--yes")
    expect([undone.exitCode, room.file("greeting.txt")]).toEqual([0, null])
  })

  const tty = testWhere(missingProgram("tmux"))
  tty("UVS-05 a person is asked about the plan and about a delete, answers, and it goes on", async () => {
    room.script(
      reply.plan({
        acceptance: [{ id: "a1", kind: "file_exists", path: "done.txt" }],
        write: ["done.txt"],
        steps: [open("s1", "DELETE_FILE"), open("s2")],
      }),
      reply.calls(["delete_file", { paths: ["notes.txt"] }]),
      reply.finish(),
      reply.write("done.txt", "x"),
      reply.finish(),
      reply.review("approve"),
    )
    using terminal = openTerminal({
      argv: [acodeProgram(), "run", "tidy up", "--script", room.scriptFile],
      cwd: room.workspace.root,
      env: room.environment,
      rows: 60,
    })
    await terminal.see(/run plan version 1[\s\S]*a approve/)
    terminal.press("a")
    await terminal.see(/delete notes\.txt[\s\S]*a approve/)
    expect(room.file("notes.txt")).not.toBeNull()
    terminal.press("a")
    expect(await terminal.exitStatus()).toBe(0)
    expect([room.file("notes.txt"), room.file("done.txt")]).toEqual([null, "x"])
  })

  test("UVS-06 ../../../etc/passwd is blocked, told to the model, and on record", async () => {
    room.script(
      plan,
      reply.calls(["read_file", { path: "../../../etc/passwd" }]),
      reply.write("greeting.txt", "hello\n"),
      reply.finish(),
      reply.review("approve"),
    )
    const run = await room.run("--yes=plan")
    expect(run.exitCode).toBe(0)
    const [blocked] = run.data("tool_call.settled")
    expect(blocked).toMatchObject({ error: { code: "ACODE-SEC-005" }, certainty: "notDone" })
    expect(run.stdout).not.toContain("root:")
    const failures = await room.acode("evidence", "failures", "--json")
    expect(failures.stdout).toContain("ACODE-SEC-005")
  })

  test("UVS-06 a step that cannot go on because of that exits 32", async () => {
    room.script(plan, reply.calls(["read_file", { path: "../../../etc/passwd" }]), reply.giveUp("no way"))
    expect((await room.run("--yes=plan")).exitCode).toBe(32)
  })

  test("UVS-07 a model that is busy is asked again after a wait, and nothing is lost", async () => {
    room.script(reply.fault("planner", "overloaded"), ...greeting())
    const run = await room.run("--yes=plan")
    expect(run.exitCode).toBe(0)
    const [failed, again] = run.events.filter(({ type }) => type === "turn.finished")
    expect(failed?.data["failure"]).toMatchObject({ kind: "overloaded", retryable: true })
    expect(again?.data).toMatchObject({ failure: null, turn: 1 })
    // How long it waits is left to chance, up to a limit; test/engine/perform-turns says which.
    expect(run.data("model.requested").slice(0, 2)).toMatchObject([
      { stage: "planner", turn: 1, replyIndex: 0 },
      { stage: "planner", turn: 1, replyIndex: 1 },
    ])
  })

  test("UVS-08 a low turn limit ends in exit 31, and a higher one lets it go on", async () => {
    const read = reply.calls(["read_file", { path: "notes.txt" }])
    room.script(
      plan,
      read,
      reply.calls(["list_directory", { path: "." }]),
      reply.write("greeting.txt", "hello\n"),
      reply.finish(),
      reply.review("approve"),
    )
    const run = await room.run("--yes=plan", "--max-turns", "2")
    expect([run.exitCode, run.data("escalation.raised")]).toMatchObject([31, [{ level: "TurnLimit" }]])
    expect(run.data("session.rested")).toMatchObject([{ reason: expect.stringContaining("--max-turns 4") }])
    expect((await room.resume("--max-turns", "4")).exitCode).toBe(0)
    expect(await check(room.workspace)).toEqual([])
  })

  test("UVS-09 killed in the middle of a step, it goes on there and ends with the same files", async () => {
    const slow = { ...reply.finish(), fault: { kind: "slow", after_ms: 60_000 } }
    room.script(plan, reply.write("greeting.txt", "hello\n"), slow)
    {
      await using running = room.start("run", "greet", "--script", room.scriptFile, "--yes=plan")
      await eventually("the file is written", () => room.file("greeting.txt") !== null)
      await eventually("its outcome is on record", async () =>
        (await room.acode("session", "logs", "--json")).stdout.includes("tool_call.settled"),
      )
      running.kill("SIGKILL")
    }
    room.script(plan, reply.write("greeting.txt", "hello\n"), reply.finish(), reply.review("approve"))
    const resumed = await room.resume()
    expect([resumed.exitCode, resumed.events.at(0)?.type]).toEqual([0, "session.resumed"])
    expect(resumed.data("tool_call.requested")).toEqual([])
    expect(room.file("greeting.txt")).toBe("hello\n")
    expect(await check(room.workspace)).toEqual([])
  })

  test.each([29, 33, 41, 47, 53, 59, 66])(
    "UVS-09 killed at point %i and resumed, it ends with the same files and a history that holds",
    async point => {
      room.script(
        reply.plan({
          write: ["*.txt"],
          commands: [["sh", "-c"]],
          acceptance: [contains("greeting.txt", "hello"), contains("built.txt", "once", "a2")],
          steps: [open("s1"), open("s2", missingSandbox === null ? "RUN_COMMAND" : "WRITE_FILE")],
        }),
        reply.write("greeting.txt", "hello\n"),
        reply.finish(),
        // What an unconfined command that was cut off has done, nobody can know: then a person decides, exit 60.
        missingSandbox === null
          ? reply.calls(["run_command", { argv: ["sh", "-c", "echo once > built.txt"] }])
          : reply.write("built.txt", "once\n"),
        reply.finish(),
        reply.review("approve"),
      )
      const args = ["run", "greet", "--script", room.scriptFile, "--yes=plan"]
      const env = { ...room.environment, ACODE_FAILPOINT: String(point) }
      const killed = await runAcode(args, { cwd: room.workspace.root, env })
      expect(killed.signal).toBe("SIGKILL")
      expect((await room.resume()).exitCode).toBe(0)
      expect([room.file("greeting.txt"), room.file("built.txt")]).toEqual(["hello\n", "once\n"])
      expect(await check(room.workspace)).toEqual([])
    },
    15_000,
  )

  test("UVS-10 progress is told to people, and as one JSON object per line to programs", async () => {
    room.script(
      reply.plan({
        write: ["greeting.txt", "bye.txt"],
        acceptance: [contains("bye.txt", "bye"), contains("greeting.txt", "hello", "a2")],
        steps: [open("s1"), open("s2")],
      }),
      ...[reply.write("greeting.txt", "hello\n"), reply.finish()],
      ...[reply.write("bye.txt", "bye\n"), reply.finish(), reply.review("approve")],
    )
    const told = await room.acode("run", "greet", "--script", room.scriptFile, "--yes=plan")
    expect(told.exitCode).toBe(0)
    for (const text of ["step 1/2 s1", "✓ step 2/2 s2", "[tool:write_file] bye.txt", "[result] succeeded"])
      expect(told.stdout).toContain(text)
    // A step that writes what is there already would rightly not be done.
    await room.acode("session", "undo", "--yes")
    const { events } = await room.run("--yes=plan")
    expect([events.at(0)?.type, events.at(-1)?.type]).toEqual(["session.started", "session.finished"])
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1))
    expect(events.at(-1)?.data).toMatchObject({ state: "COMPLETED", exitCode: 0, unverified: false })
    // Between two steps, and between two checks; the end of the last one is the end of the stage.
    expect(told.stdout).toContain("[EXECUTOR] 1/2 steps (50 %)\n")
    const after = events.flatMap(({ type, data }, index) =>
      type === "stage.progressed" ? [[events[index - 1]?.type, data]] : [],
    )
    expect(after).toEqual([
      ["step.finished", { stage: "executor", message: "1/2 steps", fraction: 0.5 }],
      ["check.finished", { stage: "verifier", message: "1/2 checks", fraction: 0.5 }],
    ])
  })
})
