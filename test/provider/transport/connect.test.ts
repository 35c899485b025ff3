import { describe, expect, test } from "bun:test"
import { getEventListeners } from "node:events"
import { errnoOf } from "../../../src/base/assert.ts"
import { connect, startAttempt } from "../../../src/provider/transport/http.ts"
import { eventually } from "../../support/eventually.ts"
import { missingProgram, testWhere } from "../../support/requirement.ts"
import { endpointOf, failureOfReply, faultOf, patient, rawServer, sendTo } from "./transport-kit.ts"

const silent = () => undefined
const never = new AbortController().signal
const connected = (endpoint: string, signal = never) => connect(endpointOf(endpoint), signal)

/** A port where nobody listens: one that was free a moment ago. */
async function freePort(host = "127.0.0.1"): Promise<number> {
  using server = await rawServer(silent, { host })
  return server.port
}

describe("a connection is tried", () => {
  test("and hung up without a word", async () => {
    using server = await rawServer(silent)
    await connected(`http://127.0.0.1:${server.port}/v1`)
    await eventually("it came and went", () => server.connections() === 1 && server.open() === 0)
    expect(server.requests).toEqual([])
  })

  test("to an IPv6 address without its brackets", async () => {
    using server = await rawServer(silent, { host: "::1" })
    await connected(`http://[::1]:${server.port}`)
    await eventually("it came", () => server.connections() === 1)
  })

  test("and what the system says against it is thrown", async () => {
    const port = await freePort()
    expect(errnoOf(await connected(`http://127.0.0.1:${port}`).catch(error => error))).toBe("ECONNREFUSED")
    expect(errnoOf(await connected("unix:/nowhere/model.sock").catch(error => error))).toBe("ENOENT")
    expect(errnoOf(await connected("http://model.invalid").catch(error => error))).toBe("ENOTFOUND")
  })

  test("not at all once it was called off", async () => {
    using server = await rawServer(silent)
    const thrown = await connected(`http://127.0.0.1:${server.port}`, AbortSignal.abort()).catch(
      error => error,
    )
    expect(thrown.name).toBe("AbortError")
    expect(server.connections()).toBe(0)
  })

  test("without leaving a listener", async () => {
    using server = await rawServer(silent)
    const { signal } = new AbortController()
    await connected(`http://127.0.0.1:${server.port}`, signal)
    await connected(`http://127.0.0.1:${await freePort()}`, signal).catch(() => undefined)
    expect(getEventListeners(signal, "abort")).toHaveLength(0)
  })
})

describe("a server that takes no more connections", () => {
  // Only a queue of length zero is full at once, and the runtime cannot ask for one.
  const fullTest = testWhere(missingProgram("python3"))
  const program = `
import socket, sys
listener = socket.socket()
listener.bind(("127.0.0.1", 0))
listener.listen(0)
first = socket.create_connection(listener.getsockname())
print(listener.getsockname()[1], flush=True)
sys.stdin.read()
`
  const fullServer = async () => {
    const child = Bun.spawn(["python3", "-c", program], { stdin: "pipe", stdout: "pipe" })
    const reader = child.stdout.getReader()
    const { value } = await reader.read()
    return { port: Number(new TextDecoder().decode(value)), [Symbol.dispose]: () => child.kill("SIGKILL") }
  }

  fullTest("is given up on after the limit for connecting", async () => {
    using server = await fullServer()
    const attempt = startAttempt({ ...patient, connectMs: 50 }, never)
    attempt.limit("connectMs")
    const endpoint = endpointOf(`http://127.0.0.1:${server.port}`)
    const failure = await faultOf(attempt.within(connect(endpoint, attempt.signal)))
    expect(failure).toMatchObject({ kind: "timeout", retryable: true })
    expect(failure.message).toBe("no connection to the model server within 0.05 s")
  })

  fullTest("on this machine is given up on like one that says nothing, and holds no caller", async () => {
    using server = await fullServer()
    const endpoint = `http://127.0.0.1:${server.port}`
    const silence = await failureOfReply(sendTo(endpoint, { limits: { firstByteMs: 50 } }))
    expect(silence.message).toBe("the model server did not begin to answer within 0.05 s")
    const reply = sendTo(endpoint, { signal: AbortSignal.timeout(50) })
    expect((await failureOfReply(reply)).kind).toBe("aborted")
  })

  fullTest("does not keep a process alive", async () => {
    using server = await fullServer()
    const room = `${import.meta.dir}/../../../src/provider/transport`
    const source = `
      import { connect } from ${JSON.stringify(`${room}/http.ts`)}
      import { openTransport } from ${JSON.stringify(`${room}/http.ts`)}
      const endpoint = { url: "http://127.0.0.1:${server.port}", socket: null, isLocal: true }
      const egress = { mode: "local-only", configured: null, consented: null }
      const request = { method: "GET", path: "/", headers: {}, body: null, limits: ${JSON.stringify(patient)} }
      await connect(endpoint, AbortSignal.timeout(50)).catch(() => undefined)
      await openTransport({ endpoint, egress }).send(request, AbortSignal.timeout(50))
    `
    const child = Bun.spawn([process.execPath, "-e", source])
    await eventually("it ended", () => child.exitCode !== null)
    expect(child.exitCode).toBe(0)
  })
})
