import { describe, expect, test } from "bun:test"
import { getEventListeners } from "node:events"
import type { Socket } from "node:net"
import { eventually } from "../../support/eventually.ts"
import { answerOf, failureOfReply, faultOf, rawServer, type Sent, sendTo, textOf } from "./transport-kit.ts"

const head = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"
const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`
const silent = () => undefined

/** Says something again and again until it is hung up on. */
function trickling(socket: Socket): void {
  socket.write(head)
  const timer = setInterval(() => socket.write(chunk(".")), 10)
  socket.on("close", () => clearInterval(timer))
}

type Case = readonly [
  what: string,
  answer: (socket: Socket) => void,
  limits: NonNullable<Sent["limits"]>,
  told: string,
]
const slowServers: readonly Case[] = [
  ["nothing", silent, { firstByteMs: 40 }, "did not begin to answer within 0.04 s"],
  ["headers only", socket => void socket.write(head), { firstByteMs: 40 }, "did not begin to answer"],
  ["half a header", socket => void socket.write(head.slice(0, 20)), { firstByteMs: 40 }, "did not begin"],
  ["one word", socket => void socket.write(head + chunk("a")), { betweenMs: 40 }, "in the middle of"],
  ["and never stops", trickling, { wholeMs: 150 }, "did not finish its answer within 0.15 s"],
  ["nothing, in all", silent, { wholeMs: 40 }, "did not finish its answer within 0.04 s"],
]

describe("a limit that is passed is reported by its name", () => {
  test.each(slowServers)("a server that says %s", async (_what, answer, limits, told) => {
    using server = await rawServer(answer)
    const failure = await failureOfReply(sendTo(`http://127.0.0.1:${server.port}`, { limits }))
    expect(failure).toMatchObject({ kind: "timeout", retryable: true, retryAfterMs: null })
    expect(failure.message).toContain(told)
    await eventually("the server is hung up on", () => server.open() === 0)
  })

  test("a pause between two pieces is measured anew for each", async () => {
    using server = await rawServer(socket => {
      socket.write(head)
      let left = 12
      const timer = setInterval(() => {
        left--
        socket.write(left > 0 ? chunk(".") : `${chunk(".")}0\r\n\r\n`)
        if (left === 0) clearInterval(timer)
      }, 50)
    })
    const limits = { firstByteMs: 20_000, betweenMs: 500 }
    const reply = await answerOf(sendTo(`http://127.0.0.1:${server.port}`, { limits }))
    expect(await textOf(reply.chunks)).toBe(".".repeat(12))
  })

  test("the time a reader takes for itself is not the server's", async () => {
    using server = await rawServer(socket => socket.write(head + chunk("a")))
    const reply = await answerOf(sendTo(`http://127.0.0.1:${server.port}`, { limits: { betweenMs: 60 } }))
    const reading = reply.chunks[Symbol.asyncIterator]()
    await reading.next()
    await Bun.sleep(200) // longer than the limit, which must not run now
    expect(server.open()).toBe(1)
    expect((await faultOf(reading.next())).message).toContain("in the middle of its answer")
  })

  test("a limit of years is not a limit of a millisecond", async () => {
    using server = await rawServer(socket => socket.end("HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\nx"))
    const forever = 1e12
    const limits = { connectMs: forever, firstByteMs: forever, betweenMs: forever, wholeMs: forever }
    expect(await textOf((await answerOf(sendTo(`http://127.0.0.1:${server.port}`, { limits }))).chunks)).toBe(
      "x",
    )
  })
})

describe("a caller who gives up", () => {
  test("before the request sends nothing", async () => {
    using server = await rawServer(silent)
    const failure = await failureOfReply(
      sendTo(`http://127.0.0.1:${server.port}`, { signal: AbortSignal.abort("enough") }),
    )
    expect(failure).toMatchObject({ kind: "aborted", retryable: false })
    expect(server.connections()).toBe(0)
  })

  test("while the server thinks is answered at once", async () => {
    using server = await rawServer(silent)
    const caller = new AbortController()
    const failure = failureOfReply(sendTo(`http://127.0.0.1:${server.port}`, { signal: caller.signal }))
    await eventually("the request arrived", () => server.requests.length === 1)
    caller.abort()
    expect((await failure).kind).toBe("aborted")
    await eventually("the server is hung up on", () => server.open() === 0)
  })

  test("in the middle of a reply is not held by a server that continues talking", async () => {
    using server = await rawServer(trickling)
    const caller = new AbortController()
    const reply = await answerOf(sendTo(`http://127.0.0.1:${server.port}`, { signal: caller.signal }))
    const reading = reply.chunks[Symbol.asyncIterator]()
    expect((await reading.next()).done).toBeFalse()
    caller.abort()
    expect((await faultOf(reading.next())).kind).toBe("aborted")
    expect((await reading.next()).done).toBeTrue()
    await eventually("the server is hung up on", () => server.open() === 0)
  })

  test("after a limit was passed does not make it his doing, nor the other way round", async () => {
    using server = await rawServer(silent)
    const endpoint = `http://127.0.0.1:${server.port}`
    const late = new AbortController()
    const slow = await failureOfReply(sendTo(endpoint, { signal: late.signal, limits: { firstByteMs: 30 } }))
    late.abort()
    expect(slow.kind).toBe("timeout")
    const early = new AbortController()
    const given = sendTo(endpoint, { signal: early.signal, limits: { firstByteMs: 5000, wholeMs: 5000 } })
    early.abort()
    expect((await failureOfReply(given)).kind).toBe("aborted")
  })

  test("by the signal of a timer of his own is still one who gave up", async () => {
    using server = await rawServer(silent)
    const signal = AbortSignal.timeout(30)
    expect((await failureOfReply(sendTo(`http://127.0.0.1:${server.port}`, { signal }))).kind).toBe("aborted")
  })
})

describe("nothing stays behind", () => {
  const answers: readonly (readonly [string, (socket: Socket) => void])[] = [
    ["an answer", socket => void socket.end(`${head}${chunk("abc")}0\r\n\r\n`)],
    ["no body", socket => void socket.end("HTTP/1.1 204 No Content\r\n\r\n")],
    ["a broken answer", socket => void socket.end(head + chunk("abc"))],
    ["a redirect", socket => void socket.end("HTTP/1.1 302 Go\r\nlocation: /x\r\ncontent-length: 0\r\n\r\n")],
    ["silence", silent],
  ]

  test.each(answers)("after %s the caller's signal has no listener", async (_what, answer) => {
    using server = await rawServer(answer)
    const { signal } = new AbortController()
    for (let count = 0; count < 5; count++) {
      const reply = await sendTo(`http://127.0.0.1:${server.port}`, { signal, limits: { firstByteMs: 100 } })
      if (reply.kind === "answered") await textOf(reply.chunks).catch(() => undefined)
    }
    expect(getEventListeners(signal, "abort")).toHaveLength(0)
    await eventually("all connections are closed", () => server.open() === 0)
  })

  test("when a reader stops early, even before it began", async () => {
    using server = await rawServer(trickling)
    const { signal } = new AbortController()
    const send = () => answerOf(sendTo(`http://127.0.0.1:${server.port}`, { signal }))
    for await (const piece of (await send()).chunks) if (piece.length > 0) break
    await (await send()).chunks[Symbol.asyncIterator]().return?.()
    expect(getEventListeners(signal, "abort")).toHaveLength(0)
    await eventually("both connections are closed", () => server.open() === 0)
  })
})
