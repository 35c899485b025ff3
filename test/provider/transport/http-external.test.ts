import { describe, expect, test } from "bun:test"
import type { Egress, ExternalCallLog } from "../../../src/provider/transport/contract.ts"
import { nothingLeaves } from "../../support/external-calls.ts"
import { noAddress, ownAddress } from "../../support/own-address.ts"
import { testWhere } from "../../support/requirement.ts"
import { answerOf, failureOfReply, localOnly, rawServer, sendTo, textOf } from "./transport-kit.ts"

type Told = [
  method: string,
  url: string,
  status: number | null | undefined,
  failure: string | null | undefined,
]

/** Everything a transport tells; undefined is what it has not told yet. */
function hearing(onBegin: () => void = () => undefined): ExternalCallLog & { readonly told: Told[] } {
  const told: Told[] = []
  return {
    told,
    began: (method, url) => {
      onBegin()
      const call: Told = [method, url, undefined, undefined]
      told.push(call)
      return (status, failure) => void call.splice(2, 2, status, failure)
    },
  }
}

const consentedTo = (endpoint: string): Egress => ({ mode: "burst", configured: null, consented: endpoint })
const secret = { headers: { authorization: "Bearer s3cret" }, body: "s3cret text", method: "POST" } as const
const ok = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi"
const elsewhereTest = testWhere(noAddress)

describe("a request to a server elsewhere", () => {
  elsewhereTest(
    "is told before it leaves, and what came of it afterwards, but not what it held",
    async () => {
      using server = await rawServer(socket => socket.end(ok), { host: ownAddress ?? "" })
      const endpoint = `http://${ownAddress}:${server.port}/base`
      const connections: number[] = []
      const calls = hearing(() => connections.push(server.connections()))
      const path = "/v1/models?key=s3cret#s3cret"
      const { chunks } = await answerOf(sendTo(endpoint, { ...secret, path }, consentedTo(endpoint), calls))
      expect(await textOf(chunks)).toBe("hi")
      expect(connections).toEqual([0])
      expect(calls.told).toEqual([["POST", `${endpoint}/v1/models`, 200, null]])
    },
  )

  elsewhereTest("that is answered in a way nobody can use has a status and a failure", async () => {
    const elsewhere = "HTTP/1.1 302 Go\r\nlocation: http://x.invalid/\r\ncontent-length: 0\r\n\r\n"
    using server = await rawServer(socket => socket.end(elsewhere), { host: ownAddress ?? "" })
    const endpoint = `http://${ownAddress}:${server.port}`
    const calls = hearing()
    await failureOfReply(sendTo(endpoint, {}, consentedTo(endpoint), calls))
    expect(calls.told).toEqual([["GET", `${endpoint}/`, 302, "badRequest"]])
  })

  test("that no one answers has the kind of its failure", async () => {
    const endpoint = "http://model.invalid"
    const calls = hearing()
    await failureOfReply(sendTo(endpoint, { path: "/v1/models" }, consentedTo(endpoint), calls))
    const signal = AbortSignal.abort()
    await failureOfReply(sendTo(endpoint, { signal }, consentedTo(endpoint), calls))
    expect(calls.told).toEqual([
      ["GET", `${endpoint}/v1/models`, null, "unavailable"],
      ["GET", `${endpoint}/`, null, "aborted"],
    ])
  })

  test("that the mode refuses has not left, so nothing is reported", async () => {
    const failure = await failureOfReply(sendTo("http://model.invalid", {}, localOnly, nothingLeaves))
    expect(failure.kind).toBe("refused")
  })
})

test("a request to a server of this machine is reported to no one", async () => {
  using server = await rawServer(socket => socket.end(ok))
  for (const host of ["127.0.0.1", "localhost"]) {
    const reply = await answerOf(sendTo(`http://${host}:${server.port}`, {}, localOnly, nothingLeaves))
    expect(await textOf(reply.chunks)).toBe("hi")
  }
})
