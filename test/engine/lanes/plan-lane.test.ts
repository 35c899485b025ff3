import { afterEach, describe, expect, test } from "bun:test"
import { approvalDesk } from "../../../src/app/approval-desk.ts"
import type { Json } from "../../../src/base/canonical.ts"
import { ToolCallRequested } from "../../../src/domain/events/call-events.ts"
import { SessionFinished, StepFinished, StepStarted } from "../../../src/domain/events/session-events.ts"
import { runPlan } from "../../../src/engine/lanes/plan-lane.ts"
import type { CallRequest } from "../../../src/gate/contract.ts"
import { answering } from "../../support/plan/gate-room.ts"
import { type PlanRoom, planRoom, runnableOf } from "../../support/plan/plan-room.ts"
import { type PlanStepText, planText } from "../../support/plan/plan-workspace.ts"

let room: PlanRoom
afterEach(() => room[Symbol.dispose]())

const read: PlanStepText = ["file_read", { path: "a.txt" }]
const confirmedRead: PlanStepText = ["file_read", { path: "a.txt" }, { requires_confirmation: true }]
const write: PlanStepText = ["file_write", { path: "b.txt", contents: "b\n" }]
const fails: PlanStepText = ["file_create", { path: "a.txt", contents: "x" }]
const files = { "a.txt": "a\n" }

describe("a plan whose steps all work", () => {
  test("has a result for each step in order, evidence for each, and exit code 0", async () => {
    room = planRoom({ files })
    const result = await room.run([read, write, ["file_search", { pattern: "b", root: "." }]])
    expect(result).toMatchObject({
      plan_id: "demo",
      status: "Completed",
      exit_code: 0,
      session_id: room.log.sessionId,
    })
    expect(
      result.step_results.map(({ step_id, tool_name, success }) => [step_id, tool_name, success]),
    ).toEqual([
      ["s1", "file_read", true],
      ["s2", "file_write", true],
      ["s3", "file_search", true],
    ])
    const evidence = room.data(ToolCallRequested).map(({ callId }) => callId)
    expect(result.step_results.map(({ execution_id }) => execution_id)).toEqual(evidence)
    expect(new Set(evidence).size).toBe(3)
    expect(result.step_results[0]?.result).toMatchObject({ content: "a\n" })
    expect(room.data(SessionFinished)).toMatchObject([
      {
        state: "COMPLETED",
        exitCode: 0,
        reason: "all 3 steps done",
        treeDigest: (await room.workspace.tree()).digest,
      },
    ])
  })

  test("gives what a command printed", async () => {
    room = planRoom()
    const { step_results } = await room.run([
      ["run_command", { argv: ["sh", "-c", "echo out; echo err >&2"] }],
    ])
    expect(step_results).toMatchObject([{ success: true, stdout: "out\n", stderr: "err\n" }])
  })

  test("takes two commits a step and one for the end", async () => {
    room = planRoom({ files })
    await room.run([read, read])
    expect(room.commits).toEqual([
      ["step.started", "tool_call.requested", "tool_call.started"],
      ["tool_call.settled", "step.finished"],
      ["step.started", "tool_call.requested", "tool_call.started"],
      ["tool_call.settled", "step.finished"],
      ["session.finished"],
    ])
  })
})

