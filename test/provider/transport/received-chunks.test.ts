import { describe, expect, test } from "bun:test"
import { receivedChunks, startAttempt } from "../../../src/provider/transport/http.ts"
import { faultOf, listOf, patient } from "./transport-kit.ts"

const streamOf = (...pieces: (string | Error)[]) =>
  new ReadableStream<Uint8Array>({
    pull(controller) {
      const piece = pieces.shift()
      if (piece === undefined) controller.close()
      else if (piece instanceof Error) controller.error(piece)
      else controller.enqueue(Buffer.from(piece))
    },
  })

const received = (body: ReadableStream<Uint8Array> | null, limits = patient) => {
  const attempt = startAttempt(limits, new AbortController().signal)
  return { attempt, chunks: receivedChunks(body, attempt, "http://localhost") }
}

describe("the pieces of a body", () => {
  test("come in order, and their end is that of the attempt", async () => {
    const { attempt, chunks } = received(streamOf("a", "b"))
    expect((await listOf(chunks)).map(String)).toEqual([String(Buffer.from("a")), String(Buffer.from("b"))])
    expect(attempt.signal.aborted).toBeTrue()
    expect(await listOf(chunks)).toEqual([])
  })

  test("are none where there is no body", async () => {
    const { attempt, chunks } = received(null)
    expect(attempt.signal.aborted).toBeTrue()
    expect(await listOf(chunks)).toEqual([])
  })

  test("break off with a fault that says so", async () => {
    const { attempt, chunks } = received(streamOf("a", Object.assign(new Error("x"), { code: "ECONNRESET" })))
    const reading = chunks[Symbol.asyncIterator]()
    await reading.next()
    const failure = await faultOf(reading.next())
    expect(failure).toMatchObject({ kind: "unavailable" })
    expect(failure.message).toContain("broke off")
    expect(attempt.signal.aborted).toBeTrue()
    expect((await reading.next()).done).toBeTrue()
  })

  test("end once they were returned, even before the first", async () => {
    const { attempt, chunks } = received(streamOf("a", "b"))
    const reading = chunks[Symbol.asyncIterator]()
    expect(await reading.return?.()).toEqual({ done: true, value: undefined })
    expect(attempt.signal.aborted).toBeTrue()
    expect((await reading.next()).done).toBeTrue()
  })

  test("that never come do not hold the reader", async () => {
    const { chunks } = received(new ReadableStream(), { ...patient, wholeMs: 20 })
    expect((await faultOf(listOf(chunks))).kind).toBe("timeout")
  })
})
