import { afterEach, describe, expect, test } from "bun:test"
import { rmSync } from "node:fs"
import { join } from "node:path"
import { approvalDesk } from "../../src/app/approval-desk.ts"
import { systemClock } from "../../src/base/clock.ts"
import { ApprovalAnswered, ApprovalRequested, ToolCallStarted } from "../../src/domain/events/call-events.ts"
import { Failure } from "../../src/domain/failure.ts"
import type { ApprovalDesk, ApprovalReply } from "../../src/gate/contract.ts"
import { fixedClock } from "../support/fixed-clock.ts"
import { answering, type GateRoom, type GateRoomOptions, gateRoom } from "../support/plan/gate-room.ts"

let room: GateRoom
afterEach(() => room[Symbol.dispose]())

const files = { "a.txt": "old\n" }
const write = { path: "a.txt", content: "new\n" }

function staffed(desk: GateRoomOptions["desk"], more: GateRoomOptions = {}): GateRoom {
  room = gateRoom({ files, ...(desk === undefined ? {} : { desk }), ...more })
  return room
}

function latestId({ sessions }: GateRoom["store"]): string {
  return sessions.latest()?.id ?? ""
}

/** The desk of the product, at which nobody answers for as long as a question waits. */
function unanswered({ store }: GateRoom): ApprovalDesk {
  const passes = (_everyMs: number, look: () => void) => {
    const timer = setInterval(() => {
      now += 1_000
      look()
    }, 1)
    return () => clearInterval(timer)
  }
  let now = 0
  return approvalDesk({
    sessionId: latestId(store),
    approvals: store.approvals,
    isInteractive: true,
    whenNobody: "deny",
    timeoutMs: 5_000,
    prompt: (_, dismissed) =>
      new Promise(resolve => dismissed.addEventListener("abort", () => resolve(null))),
    notice: () => undefined,
    by: "ada",
    repeat: passes,
    clock: { ...systemClock, monotonicMs: () => now },
  })
}

describe("when nobody is there", () => {
  test("what would have to be asked is refused, with question and answer in the log", async () => {
    staffed(undefined)
    const settled = await room.call("write_file", write)
    expect(settled).toMatchObject({
      outcome: "refused",
      certainty: "notDone",
      cause: "refused",
      error: { code: "ACODE-EXEC-005", message: "no user can approve: write a.txt" },
    })
    expect(room.read("a.txt")).toBe("old\n")
    expect(room.commits).toEqual([
      ["tool_call.requested", "approval.requested", "approval.answered", "tool_call.settled"],
    ])
    const [asked] = room.data(ApprovalRequested)
    expect(room.data(ApprovalAnswered)).toMatchObject([
      { approvalId: asked?.approvalId, answer: "refused", by: "nobody", via: "nobody" },
    ])
    expect(room.store.approvals.find(asked?.approvalId ?? "")).toMatchObject({ state: "refused" })
  })

  test("a confirmation is refused as well, although policy allows the call", async () => {
    staffed(undefined)
    const settled = await room.call("read_file", { path: "a.txt" }, { requiresConfirmation: true })
    expect(settled).toMatchObject({ outcome: "refused", error: { code: "ACODE-EXEC-005" } })
    expect(room.data(ApprovalRequested)).toMatchObject([
      { kind: "confirmation", rule: "plan.requires_confirmation" },
    ])
    expect(room.data(ToolCallStarted)).toEqual([])
  })
})