describe("a plan with a step that fails", () => {
  const cases: readonly (readonly [string, readonly PlanStepText[], number])[] = [
    ["the first", [fails, write, write], 1],
    ["the second", [read, fails, write], 2],
    ["the last", [read, read, fails], 3],
  ]
  for (const [name, steps, count] of cases)
    test(`ends with ${name}: nothing after it runs, and exit code 30`, async () => {
      room = planRoom({ files })
      const result = await room.run(steps)
      expect([result.status, result.exit_code, result.step_results.length]).toEqual(["Failed", 30, count])
      expect(result.step_results.map(({ success }) => success)).toEqual([
        ...Array.from({ length: count - 1 }, () => true),
        false,
      ])
      expect(result.step_results.at(-1)).toMatchObject({
        error_code: "ACODE-FS-008",
        execution_id: expect.stringMatching(/^cal_/),
        diagnostic_artifacts: [{ code: "ACODE-FS-008" }],
      })
      expect(room.data(StepStarted)).toHaveLength(count)
      expect(room.data(StepFinished)).toHaveLength(count)
      expect(room.read("b.txt")).toBeNull()
      expect(room.data(SessionFinished)).toMatchObject([{ state: "FAILED", exitCode: 30 }])
      expect(room.data(SessionFinished)[0]?.reason).toContain(`step s${count} failed: `)
    })

  test("is not tried again", async () => {
    room = planRoom({ files })
    await room.run([fails])
    expect(room.data(ToolCallRequested)).toHaveLength(1)
  })
})

describe("the exit code says what kind of failure it was", () => {
  const cases: readonly (readonly [string, PlanStepText, number, string])[] = [
    ["a file that is not there", ["file_read", { path: "no.txt" }], 30, "E301"],
    ["a command that fails", ["run_command", { argv: ["false"] }], 30, "ACODE-EXE-003"],
    ["a path outside", ["file_read", { path: "../../etc/passwd" }], 32, "ACODE-SEC-005"],
    ["a protected path", ["file_write", { path: ".env", contents: "x" }], 32, "ACODE-SEC-003"],
    ["a command that is never allowed", ["run_command", { argv: ["rm", "-rf", "/"] }], 32, "ACODE-EXEC-004"],
    [
      "a command that takes too long",
      ["run_command", { argv: ["sleep", "30"], timeout_seconds: 0.2 }],
      34,
      "ACODE-EXE-002",
    ],
    ["a confirmation nobody gives", confirmedRead, 33, "E105"],
  ]
  for (const [name, step, exitCode, code] of cases)
    test(`${name} is ${exitCode} (${code})`, async () => {
      room = planRoom({ files })
      const result = await room.run([step, write])
      expect([result.exit_code, result.step_results[0]?.error_code]).toEqual([exitCode, code])
      expect(result.step_results).toHaveLength(1)
      expect(room.data(StepFinished)).toMatchObject([{ success: false, code }])
    })

  test("a person who stops is 23, and the session is cancelled", async () => {
    room = planRoom({ files, desk: answering("stopped") })
    const result = await room.run([confirmedRead, write])
    expect([result.exit_code, result.step_results.length]).toEqual([23, 1])
    expect(room.data(SessionFinished)).toMatchObject([{ state: "CANCELLED", exitCode: 23 }])
  })

  test("a person who says no is 33, one who says yes 0", async () => {
    const confirmed: PlanStepText = [
      "file_write",
      { path: "b.txt", contents: "b" },
      { requires_confirmation: true },
    ]
    room = planRoom({ files, desk: answering("refused") })
    const refused = await room.run([confirmed])
    expect([refused.exit_code, refused.step_results[0]?.error_code, room.read("b.txt")]).toEqual([
      33,
      "E105",
      null,
    ])
    using other = planRoom({ files, desk: answering("granted") })
    expect((await other.run([confirmed])).exit_code).toBe(0)
    expect(other.read("b.txt")).toBe("b")
  })

  test("an interruption between two steps is 130, with the results so far", async () => {
    room = planRoom({ files })
    const stop = new AbortController()
    const result = await room.run([read, write], { onStepComplete: () => stop.abort() }, stop.signal)
    expect([result.exit_code, result.step_results.length, room.read("b.txt")]).toEqual([130, 1, null])
    expect(room.data(SessionFinished)).toMatchObject([{ state: "CANCELLED", exitCode: 130 }])
  })

  test("an interruption within a command is 130, and the command has ended", async () => {
    room = planRoom()
    const stop = new AbortController()
    const step: PlanStepText = ["run_command", { argv: ["sh", "-c", "echo ready; sleep 30"] }]
    const result = await room.run([step, write], { onOutput: () => stop.abort() }, stop.signal)
    expect(result).toMatchObject({ exit_code: 130, step_results: [{ error_code: "ACODE-EXE-009" }] })
    expect(room.data(SessionFinished)).toMatchObject([{ state: "CANCELLED" }])
  })
})

