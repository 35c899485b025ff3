import { describe, expect, test } from "bun:test"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { gzipSync } from "node:zlib"
import { openTransport } from "../../../src/provider/transport/http.ts"
import { eventually } from "../../support/eventually.ts"
import { nothingLeaves, unheard } from "../../support/external-calls.ts"
import {
  answerOf,
  endpointOf,
  failureOfReply,
  localOnly,
  rawServer,
  sendTo,
  textOf,
} from "./transport-kit.ts"

const ok = (body: string, headers = "") =>
  `HTTP/1.1 200 OK\r\n${headers}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`

describe("a request", () => {
  test("goes below the endpoint's own path, with its method, headers and body", async () => {
    using server = await rawServer(socket => socket.end(ok("hé")))
    const reply = await answerOf(
      sendTo(`http://127.0.0.1:${server.port}/v1/`, {
        method: "POST",
        path: "/chat?x=1",
        headers: { "content-type": "application/json", "x-key": "k" },
        body: '{"a":"é"}',
      }),
    )
    expect(await textOf(reply.chunks)).toBe("hé")
    const [request = ""] = server.requests
    expect(request).toStartWith("POST /v1/chat?x=1 HTTP/1.1\r\n")
    expect(request).toEndWith('\r\n\r\n{"a":"é"}')
    for (const line of [
      "Content-Type: application/json",
      "x-key: k",
      "User-Agent: acode",
      "Content-Length: 10",
    ])
      expect(request.toLowerCase()).toContain(`\r\n${line.toLowerCase()}\r\n`)
  })

  test("asks for what is not compressed and names the host, whatever the caller says", async () => {
    using server = await rawServer(socket => socket.end(ok("")))
    const headers = { "Accept-Encoding": "gzip", Host: "evil.com" }
    await textOf((await answerOf(sendTo(`http://127.0.0.1:${server.port}`, { headers }))).chunks)
    const request = server.requests[0]?.toLowerCase()
    expect(request).toContain("\r\naccept-encoding: identity\r\n")
    expect(request).toContain(`\r\nhost: 127.0.0.1:${server.port}\r\n`)
    expect(request).not.toMatch(/evil|gzip/)
  })

  test("has a status and headers in its reply, found by lower-case names", async () => {
    using server = await rawServer(socket =>
      socket.end("HTTP/1.1 429 Slow Down\r\nRetry-After: 7\r\ncontent-length: 2\r\n\r\nno"),
    )
    const { status, header, chunks } = await answerOf(sendTo(`http://127.0.0.1:${server.port}`))
    expect([status, header("retry-after"), header("x-none")]).toEqual([429, "7", null])
    expect(await textOf(chunks)).toBe("no")
  })

  test("over a socket needs no network address", async () => {
    const directory = mkdtempSync(join(tmpdir(), "acode-transport-"))
    try {
      const path = join(directory, "model.sock")
      using server = await rawServer(socket => socket.end(ok("here")), { path })
      expect(await textOf((await answerOf(sendTo(`unix:${path}`, { path: "/api" }))).chunks)).toBe("here")
      expect(server.requests[0]).toStartWith("GET /api HTTP/1.1\r\n")
      expect(server.requests[0]).toMatch(/\r\nhost: localhost\r\n/i)
    } finally {
      rmSync(directory, { recursive: true })
    }
  })

  test.each(["127.0.0.1", "::1"])(
    "to localhost reaches a server at %s, and calls it localhost",
    async host => {
      using server = await rawServer(socket => socket.end(ok("here")), { host })
      const reply = await answerOf(sendTo(`http://localhost:${server.port}`))
      expect(await textOf(reply.chunks)).toBe("here")
      expect(server.requests[0]).toMatch(new RegExp(`\\r\\nhost: localhost:${server.port}\\r\\n`, "i"))
    },
  )

  test("is sent once, on a connection of its own that is closed afterwards", async () => {
    using server = await rawServer(socket => socket.write(ok("x")))
    const transport = openTransport({
      endpoint: endpointOf(`http://127.0.0.1:${server.port}`),
      egress: localOnly,
      externalCalls: nothingLeaves,
    })
    for (const path of ["/1", "/2", "/3"]) {
      const limits = { connectMs: 9000, firstByteMs: 9000, betweenMs: 9000, wholeMs: 9000 }
      const request = { method: "GET", path, headers: {}, body: null, limits } as const
      await textOf((await answerOf(transport.send(request, new AbortController().signal))).chunks)
    }
    expect(server.requests.map(request => request.split(" ")[1])).toEqual(["/1", "/2", "/3"])
    await eventually("all connections are closed", () => server.open() === 0)
  })
})

