import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { missingProgram, testWhere } from "../../support/requirement.ts"
import { localOnly, rawServer, sendFromProgram } from "./transport-kit.ts"

const ok = "HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nhere"

function proxiedBy(port: number): Record<string, string> {
  const names = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"]
  return {
    ...Object.fromEntries(names.map(name => [name, `http://127.0.0.1:${port}`])),
    NO_PROXY: "",
    no_proxy: "",
  }
}

describe("proxies of the environment", () => {
  test("see nothing of a request", async () => {
    using proxy = await rawServer(socket => socket.end("HTTP/1.1 502 Bad\r\ncontent-length: 0\r\n\r\n"))
    using server = await rawServer(socket => socket.end(ok))
    for (const host of ["127.0.0.1", "localhost"]) {
      const sent = { endpoint: `http://${host}:${server.port}`, egress: localOnly }
      const { told } = await sendFromProgram(sent, { environment: proxiedBy(proxy.port) })
      expect(told).toEqual({ text: "here" })
    }
    expect(proxy.connections()).toBe(0)
    expect(server.requests).toHaveLength(2)
  })

  test("see nothing of one to elsewhere, of https or over a socket", async () => {
    using proxy = await rawServer(socket => socket.end("HTTP/1.1 502 Bad\r\ncontent-length: 0\r\n\r\n"))
    const environment = proxiedBy(proxy.port)
    for (const endpoint of ["http://model.invalid", "https://model.invalid", "unix:/nowhere/model.sock"]) {
      const egress = { mode: "burst", configured: null, consented: endpoint } as const
      const { told } = await sendFromProgram({ endpoint, egress }, { environment })
      expect(told).toMatchObject({ kind: "unavailable" })
    }
    expect(proxy.connections()).toBe(0)
  })

  test("would see a request that does not say that it wants none", async () => {
    using proxy = await rawServer(socket => socket.end(ok))
    const program = `await fetch("http://127.0.0.1:1/")`
    const child = Bun.spawn([process.execPath, "-e", program], { env: proxiedBy(proxy.port) })
    await child.exited
    expect(proxy.requests).toHaveLength(1)
  })
})

test("a variable that makes Bun print requests prints none, for they hold keys", async () => {
  using server = await rawServer(socket => socket.end(ok))
  const sent = { endpoint: `http://127.0.0.1:${server.port}`, egress: localOnly }
  for (const how of ["1", "curl"]) {
    const { stdout, stderr } = await sendFromProgram(sent, { environment: { BUN_CONFIG_VERBOSE_FETCH: how } })
    expect(stdout + stderr).not.toContain("s3cret")
    expect(stdout).toBe('{"text":"here"}\n')
  }
})

describe("certificates", () => {
  const tlsTest = testWhere(missingProgram("openssl"))
  let directory = ""
  const certificate = () => join(directory, "certificate.pem")
  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), "acode-certificate-"))
    if (missingProgram("openssl") !== null) return
    const key = ["-newkey", "rsa:2048", "-nodes", "-keyout", join(directory, "key.pem")]
    const names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
    const made = Bun.spawnSync([
      "openssl",
      "req",
      "-x509",
      ...key,
      ...names,
      "-days",
      "2",
      "-out",
      certificate(),
    ])
    if (!made.success) throw new Error(made.stderr.toString())
  })
  afterAll(() => rmSync(directory, { recursive: true }))

  const secureServer = () => {
    const requests: string[] = []
    const server = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      tls: { key: readFileSync(join(directory, "key.pem")), cert: readFileSync(certificate()) },
      fetch: ({ headers }) => {
        requests.push(headers.get("host") ?? "")
        return new Response("here")
      },
    })
    return { port: server.port, requests, [Symbol.dispose]: () => void server.stop(true) }
  }

  tlsTest("are checked, even where the environment says not to", async () => {
    using server = secureServer()
    const sent = { endpoint: `https://localhost:${server.port}`, egress: localOnly }
    for (const environment of [{}, { NODE_TLS_REJECT_UNAUTHORIZED: "0" }]) {
      const { told } = await sendFromProgram(sent, { environment })
      expect(told).toMatchObject({ kind: "unavailable" })
      expect(JSON.stringify(told)).toContain("no secure connection")
    }
    expect(server.requests).toEqual([])
  })

  tlsTest("of an authority that a person added are good, for the name they are made for", async () => {
    using server = secureServer()
    const environment = { NODE_EXTRA_CA_CERTS: certificate() }
    const named = { endpoint: `https://localhost:${server.port}`, egress: localOnly }
    expect((await sendFromProgram(named, { environment })).told).toEqual({ text: "here" })
    expect(server.requests).toEqual([`localhost:${server.port}`])
    const addressed = { endpoint: `https://127.0.0.1:${server.port}`, egress: localOnly }
    expect((await sendFromProgram(addressed, { environment })).told).toMatchObject({ kind: "unavailable" })
  })

  test("a server without TLS is reported as such", async () => {
    using server = await rawServer(socket => socket.end(ok))
    const sent = { endpoint: `https://127.0.0.1:${server.port}`, egress: localOnly }
    expect(JSON.stringify((await sendFromProgram(sent)).told)).toContain("no secure connection")
  })
})
