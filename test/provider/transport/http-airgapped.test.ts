import { describe, expect, test } from "bun:test"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Egress } from "../../../src/provider/transport/contract.ts"
import { testWhere } from "../../support/requirement.ts"
import { failureOfReply, rawServer, sendFromProgram, sendTo } from "./transport-kit.ts"

const ok = "HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nhere"
const airgapped = (configured: string): Egress => ({ mode: "airgapped", configured, consented: null })

describe("an airgapped session", () => {
  test("talks to the one endpoint that is configured and to no other on the same machine", async () => {
    using configured = await rawServer(socket => socket.end(ok))
    using other = await rawServer(socket => socket.end(ok))
    const egress = airgapped(`http://127.0.0.1:${configured.port}`)
    expect((await sendTo(`http://127.0.0.1:${configured.port}`, {}, egress)).kind).toBe("answered")
    const failure = await failureOfReply(sendTo(`http://127.0.0.1:${other.port}`, {}, egress))
    expect(failure).toMatchObject({ kind: "refused", retryable: false })
    expect(other.connections()).toBe(0)
  })

  test("is refused anything else before it could even begin to connect", async () => {
    const egress = airgapped("http://127.0.0.1:11434")
    for (const endpoint of ["https://api.example.com", "http://127.0.0.1:11435", "unix:/run/model.sock"]) {
      let reply: unknown = null
      void sendTo(endpoint, {}, egress).then(settled => {
        reply = settled
      })
      // Promises that wait for nothing are settled by now; the event loop has not turned, so nothing came or went.
      for (let turn = 0; turn < 20; turn++) await null
      expect(reply).toMatchObject({ kind: "failed", failure: { kind: "refused" } })
    }
  })
})

describe("the calls of a process to the system", () => {
  const tracedTest = testWhere(untraceable())

  tracedTest("are a connection to the configured endpoint and nothing else", async () => {
    using server = await rawServer(socket => socket.end(ok))
    for (const host of ["localhost", "127.0.0.1"]) {
      const endpoint = `http://${host}:${server.port}`
      const { told, calls } = await traced({ endpoint, egress: airgapped(endpoint) })
      expect(told).toEqual({ text: "here" })
      expect(calls.length).toBeGreaterThan(0)
      for (const call of calls)
        expect(call).toContain(`sin_port=htons(${server.port}), sin_addr=inet_addr("127.0.0.1")`)
    }
  })

  tracedTest(
    "are none at all when the endpoint is forbidden: no connection and no question for a name",
    async () => {
      for (const endpoint of ["https://model.invalid", "http://127.0.0.1:1", "http://192.0.2.1"]) {
        const { told, calls } = await traced({ endpoint, egress: airgapped("http://127.0.0.1:11434") })
        expect(told).toMatchObject({ kind: "refused" })
        expect(calls).toEqual([])
      }
    },
  )

  tracedTest("would show the question for a name", async () => {
    const endpoint = "http://model.invalid"
    const { calls } = await traced({
      endpoint,
      egress: { mode: "burst", configured: null, consented: endpoint },
    })
    expect(calls.length).toBeGreaterThan(0)
  })
})

/** Null where the calls of a process can be watched. */
function untraceable(): string | null {
  if (Bun.which("strace") === null) return "strace is not installed"
  return Bun.spawnSync(["strace", "-f", "-qq", "-o", "/dev/null", "true"]).success
    ? null
    : "strace may not trace"
}

/** Where the process connects to or sends to. What is sent on a connection names no place. */
async function traced(sent: { readonly endpoint: string; readonly egress: Egress }) {
  const directory = mkdtempSync(join(tmpdir(), "acode-trace-"))
  try {
    const log = join(directory, "calls")
    const watched = "trace=connect,sendto,sendmsg,sendmmsg"
    const before = ["strace", "-f", "-qq", "-s", "64", "-e", "signal=none", "-e", watched, "-o", log]
    const { told } = await sendFromProgram(sent, { before })
    const calls = readFileSync(log, "utf8")
      .split("\n")
      .filter(line => /\b(connect|sendto|sendmsg|sendmmsg)\(/.test(line))
      .filter(line => !/NULL, 0\)|msg_namelen=0/.test(line))
    return { told, calls }
  } finally {
    rmSync(directory, { recursive: true })
  }
}
