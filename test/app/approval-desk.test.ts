import { describe, expect, test } from "bun:test"
import {
  type ApprovalPrompt,
  approvalDesk,
  type DeskParts,
  type PromptedAnswer,
} from "../../src/app/approval-desk.ts"
import type { Store } from "../../src/store/contract.ts"
import type { AnswerToApproval } from "../../src/store/session/contract.ts"
import { event, type SessionWriter, startSession } from "../store/support/session-events.ts"
import { storeFixture } from "../store/support/store-fixture.ts"

const approvalId = "apr_00000000-0000-7000-8000-000000000001"

/** A session that has asked for one thing, and a desk whose prompt and clock hand a test moves. */
function asked(change: Parameters<typeof event.approvalRequested>[2] = {}) {
  const fixture = storeFixture()
  const store = fixture.open()
  const session = startSession(store)
  const request = event.approvalRequested(approvalId, session.id, { operation: "write a.txt", ...change })
  session.append(request)
  return { ...fixture, store, session, request: request.data }
}

/** A prompt that shows nothing and answers when it is told to. */
function silentPrompt() {
  const { promise, resolve, reject } = Promise.withResolvers<PromptedAnswer | null>()
  const state = { shown: "", options: [] as readonly string[], dismissed: false }
  const prompt: ApprovalPrompt = (question, dismissed) => {
    state.shown = question.approval.operation
    state.options = question.options
    dismissed.addEventListener("abort", () => {
      state.dismissed = true
      resolve(null)
    })
    return promise
  }
  return { prompt, state, press: resolve, fail: reject }
}

/** Time that passes when a test says so. */
function hand() {
  const looks = new Set<() => void>()
  return {
    repeat: (_everyMs: number, look: () => void) => {
      looks.add(look)
      return () => looks.delete(look)
    },
    tick: () => {
      for (const look of looks) look()
    },
    isRunning: () => looks.size > 0,
  }
}

function deskParts(store: Store, parts: Partial<DeskParts> & Pick<DeskParts, "prompt" | "clock">) {
  const notices: string[] = []
  const notice = (text: string) => void notices.push(text)
  const sessionId = store.sessions.latest()?.id ?? "ses_none"
  const usual = { sessionId, isInteractive: true, whenNobody: "deny" as const, timeoutMs: null, by: "ada" }
  return { parts: { approvals: store.approvals, ...usual, notice, ...parts }, notices }
}

function answerOf(answer: AnswerToApproval["answer"], by = "bob"): AnswerToApproval {
  return { approvalId, answer, by, via: "command", reason: answer === "refused" ? "not now" : null }
}

