import { describe, expect, test } from "bun:test"
import { startPump } from "../../src/exec/outputs.ts"
import { eventually } from "../support/eventually.ts"

/** A stream a test feeds by hand, that says when its reader has given up. */
function feed() {
  let controller: ReadableStreamDefaultController<Uint8Array> | null = null
  let isCancelled = false
  const stream = new ReadableStream<Uint8Array>({
    start: given => {
      controller = given
    },
    cancel: () => {
      isCancelled = true
    },
  })
  return {
    stream,
    push: (text: string) => controller?.enqueue(Buffer.from(text)),
    end: () => controller?.close(),
    fail: (error: Error) => controller?.error(error),
    isCancelled: () => isCancelled,
  }
}

function collector() {
  const chunks: string[] = []
  return { chunks, keep: (chunk: Uint8Array) => void chunks.push(Buffer.from(chunk).toString()) }
}

describe("a stream that ends", () => {
  test("is kept whole and passed on in order", async () => {
    const source = feed()
    const kept = collector()
    const passed = collector()
    const pump = startPump(source.stream, { keep: kept.keep, pass: passed.keep })
    for (const text of ["a", "b", "c"]) source.push(text)
    source.end()
    await pump.finish()
    expect(kept.chunks).toEqual(["a", "b", "c"])
    expect(passed.chunks).toEqual(["a", "b", "c"])
  })

  test("that fails tells whoever waits for it, and nobody else", async () => {
    const source = feed()
    const pump = startPump(source.stream, { keep: () => undefined, pass: null })
    source.fail(new Error("broken pipe"))
    // One turn of the event loop, in which an unhandled rejection would be reported.
    await Bun.sleep(0)
    expect(pump.finish()).rejects.toThrow("broken pipe")
  })
})

describe("a receiver", () => {
  test("that returns a promise holds the stream back", async () => {
    const source = feed()
    const { chunks, keep } = collector()
    const gate = Promise.withResolvers<void>()
    const pump = startPump(source.stream, { keep, pass: () => gate.promise })
    for (const text of ["a", "b"]) source.push(text)
    source.end()
    await eventually("the first chunk", () => chunks.length === 1)
    // Time for the second one to come, which it must not.
    await Bun.sleep(5)
    expect(chunks).toEqual(["a"])
    gate.resolve()
    await pump.finish()
    expect(chunks).toEqual(["a", "b"])
  })

  test("that is let go gets nothing more, and the rest is still kept", async () => {
    const source = feed()
    const { chunks, keep } = collector()
    let calls = 0
    const never = () => {
      calls += 1
      return new Promise<void>(() => undefined)
    }
    const pump = startPump(source.stream, { keep, pass: never })
    for (const text of ["a", "b", "c"]) source.push(text)
    source.end()
    await eventually("the first chunk", () => calls === 1)
    pump.release()
    await pump.finish()
    expect({ calls, chunks }).toEqual({ calls: 1, chunks: ["a", "b", "c"] })
  })

  for (const [how, fail] of [
    [
      "throws",
      () => {
        throw new Error("no")
      },
    ],
    ["rejects", () => Promise.reject(new Error("no"))],
  ] as const)
    test(`that ${how} is not asked again, and the rest is still kept`, async () => {
      const source = feed()
      const { chunks, keep } = collector()
      let calls = 0
      const pass = () => {
        calls += 1
        return fail()
      }
      const pump = startPump(source.stream, { keep, pass })
      for (const text of ["a", "b", "c"]) source.push(text)
      source.end()
      await pump.finish()
      expect({ calls, chunks }).toEqual({ calls: 1, chunks: ["a", "b", "c"] })
    })
})

describe("a stream that somebody else keeps open", () => {
  test("is given up when it stays quiet", async () => {
    const source = feed()
    const { chunks, keep } = collector()
    const pump = startPump(source.stream, { keep, pass: null })
    source.push("a")
    await pump.finish()
    expect({ chunks, isCancelled: source.isCancelled() }).toEqual({ chunks: ["a"], isCancelled: true })
  })

  test("is given up in the end although it never stays quiet", async () => {
    const source = feed()
    const pump = startPump(source.stream, { keep: () => undefined, pass: null })
    const timer = setInterval(() => source.isCancelled() || source.push("y"), 5)
    await pump.finish()
    clearInterval(timer)
    expect(source.isCancelled()).toBe(true)
  })

  test("is not given up while a slow receiver holds it", async () => {
    const source = feed()
    const { chunks, keep } = collector()
    const gate = Promise.withResolvers<void>()
    const pump = startPump(source.stream, { keep, pass: () => gate.promise })
    source.push("a")
    const finished = pump.finish()
    // Longer than it would take to give up.
    await Bun.sleep(350)
    expect(source.isCancelled()).toBe(false)
    source.push("b")
    source.end()
    gate.resolve()
    await finished
    expect(chunks).toEqual(["a", "b"])
  })

  test("can be given up at once, and twice", async () => {
    const source = feed()
    const pump = startPump(source.stream, { keep: () => undefined, pass: null })
    pump.cancel()
    pump.cancel()
    await pump.finish()
    expect(source.isCancelled()).toBe(true)
  })
})
