import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import { once } from "node:events"
import { createServer, type IncomingMessage, type Server } from "node:http"
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from "node:net"
import { connectionRulesFor } from "../../../src/app/wiring/sandbox.ts"
import { systemClock } from "../../../src/base/clock.ts"
import { type ProxyLimits, proxyLimits } from "../../../src/sandbox/proxy/contract.ts"
import { type CommandProxy, createProxy } from "../../../src/sandbox/proxy/proxy.ts"
import { eventually } from "../../support/eventually.ts"
import { missingProgram, testWhere } from "../../support/requirement.ts"
import { listeningSocket } from "./listening-socket.ts"

/** What each server was asked for; the second one is never to be asked. */
let seen: { allowed: string[]; forbidden: string[] }
let servers: Server[]
let port: number
let lookups: string[]
let addresses: Record<string, readonly string[]>
let proxies: CommandProxy[]
let clients: Socket[]

beforeEach(async () => {
  seen = { allowed: [], forbidden: [] }
  lookups = []
  proxies = []
  clients = []
  const allowed = createServer((request, response) => void respond(request, seen.allowed, response))
  allowed.listen(0, "127.0.0.1")
  await once(allowed, "listening")
  port = (allowed.address() as AddressInfo).port // as: it listens on a port and not on a path
  // The same port of another address of this machine: only the address tells the two apart.
  const forbidden = createServer((request, response) => void respond(request, seen.forbidden, response))
  forbidden.listen(port, "127.0.0.2")
  await once(forbidden, "listening")
  servers = [allowed, forbidden]
  addresses = { "allowed.test": ["127.0.0.1"], "forbidden.test": ["127.0.0.2"] }
})
afterEach(async () => {
  for (const client of clients) client.destroy()
  for (const proxy of proxies) await proxy.close()
  for (const server of servers) {
    server.closeAllConnections()
    server.close()
  }
})

async function respond(
  request: IncomingMessage,
  log: string[],
  response: { end(text: string): void },
): Promise<void> {
  let bytes = 0
  for await (const chunk of request) bytes += Buffer.byteLength(chunk)
  log.push(`${request.method} ${request.headers.host}${request.url} ${bytes}`)
  response.end("hello")
}

function start(
  hosts: readonly string[] = [`allowed.test:${port}`, `127.0.0.1:${port}`],
  limits: Partial<ProxyLimits> = {},
) {
  const proxy = createProxy({
    rules: connectionRulesFor(hosts, null),
    resolveHost: async name => {
      lookups.push(name)
      const found = addresses[name]
      if (found === undefined) throw new Error("no such name")
      return found
    },
    clock: systemClock,
    limits: { ...proxyLimits, ...limits },
  })
  proxies.push(proxy)
  const socket = listeningSocket()
  proxy.serve(socket.fd, "requested")
  return { proxy, at: socket.port }
}

/** Sends a text, and returns all that comes back until the end. */
async function exchange(at: number, text: string): Promise<string> {
  const client = connect({ port: at, host: "127.0.0.1" })
  clients.push(client)
  client.write(text)
  let answer = ""
  client.on("data", chunk => {
    answer += chunk.toString("latin1")
  })
  client.on("error", () => undefined)
  await once(client, "close")
  return answer
}

const get = (target: string, ...headers: readonly string[]) =>
  [`GET ${target} HTTP/1.1`, ...headers, "", ""].join("\r\n")
const tunnelTo = (target: string, host = target) =>
  [`CONNECT ${target} HTTP/1.1`, `Host: ${host}`, "", ""].join("\r\n")
const inner = (path: string) => get(path, "Host: allowed.test", "Connection: close")