describe("when somebody is there", () => {
  test("a granted call is done, and its intent names the approval", async () => {
    staffed(answering("granted"))
    const settled = await room.call("write_file", write)
    expect([settled.outcome, room.read("a.txt")]).toEqual(["succeeded", "new\n"])
    const [asked] = room.data(ApprovalRequested)
    expect(room.data(ToolCallStarted)).toMatchObject([{ approvalId: asked?.approvalId }])
    expect(room.store.approvals.find(asked?.approvalId ?? "")).toMatchObject({
      state: "granted",
      answeredBy: "ada",
      usedAt: expect.any(String),
    })
  })

  test("they see the operation, the files and the change with line numbers", async () => {
    staffed(answering("refused"))
    await room.call("write_file", write, { origin: { ...noOrigin, stepId: "s3" } })
    expect(room.data(ApprovalRequested)).toMatchObject([
      {
        stepId: "s3",
        kind: "action",
        category: "FILE_WRITE",
        operation: "write a.txt",
        files: ["a.txt"],
        options: ["approve", "deny", "skip", "modify", "stop"],
        expiresAt: null,
      },
    ])
    const [asked] = room.data(ApprovalRequested)
    expect(asked?.preview).toMatchObject({
      kind: "inline",
      text: expect.stringContaining("    1       -old"),
    })
  })

  test("a large preview is an artifact", async () => {
    staffed(answering("refused"))
    await room.call("write_file", { path: "b.txt", content: "line\n".repeat(2_000) })
    const [asked] = room.data(ApprovalRequested)
    expect(asked?.preview.kind).toBe("artifact")
    expect(room.store.approvals.find(asked?.approvalId ?? "")?.preview).toContain("+line")
  })

  test("of a step that is granted as written only yes, no and stop are left", async () => {
    staffed(answering("refused"))
    await room.call("write_file", write, { isGrantedAsWritten: true, requiresConfirmation: true })
    expect(room.data(ApprovalRequested)).toMatchObject([
      { kind: "confirmation", options: ["approve", "deny", "stop"] },
    ])
  })

  const answers = [
    ["refused", "refused", "ada refused: write a.txt: not today"],
    ["skipped", "refused", "ada refused: write a.txt"],
    ["stopped", "stopped", "ada refused: write a.txt"],
  ] as const
  for (const [answer, cause, message] of answers)
    test(`"${answer}" ends the call with nothing touched`, async () => {
      staffed(answering(answer))
      const settled = await room.call("write_file", write)
      expect(settled).toMatchObject({ outcome: "refused", certainty: "notDone", cause })
      expect(settled.error).toMatchObject({ code: "ACODE-EXEC-005", message })
      expect([room.read("a.txt"), room.data(ToolCallStarted)]).toEqual(["old\n", []])
      expect(room.commits).toEqual([["tool_call.requested", "approval.requested"], ["tool_call.settled"]])
    })

  test("the time they take is not the tool's", async () => {
    const clock = fixedClock()
    staffed(
      answering("granted", () => clock.advance(5_000)),
      { clock },
    )
    expect(await room.call("write_file", write)).toMatchObject({ waitMs: 5_000, durationMs: 0 })
  })

  test("the answer of nobody is written down with the outcome, and the model is told", async () => {
    staffed(unanswered)
    const settled = await room.call("write_file", write)
    expect(settled).toMatchObject({ outcome: "refused", certainty: "notDone", cause: "refused" })
    expect(settled.error?.message).toBe("not approved: no answer within 5 s: write a.txt")
    expect(room.data(ApprovalAnswered)).toMatchObject([
      { answer: "refused", by: "nobody", via: "nobody", reason: "no answer within 5 s" },
    ])
    expect(room.commits.at(-1)).toEqual(["approval.answered", "tool_call.settled"])
  })

  test("and where the session rests for answers the question stays open", async () => {
    staffed(made => ({ ...unanswered(made), whenNobody: "rest" }))
    const settled = await room.call("write_file", write)
    expect(settled).toMatchObject({ outcome: "interrupted", certainty: "notDone", cause: "awaiting" })
    expect(room.data(ApprovalAnswered)).toEqual([])
  })
})