describe("a reply that is not as it was asked for", () => {
  test.each([301, 302, 303, 307, 308, 304])("a redirect (%d) is told and not followed", async status => {
    using target = await rawServer(socket => socket.end(ok("stolen")))
    using server = await rawServer(socket =>
      socket.end(
        `HTTP/1.1 ${status} Go\r\nlocation: http://127.0.0.1:${target.port}/\r\ncontent-length: 0\r\n\r\n`,
      ),
    )
    const failure = await failureOfReply(
      sendTo(`http://127.0.0.1:${server.port}`, { headers: { "x-key": "k" } }),
    )
    expect(failure.message).toContain("not followed")
    expect(failure.retryable).toBeFalse()
    expect(target.connections()).toBe(0)
  })

  test("compressed bytes are not unpacked", async () => {
    const bomb = gzipSync(Buffer.alloc(50_000_000))
    using server = await rawServer(socket => {
      socket.write(`HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: ${bomb.length}\r\n\r\n`)
      socket.end(bomb)
    })
    const failure = await failureOfReply(sendTo(`http://127.0.0.1:${server.port}`))
    expect(failure).toMatchObject({ kind: "malformed" })
    expect(failure.message).toContain("sends a compressed answer (gzip)")
  })

  test("one that never ends is cut at 64 MB, and the server is hung up on", async () => {
    const mega = Buffer.alloc(1024 * 1024, 0x20)
    using server = await rawServer(socket => {
      socket.write("HTTP/1.1 200 OK\r\n\r\n")
      const more = () => {
        while (!socket.destroyed && socket.write(mega));
      }
      socket.on("drain", more)
      more()
    })
    const failure = await failureOfReply(sendTo(`http://127.0.0.1:${server.port}`))
    expect(failure).toMatchObject({ kind: "malformed" })
    expect(failure.message).toContain("longer than 67108864 bytes")
    await eventually("the connection is closed", () => server.open() === 0)
  })

  test.each([
    ["is not HTTP", "SSH-2.0-OpenSSH\r\n\r\n", ["malformed", "unavailable"]],
    ["has endless headers", `HTTP/1.1 200 OK\r\nx: ${"a".repeat(3_000_000)}\r\n\r\n`, ["malformed"]],
    ["ends before its length", "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nabc", ["unavailable"]],
    ["ends in a chunk", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n9\r\nabc", ["unavailable"]],
    [
      "has no last chunk",
      "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n",
      ["unavailable"],
    ],
    ["is nothing", "", ["unavailable"]],
  ])("one that %s fails and may be asked for again", async (_what, bytes, kinds) => {
    using server = await rawServer(socket => socket.end(bytes))
    const failure = await failureOfReply(sendTo(`http://127.0.0.1:${server.port}`))
    expect(kinds).toContain(failure.kind)
    expect(failure.retryable).toBeTrue()
    expect(server.requests).toHaveLength(1)
  })

  test("a reset is one failure and one request, at whichever byte it comes", async () => {
    const whole = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n3\r\ndef\r\n0\r\n\r\n"
    for (let length = 0; length < whole.length; length += 5) {
      using server = await rawServer(socket => {
        socket.write(whole.slice(0, length), () => socket.resetAndDestroy())
      })
      const failure = await failureOfReply(
        sendTo(`http://127.0.0.1:${server.port}`, { method: "POST", body: "x" }),
      )
      expect(failure).toMatchObject({ kind: "unavailable", retryable: true })
      expect(server.requests).toHaveLength(1)
    }
  })
})

describe("a request that cannot be sent", () => {
  test("because of its path or a header fails without a word about the key", async () => {
    using server = await rawServer(socket => socket.end(ok("")))
    const endpoint = `http://127.0.0.1:${server.port}`
    const key = await failureOfReply(sendTo(endpoint, { headers: { authorization: "Bearer s3cret\nx: y" } }))
    expect(key).toMatchObject({ kind: "badRequest", retryable: false })
    expect(key.message).not.toContain("s3cret")
    const path = await failureOfReply(sendTo(endpoint, { path: "@evil.com/" }))
    expect(path).toMatchObject({ kind: "badRequest", retryable: false })
    expect(server.requests).toEqual([])
  })

  test("the endpoint of a transport is named as a person would", () => {
    const name = (endpoint: string) =>
      openTransport({ endpoint: endpointOf(endpoint), egress: localOnly, externalCalls: unheard }).endpoint
    expect(name("http://localhost:11434/v1/")).toBe("http://localhost:11434/v1")
    expect(name("unix:/run/m.sock")).toBe("unix:/run/m.sock")
  })
})