describe("the proxy", () => {
  test("passes requests and tunnels to an allowed host, and says so with the bytes", async () => {
    const { proxy, at } = start()
    const forwarded = await exchange(at, get(`http://allowed.test:${port}/one`))
    const tunnelled = await exchange(at, tunnelTo(`allowed.test:${port}`) + inner("/two"))
    expect(forwarded).toEndWith("hello")
    expect(tunnelled).toStartWith("HTTP/1.1 200 Connection established\r\n\r\nHTTP/1.1 200 OK")
    expect(tunnelled).toEndWith("hello")
    expect(seen.allowed).toEqual([`GET allowed.test:${port}/one 0`, "GET allowed.test/two 0"])
    const { listed, more } = await proxy.close()
    expect(more).toBeNull()
    expect(listed).toMatchObject([
      {
        host: "allowed.test",
        port,
        decision: "allowed",
        reason: null,
        address: "127.0.0.1",
        count: 1,
        receivedBytes: forwarded.length,
      },
      {
        host: "allowed.test",
        port,
        decision: "allowed",
        reason: null,
        address: "127.0.0.1",
        count: 1,
        sentBytes: inner("/two").length,
        receivedBytes: tunnelled.length - "HTTP/1.1 200 Connection established\r\n\r\n".length,
      },
    ])
  })

  test("refuses everything else, without asking for its address", async () => {
    const { proxy, at } = start()
    const requests = [
      tunnelTo("169.254.169.254:80"),
      tunnelTo("[fd00:ec2::254]:80"),
      tunnelTo("metadata.google.internal:80"),
      tunnelTo(`forbidden.test:${port}`, `allowed.test:${port}`),
      tunnelTo(`127.0.0.2:${port}`),
      tunnelTo(`[::1]:${port}`),
      tunnelTo(`[::ffff:127.0.0.1]:${port}`),
      tunnelTo("allowed.test:22"),
      tunnelTo(`a.allowed.test:${port}`),
      get(`http://forbidden.test:${port}/`, `Host: allowed.test:${port}`),
      get("http://allowed.test/"),
    ]
    for (const request of requests) expect(await exchange(at, request)).toStartWith("HTTP/1.1 403 ")
    for (const request of [
      get("/", `Host: allowed.test:${port}`),
      "nonsense\r\n\r\n",
      tunnelTo("2130706433:80"),
    ])
      expect(await exchange(at, request)).toStartWith("HTTP/1.1 400 ")
    expect(seen).toEqual({ allowed: [], forbidden: [] })
    expect(lookups).toEqual([])
    const { listed } = await proxy.close()
    expect(listed.map(({ decision }) => decision)).toEqual(listed.map(() => "refused"))
    expect(listed.map(({ host, port: to }) => `${host}:${to}`)).toContain("169.254.169.254:80")
  })

  test("says which host a request of another name in its header is for", async () => {
    const { at } = start()
    await exchange(at, get(`http://allowed.test:${port}/x`, "Host: forbidden.test"))
    expect(seen).toEqual({ allowed: [`GET allowed.test:${port}/x 0`], forbidden: [] })
  })

  test("answers one request on each connection: the next one may be for another host", async () => {
    const { at } = start()
    const two = get(`http://allowed.test:${port}/first`) + get(`http://forbidden.test:${port}/second`)
    expect(await exchange(at, two)).toContain("hello")
    expect(seen.forbidden).toEqual([])
    expect(seen.allowed[0]).toBe(`GET allowed.test:${port}/first 0`)
    expect(seen.allowed.filter(line => line.includes("/second"))).toEqual([])
  })

  test("looks a name up once for each connection, and connects to what it checked", async () => {
    const { proxy, at } = start()
    let calls = 0
    addresses = new Proxy(addresses, {
      // As a name server that changes its mind between the check and the use.
      get: () => (calls++ % 2 === 0 ? ["127.0.0.1"] : ["127.0.0.2"]),
    })
    const answers: string[] = []
    for (let round = 0; round < 6; round++)
      answers.push((await exchange(at, get(`http://allowed.test:${port}/${round}`))).split(" ")[1] ?? "")
    expect(answers).toEqual(["200", "403", "200", "403", "200", "403"])
    expect(calls).toBe(6)
    expect(seen.forbidden).toEqual([])
    const { listed } = await proxy.close()
    expect(listed.map(({ address }) => address)).toEqual(["127.0.0.1", null, "127.0.0.1", "127.0.0.1"])
    expect(listed[1]?.reason).toContain("it stands for 127.0.0.2, which is of this machine")
  })

  test("connects to no name of which a single address leads elsewhere", async () => {
    const { at } = start()
    for (const places of [
      ["127.0.0.1", "127.0.0.2"],
      ["127.0.0.2", "127.0.0.1"],
      ["127.0.0.1", "10.0.0.1"],
    ]) {
      addresses = { "allowed.test": places }
      expect(await exchange(at, get(`http://allowed.test:${port}/`))).toStartWith("HTTP/1.1 403 ")
    }
    expect(seen).toEqual({ allowed: [], forbidden: [] })
  })

  test("says what failed of an allowed host", async () => {
    const { proxy, at } = start([`allowed.test:${port}`, "nowhere.test", "localhost:1025"])
    expect(await exchange(at, tunnelTo("nowhere.test:443"))).toContain(
      "the name cannot be resolved: no such name",
    )
    expect(await exchange(at, tunnelTo("localhost:1025"))).toStartWith("HTTP/1.1 502 ")
    const { listed } = await proxy.close()
    expect(listed.map(({ decision }) => decision)).toEqual(["failed", "failed"])
  })

  testWhere(missingProgram("curl"))("serves 200 clients at once", async () => {
    const { proxy, at } = start()
    const numbers = Array.from({ length: 200 }, (_, index) => index)
    const bodies = await Promise.all(
      numbers.map(index => exchange(at, get(`http://allowed.test:${port}/${index}`))),
    )
    expect(bodies.filter(body => body.endsWith("hello"))).toHaveLength(200)
    expect(new Set(seen.allowed).size).toBe(200)
    const curl = Bun.spawn([
      "curl",
      "-sSp",
      "-x",
      `http://127.0.0.1:${at}`,
      `http://allowed.test:${port}/curl`,
    ])
    expect(await curl.stdout.text()).toBe("hello")
    expect((await proxy.close()).listed).toHaveLength(200)
  })
})

