import { describe, expect, test } from "bun:test"
import { getEventListeners } from "node:events"
import { startAttempt } from "../../../src/provider/transport/http.ts"
import { faultOf, patient } from "./transport-kit.ts"

const forever = () => new Promise<never>(() => undefined)
const nobody = () => new AbortController().signal

describe("an attempt", () => {
  test("gives what comes in time, and what fails as it is", async () => {
    const attempt = startAttempt(patient, nobody())
    expect(await attempt.within(Promise.resolve(7))).toBe(7)
    const error = new Error("its own")
    expect(await attempt.within(Promise.reject(error)).catch(thrown => thrown)).toBe(error)
    attempt.end()
  })

  test.each([
    ["connectMs", "no connection to the model server within 0.02 s"],
    ["firstByteMs", "the model server did not begin to answer within 0.02 s"],
    ["betweenMs", "the model server stopped in the middle of its answer and did not continue within 0.02 s"],
  ] as const)("is stopped by %s", async (which, message) => {
    const attempt = startAttempt({ ...patient, [which]: 20 }, nobody())
    attempt.limit(which)
    expect(await faultOf(attempt.within(forever()))).toEqual({
      kind: "timeout",
      message,
      retryable: true,
      retryAfterMs: null,
    })
    expect(attempt.signal.aborted).toBeTrue()
  })

  test("is stopped by the limit of the whole even while no other runs", async () => {
    const attempt = startAttempt({ ...patient, wholeMs: 20 }, nobody())
    attempt.limit("betweenMs")
    attempt.pause()
    expect((await faultOf(attempt.within(forever()))).message).toContain("did not finish its answer")
  })

  test("has one limit at a time beside that of the whole", async () => {
    const attempt = startAttempt({ ...patient, connectMs: 20, betweenMs: 60 }, nobody())
    attempt.limit("connectMs")
    attempt.limit("betweenMs")
    expect((await faultOf(attempt.within(forever()))).message).toContain("within 0.06 s")
  })

  test("reports what stopped it first, even when it is read only later", async () => {
    const caller = new AbortController()
    const attempt = startAttempt(patient, caller.signal)
    caller.abort(new Error("a reason of the caller"))
    expect(await faultOf(attempt.within(Promise.resolve(1)))).toMatchObject({
      kind: "aborted",
      retryable: false,
    })
  })

  test("is over at once when the caller has already given up", async () => {
    const attempt = startAttempt(patient, AbortSignal.abort())
    expect(attempt.signal.aborted).toBeTrue()
    attempt.limit("connectMs")
    expect((await faultOf(attempt.within(forever()))).kind).toBe("aborted")
  })

  test("remembers what came first", async () => {
    const caller = new AbortController()
    const attempt = startAttempt({ ...patient, wholeMs: 10 }, caller.signal)
    expect((await faultOf(attempt.within(forever()))).kind).toBe("timeout")
    caller.abort()
    expect((await faultOf(attempt.within(forever()))).kind).toBe("timeout")
  })

  test("does not mind what fails after it was stopped", async () => {
    const late = Promise.withResolvers<never>()
    const attempt = startAttempt({ ...patient, wholeMs: 10 }, nobody())
    expect((await faultOf(attempt.within(late.promise))).kind).toBe("timeout")
    late.reject(new Error("too late to be heard"))
    await late.promise.catch(() => undefined)
  })

  test("leaves no listener when it ends, however often it is ended", () => {
    const caller = new AbortController()
    const attempt = startAttempt(patient, caller.signal)
    expect(getEventListeners(caller.signal, "abort")).toHaveLength(1)
    attempt.end()
    attempt.end()
    expect(getEventListeners(caller.signal, "abort")).toHaveLength(0)
    expect(attempt.signal.aborted).toBeTrue()
  })

  test("leaves no timer when it ends: a process ends with it", async () => {
    const source = `
      import { startAttempt } from ${JSON.stringify(`${import.meta.dir}/../../../src/provider/transport/http.ts`)}
      const limits = ${JSON.stringify({ connectMs: 600_000, firstByteMs: 600_000, betweenMs: 600_000, wholeMs: 600_000 })}
      const attempt = startAttempt(limits, new AbortController().signal)
      attempt.limit("connectMs")
      attempt.limit("firstByteMs")
      attempt.end()
      attempt.limit("betweenMs")
    `
    const child = Bun.spawn([process.execPath, "-e", source])
    expect(await child.exited).toBe(0)
  })
})