describe("a desk", () => {
  test("is staffed where a person sits at the terminal", () => {
    const { open, clock, ...fixture } = storeFixture()
    using _gone = { [Symbol.dispose]: () => fixture[Symbol.dispose]() }
    const { prompt } = silentPrompt()
    const store = open()
    for (const isInteractive of [true, false])
      expect(approvalDesk(deskParts(store, { prompt, clock, isInteractive }).parts).isStaffed).toBe(
        isInteractive,
      )
  })

  test("shows what the log has, and records the answer of the prompt as given there", async () => {
    using place = asked({ options: ["approve", "deny", "stop"] })
    const { prompt, state, press } = silentPrompt()
    const { repeat, isRunning } = hand()
    const { parts, notices } = deskParts(place.store, { prompt, clock: place.clock, repeat })
    const waiting = approvalDesk(parts).ask(place.request, null)
    expect(state).toMatchObject({ shown: "write a.txt", options: ["approve", "deny", "stop"] })
    press({ answer: "granted", reason: null })
    const reply = await waiting
    expect(reply).toMatchObject({ answer: "granted", by: "ada", reason: null })
    expect(reply.approval).toMatchObject({
      id: approvalId,
      subjectHash: place.request.subjectHash,
      answer: "granted",
      answeredAt: place.clock.now(),
      usedAt: null,
    })
    expect(reply.approval.expiresAt).toBeGreaterThan(place.clock.now())
    expect(place.store.approvals.find(approvalId)).toMatchObject({ state: "granted", answeredBy: "ada" })
    expect(place.store.log.read(approvalId)).toMatchObject([{ data: { via: "prompt" } }])
    expect(notices).toEqual([])
    expect(isRunning()).toBe(false)
  })

  test.each([
    ["skipped", "refused"],
    ["stopped", "refused"],
    ["refused", "refused"],
  ] as const)("passes %s on, which can be used for nothing", async (answer, recorded) => {
    using place = asked()
    const { prompt, press } = silentPrompt()
    const { parts } = deskParts(place.store, { prompt, clock: place.clock, repeat: hand().repeat })
    press({ answer, reason: "because" })
    const reply = await approvalDesk(parts).ask(place.request, null)
    expect(reply).toMatchObject({ answer, reason: "because", approval: { answer: recorded } })
  })

  test("takes an answer from another terminal, dismisses the prompt and says so", async () => {
    using place = asked()
    const { prompt, state } = silentPrompt()
    const { repeat, tick } = hand()
    const { parts, notices } = deskParts(place.store, { prompt, clock: place.clock, repeat })
    const waiting = approvalDesk(parts).ask(place.request, null)
    tick()
    expect(state.dismissed).toBe(false)
    place.open().approvals.answer(answerOf("refused"))
    tick()
    expect(await waiting).toMatchObject({ answer: "refused", by: "bob", reason: "not now" })
    expect(state.dismissed).toBe(true)
    expect(notices).toEqual(["answered at another terminal by bob: refused"])
  })

  test("lets the other terminal win when both answer, and the log has one answer", async () => {
    using place = asked()
    const { prompt, press } = silentPrompt()
    const { parts, notices } = deskParts(place.store, { prompt, clock: place.clock, repeat: hand().repeat })
    const waiting = approvalDesk(parts).ask(place.request, null)
    place.open().approvals.answer(answerOf("refused"))
    press({ answer: "granted", reason: null })
    expect(await waiting).toMatchObject({ answer: "refused", by: "bob" })
    expect(notices).toEqual(["answered at another terminal by bob: refused"])
    expect(place.store.log.read(approvalId)).toHaveLength(1)
  })

  test("agrees with the log whoever of two is first", async () => {
    for (let round = 0; round < 20; round++) {
      using place = asked()
      const { prompt, press } = silentPrompt()
      const { repeat, tick } = hand()
      const { parts } = deskParts(place.store, { prompt, clock: place.clock, repeat })
      const other = place.open()
      const waiting = approvalDesk(parts).ask(place.request, null)
      const acts = [
        () => press({ answer: "granted", reason: null }),
        () => {
          // Too late is an answer as well: the desk was first.
          if (other.approvals.find(approvalId)?.state === "open") other.approvals.answer(answerOf("refused"))
        },
        tick,
      ]
      for (let index = 0; index < 3; index++) {
        acts[(index + round) % 3]?.()
        if (round % 2 === 0) await Promise.resolve()
      }
      const { answer, by } = await waiting
      expect(place.store.approvals.find(approvalId)).toMatchObject({ state: answer, answeredBy: by })
      expect(place.store.log.read(approvalId)).toHaveLength(1)
    }
  })

  test("looks by itself, without a hand", async () => {
    using place = asked()
    const { prompt } = silentPrompt()
    const { parts } = deskParts(place.store, { prompt, clock: place.clock })
    const waiting = approvalDesk(parts).ask(place.request, null)
    place.open().approvals.answer(answerOf("granted"))
    expect(await waiting).toMatchObject({ answer: "granted", by: "bob", approval: { answer: "granted" } })
  })
})