describe("a hostile client of the proxy", () => {
  test("gets no more connections than there may be, and others get theirs again afterwards", async () => {
    const { at } = start(undefined, { connectionsMax: 3 })
    const held = await Promise.all(
      [1, 2, 3].map(async () => {
        const client = connect({ port: at, host: "127.0.0.1" })
        clients.push(client)
        await once(client, "connect")
        return client
      }),
    )
    const request = get(`http://allowed.test:${port}/x`)
    await eventually("it is full", async () => (await exchange(at, request)) === "")
    for (const client of held) client.destroy()
    await eventually("there is room again", async () => (await exchange(at, request)).endsWith("hello"))
  })

  test("is not waited for when it sends its request slowly, or too much of it", async () => {
    const { at } = start(undefined, { headMs: 100 })
    expect(await exchange(at, "GET http://allowed.test/ HTTP/1.1\r\nA: b")).toStartWith("HTTP/1.1 408 ")
    const { at: bounded } = start()
    const huge = get(`http://allowed.test:${port}/`, `A: ${"a".repeat(1024 * 1024)}`)
    expect(await exchange(bounded, huge)).toStartWith("HTTP/1.1 431 ")
    expect(seen.allowed).toEqual([])
  })

  test("is let go when its connection carries nothing", async () => {
    const { proxy, at } = start(undefined, { idleMs: 100 })
    expect(await exchange(at, tunnelTo(`allowed.test:${port}`))).toStartWith("HTTP/1.1 200 ")
    expect((await proxy.close()).listed).toMatchObject([{ reason: "nothing was sent for 0.1 s" }])
  })

  test("cannot fill the memory of acode by not reading", async () => {
    const chunk = Buffer.alloc(1024 * 1024)
    let pushed = 0
    const flood = createTcpServer(socket => {
      const push = () => {
        while (pushed < 256 * chunk.length && socket.write(chunk)) pushed += chunk.length
      }
      socket.on("error", () => undefined)
      socket.on("drain", push)
      push()
    })
    flood.listen(0, "127.0.0.1")
    await once(flood, "listening")
    const { port: floodPort } = flood.address() as AddressInfo // as: it listens on a port and not on a path
    const { proxy, at } = start([`localhost:${floodPort}`])
    const client = connect({ port: at, host: "127.0.0.1" })
    clients.push(client)
    client.write(tunnelTo(`localhost:${floodPort}`))
    await once(client, "readable")
    let before = -1
    await eventually("nothing flows any more", () => {
      const isStill = pushed === before
      before = pushed
      return isStill
    })
    const { listed } = await proxy.close()
    flood.close()
    expect(listed[0]?.receivedBytes).toBeGreaterThan(0)
    expect(listed[0]?.receivedBytes).toBeLessThan(64 * chunk.length)
  })

  test("cannot fill the record: refusals that are alike are one entry, and the list has an end", async () => {
    const { proxy, at } = start(undefined, { listedMax: 5 })
    for (let round = 0; round < 4; round++) await exchange(at, tunnelTo("same.test:443"))
    for (let round = 0; round < 8; round++) await exchange(at, tunnelTo(`other${round}.test:443`))
    await exchange(at, get(`http://allowed.test:${port}/x`))
    const { listed, more } = await proxy.close()
    expect(listed).toHaveLength(5)
    expect(listed[0]).toMatchObject({ host: "same.test", count: 4 })
    expect(more).toMatchObject({ count: 5, refused: 4 })
    expect(more?.receivedBytes).toBeGreaterThan(0)
  })
})