describe("an approval covers what was seen and nothing else", () => {
  test("a file that changed while the person was asked is not written", async () => {
    staffed(answering("granted", made => made.put("a.txt", "somebody else's\n")))
    const settled = await room.call("write_file", write)
    expect(settled).toMatchObject({
      outcome: "refused",
      certainty: "notDone",
      cause: "refused",
      error: { code: "ACODE-APPR-003" },
    })
    expect(room.read("a.txt")).toBe("somebody else's\n")
    expect(room.data(ToolCallStarted)).toEqual([])
  })

  test("a write that had nothing to change when it was asked does not say so of another file", async () => {
    staffed(answering("granted", made => made.put("a.txt", "somebody else's\n")))
    const settled = await room.call("write_file", { path: "a.txt", content: "old\n" })
    expect(settled.error?.code).toBe("ACODE-APPR-003")
  })

  test("a change that cannot be made any more fails, and the question stands in the log once", async () => {
    staffed(answering("granted", made => rmSync(join(made.root, "a.txt"))))
    const settled = await room.call("modify_file", {
      path: "a.txt",
      edits: [{ search: "old", replace: "new" }],
    })
    expect(settled).toMatchObject({
      outcome: "failed",
      certainty: "notDone",
      error: { code: "ACODE-FS-002" },
    })
    expect(room.commits).toEqual([["tool_call.requested", "approval.requested"], ["tool_call.settled"]])
  })

  test("a desk that breaks ends the call, with the question in the log once", async () => {
    staffed(() => ({
      isStaffed: true,
      whenNobody: "deny" as const,
      answeredBefore: () => null,
      ask: async () => {
        throw new Failure({ kind: "general", code: "ACODE-DB-002", message: "the database is locked" })
      },
    }))
    const settled = await room.call("write_file", write)
    expect(settled).toMatchObject({
      outcome: "failed",
      certainty: "notDone",
      error: { code: "ACODE-DB-002" },
    })
    expect(room.commits).toEqual([["tool_call.requested", "approval.requested"], ["tool_call.settled"]])
  })

  const tampered: readonly (readonly [string, (reply: ApprovalReply) => ApprovalReply, string])[] = [
    [
      "of another subject",
      reply => ({ ...reply, approval: { ...reply.approval, subjectHash: `sha256:${"0".repeat(64)}` } }),
      "ACODE-APPR-003",
    ],
    ["that was used", reply => ({ ...reply, approval: { ...reply.approval, usedAt: 1 } }), "ACODE-APPR-004"],
    [
      "that has expired",
      reply => ({ ...reply, approval: { ...reply.approval, expiresAt: 1 } }),
      "ACODE-APPR-004",
    ],
    [
      "that was given in the future",
      reply => ({ ...reply, approval: { ...reply.approval, answeredAt: Number.MAX_SAFE_INTEGER } }),
      "ACODE-APPR-004",
    ],
    [
      "that was a refusal",
      reply => ({ ...reply, approval: { ...reply.approval, answer: "refused" } }),
      "ACODE-APPR-004",
    ],
  ]
  for (const [name, change, code] of tampered)
    test(`an answer ${name} is not used`, async () => {
      staffed(made => changed(answering("granted")(made), change))
      const settled = await room.call("write_file", write)
      expect([settled.outcome, settled.error?.code, room.read("a.txt")]).toEqual(["refused", code, "old\n"])
    })

  test("the answer to one call is none to the next, however alike they are", async () => {
    const replies: ApprovalReply[] = []
    staffed(made => {
      const real = answering("granted")(made)
      return {
        isStaffed: true,
        whenNobody: "deny" as const,
        answeredBefore: () => null,
        ask: async (request, signal) => {
          replies.push(await real.ask(request, signal))
          const [first] = replies
          if (first === undefined) throw new Error("it was asked")
          return first
        },
      }
    })
    const command = { argv: ["true"] }
    expect((await room.call("run_command", command)).outcome).toBe("succeeded")
    expect((await room.call("run_command", command)).error?.code).toBe("ACODE-APPR-003")
  })

  test("an approval that was used cannot begin a second action, whatever the gate believes", async () => {
    staffed(answering("granted"))
    await room.call("write_file", write)
    const [started] = room.data(ToolCallStarted)
    if (started === undefined) throw new Error("it was begun")
    const again = { type: ToolCallStarted.type, version: 1, data: { ...started, callId: "cal_other" } }
    expect(() => room.log.append([again])).toThrow("was already used")
  })
})

const noOrigin = {
  planId: null,
  planHash: null,
  taskId: null,
  stepId: null,
  stepKey: null,
  modelCallId: null,
}

function changed(desk: ApprovalDesk, change: (reply: ApprovalReply) => ApprovalReply): ApprovalDesk {
  return { ...desk, ask: async (request, signal) => change(await desk.ask(request, signal)) }
}

describe("what looks like a secret", () => {
  const secret = `ghp_${"a1B2c3D4e5F6".repeat(3)}`
  const hidden = { path: "a.txt", content: `token = "${secret}"\nrun(\u202eevil)\n` }

  test("is shown to the person who decides, and is not in the record", async () => {
    const seen: string[] = []
    staffed(({ store }) =>
      approvalDesk({
        sessionId: latestId(store),
        approvals: store.approvals,
        isInteractive: true,
        whenNobody: "deny",
        timeoutMs: null,
        by: "ada",
        prompt: async ({ approval }) => {
          seen.push(approval.preview)
          return { answer: "granted", reason: null }
        },
        notice: () => undefined,
        clock: systemClock,
      }),
    )
    expect(await room.call("write_file", hidden)).toMatchObject({ outcome: "succeeded" })
    expect(seen.join()).toContain(secret)
    expect(room.read("a.txt")).toBe(hidden.content)
    const [asked] = room.data(ApprovalRequested)
    expect(asked).toMatchObject({ isRedacted: true, reach: "network: none; writes: a.txt" })
    expect(JSON.stringify(asked)).not.toContain(secret)
  })
})