describe("a request that nobody answers", () => {
  test("is refused when it expires, and nothing is recorded", async () => {
    using place = asked({ expiresAt: "2026-01-02T03:05:00.000Z" })
    const { prompt, state } = silentPrompt()
    const { repeat, tick } = hand()
    const { parts, notices } = deskParts(place.store, { prompt, clock: place.clock, repeat })
    const waiting = approvalDesk(parts).ask(place.request, null)
    tick()
    place.clock.advance(120_000)
    tick()
    const reply = await waiting
    expect(reply).toMatchObject({ answer: "refused", by: "nobody", approval: { answer: "refused" } })
    expect(state.dismissed).toBe(true)
    expect(notices).toEqual(["no answer in time"])
    expect(place.store.log.read(approvalId)).toEqual([])
  })

  test("is refused after the time a question waits, whatever the clock on the wall says", async () => {
    using place = asked()
    const { prompt, state } = silentPrompt()
    const { repeat, tick } = hand()
    const { parts, notices } = deskParts(place.store, {
      prompt,
      repeat,
      clock: place.clock,
      timeoutMs: 60_000,
    })
    const waiting = approvalDesk(parts).ask(place.request, null)
    place.clock.jump(3_600_000)
    place.clock.advance(59_999)
    tick()
    expect(state.dismissed).toBe(false)
    place.clock.advance(1)
    tick()
    expect(await waiting).toMatchObject({ answer: "refused", by: "nobody", isExpired: true })
    expect([state.dismissed, notices]).toEqual([true, ["no answer within 60 s"]])
    // It may still be answered: whether it is of use is up to whoever asked.
    expect(place.store.approvals.find(approvalId)).toMatchObject({ state: "open" })
  })

  test("is refused too when the prompt is answered too late", async () => {
    using place = asked({ expiresAt: "2026-01-02T03:05:00.000Z" })
    const { prompt, press } = silentPrompt()
    const { parts } = deskParts(place.store, { prompt, clock: place.clock, repeat: hand().repeat })
    const waiting = approvalDesk(parts).ask(place.request, null)
    place.clock.advance(120_000)
    press({ answer: "granted", reason: null })
    expect(await waiting).toMatchObject({ answer: "refused", by: "nobody" })
  })

  test("is stopped when it is interrupted, whenever that is", async () => {
    using place = asked()
    const { prompt, state } = silentPrompt()
    const { parts } = deskParts(place.store, { prompt, clock: place.clock, repeat: hand().repeat })
    const interruption = new AbortController()
    const waiting = approvalDesk(parts).ask(place.request, interruption.signal)
    interruption.abort()
    expect(await waiting).toMatchObject({ answer: "stopped", by: "nobody", approval: { answer: "refused" } })
    expect(state.dismissed).toBe(true)
    const never: ApprovalPrompt = () => Promise.reject(new Error("nobody is asked after the interruption"))
    const again = approvalDesk({ ...parts, prompt: never }).ask(place.request, interruption.signal)
    expect(await again).toMatchObject({ answer: "stopped" })
  })

  test("is stopped when its session has ended", async () => {
    using place = asked()
    const { prompt } = silentPrompt()
    const { repeat, tick } = hand()
    const { parts } = deskParts(place.store, { prompt, clock: place.clock, repeat })
    const waiting = approvalDesk(parts).ask(place.request, null)
    ended(place.session)
    tick()
    expect(await waiting).toMatchObject({ answer: "stopped" })
  })
})

function ended(session: SessionWriter): void {
  session.append(event.sessionFinished({ state: "CANCELLED", reason: "stopped", exitCode: 23 }))
}

describe("what breaks", () => {
  test("at the prompt is thrown, and nobody looks any more", async () => {
    using place = asked()
    const { prompt, fail } = silentPrompt()
    const { repeat, isRunning } = hand()
    const { parts } = deskParts(place.store, { prompt, clock: place.clock, repeat })
    const waiting = approvalDesk(parts).ask(place.request, null)
    fail(new Error("the terminal is gone"))
    await expect(waiting).rejects.toThrow("the terminal is gone")
    expect(isRunning()).toBe(false)
  })

  test("while looking is thrown after the prompt was dismissed", async () => {
    using place = asked()
    const { prompt, state } = silentPrompt()
    const { repeat, tick } = hand()
    const other = place.open()
    const { parts } = deskParts(other, { prompt, clock: place.clock, repeat })
    const waiting = approvalDesk(parts).ask(place.request, null)
    other[Symbol.dispose]()
    tick()
    await expect(waiting).rejects.toThrow()
    expect(state.dismissed).toBe(true)
  })

  test("a request that is not in the log is a bug", async () => {
    using place = asked()
    const { prompt } = silentPrompt()
    const { parts } = deskParts(place.store, { prompt, clock: place.clock })
    const unknown = { ...place.request, approvalId: "apr_unknown" }
    await expect(approvalDesk(parts).ask(unknown, null)).rejects.toThrow(
      "is in the log before a person is asked",
    )
  })
})