describe("the end of the proxy", () => {
  test("ends what is still open, and the server sees it", async () => {
    const ended: string[] = []
    const silent = createTcpServer(socket => {
      socket.on("error", () => undefined)
      socket.on("close", () => ended.push("closed"))
      socket.resume()
    })
    silent.listen(0, "127.0.0.1")
    await once(silent, "listening")
    const { port: silentPort } = silent.address() as AddressInfo // as: it listens on a port and not on a path
    const { proxy, at } = start([`localhost:${silentPort}`])
    const client = connect({ port: at, host: "127.0.0.1" })
    clients.push(client)
    client.on("error", () => undefined)
    client.write(`${tunnelTo(`localhost:${silentPort}`)}some bytes`)
    await once(client, "data")
    const closed = once(client, "close")
    const { listed } = await proxy.close()
    expect(listed).toMatchObject([{ decision: "allowed", sentBytes: "some bytes".length }])
    await closed
    await eventually("the server sees the end", () => ended.length === 1)
    silent.close()
    await expect(exchange(at, get("http://allowed.test/"))).rejects.toThrow()
  })

  test("does not wait for a client that asks for nothing", async () => {
    const { proxy, at } = start(undefined, { headMs: 3_600_000 })
    const client = connect({ port: at, host: "127.0.0.1" })
    clients.push(client)
    client.on("error", () => undefined)
    client.write("GET http://allowed.test/")
    // The proxy has this client once it has served the one behind it.
    expect(await exchange(at, get(`http://allowed.test:${port}/x`))).toEndWith("hello")
    const closed = once(client, "close")
    expect((await proxy.close()).listed).toHaveLength(2)
    await closed
  }, 10_000)

  test("does not wait for a name server that does not answer", async () => {
    const { proxy, at } = start(["slow.test"])
    addresses = new Proxy(addresses, { get: () => new Promise(() => undefined) })
    const client = connect({ port: at, host: "127.0.0.1" })
    clients.push(client)
    client.write(tunnelTo("slow.test:443"))
    await eventually("it is asked", () => lookups.length === 1)
    expect((await proxy.close()).listed).toMatchObject([{ host: "slow.test", decision: "failed" }])
  })
})