test("an interruption while a person is asked is 130, with nothing done", async () => {
  const stop = new AbortController()
  room = planRoom({
    files,
    desk: made => ({
      isStaffed: true,
      whenNobody: "deny" as const,
      answeredBefore: () => null,
      ask: (request, signal) =>
        approvalDesk({
          sessionId: request.sessionId,
          approvals: made.store.approvals,
          isInteractive: true,
          whenNobody: "deny",
          timeoutMs: null,
          prompt: (_, dismissed) => {
            const answer = Promise.withResolvers<null>()
            dismissed.addEventListener("abort", () => answer.resolve(null))
            stop.abort()
            return answer.promise
          },
          notice: () => undefined,
          by: "ada",
          clock: made.parts.clock,
        }).ask(request, signal),
    }),
  })
  const step: PlanStepText = ["file_write", { path: "b.txt", contents: "b" }, { requires_confirmation: true }]
  const result = await room.run([step, write], {}, stop.signal)
  expect([result.exit_code, result.step_results.length, room.read("b.txt")]).toEqual([130, 1, null])
  expect(room.data(SessionFinished)).toMatchObject([{ state: "CANCELLED", exitCode: 130 }])
})

describe("the arguments of a step", () => {
  test("are given to the gate untouched", async () => {
    room = planRoom({ files })
    const given: Json[] = []
    const gate = {
      call: (request: CallRequest) => {
        given.push(request.arguments)
        return room.gate.call(request)
      },
    }
    const steps: readonly PlanStepText[] = [
      ["file_write", { path: "./b.txt", contents: "é\u0000\r\n\u2028" }],
      ["run_command", { argv: ["echo", " a  b ", "$HOME", "*"], timeout_seconds: 5 }],
      ["file_read", { path: "../outside" }],
    ]
    await runPlan({ ...room.lane, gate }, runnableOf(planText(steps, "p")), {}, null)
    expect(given).toEqual(steps.map(([, args]) => args as Json))
  })
})

describe("whoever watches", () => {
  test("is told of every step in order", async () => {
    room = planRoom({ files })
    const told: string[] = []
    await room.run([read, ["run_command", { argv: ["echo", "hi"] }], fails, write], {
      onStepStart: ({ step, index }, count) => told.push(`start ${step.id} ${index}/${count}`),
      onStepComplete: ({ step }, { success }) => told.push(`complete ${step.id} ${success}`),
      onStepFailed: ({ step }, { error_code }) => told.push(`failed ${step.id} ${error_code}`),
      onOutput: (stream, chunk) => told.push(`${stream} ${new TextDecoder().decode(chunk).trim()}`),
    })
    expect(told).toEqual([
      "start s1 0/4",
      "complete s1 true",
      "start s2 1/4",
      "stdout hi",
      "complete s2 true",
      "start s3 2/4",
      "failed s3 ACODE-FS-008",
    ])
  })

  test("is told of a result only when it is durable", async () => {
    room = planRoom({ files })
    const finished: number[] = []
    await room.run([read, read], { onStepComplete: () => finished.push(room.data(StepFinished).length) })
    expect(finished).toEqual([1, 2])
  })

  test("cannot break the run", async () => {
    room = planRoom({ files })
    const gone = () => {
      throw new Error("EPIPE")
    }
    const watcher = { onStepStart: gone, onStepComplete: gone, onStepFailed: gone, onOutput: gone }
    const result = await room.run([read, ["run_command", { argv: ["echo", "hi"] }], fails], watcher)
    expect([result.exit_code, result.step_results.length]).toEqual([30, 3])
    expect(room.data(SessionFinished)).toHaveLength(1)
  })
})
