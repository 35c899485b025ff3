import { describe, expect, test } from "bun:test"
import { routesTo } from "../../../src/provider/transport/egress.ts"
import { answerOf, endpointOf, failureOfReply, rawServer, sendTo, textOf } from "./transport-kit.ts"

const urls = (endpoint: string) => routesTo(endpointOf(endpoint)).map(({ url, host }) => [url, host])

describe("the ways to a server", () => {
  test("are its address, under the name it was given", () => {
    expect(urls("http://127.0.0.1:11434/v1")).toEqual([["http://127.0.0.1:11434/v1", "127.0.0.1:11434"]])
    expect(urls("http://[::1]:1234")).toEqual([["http://[::1]:1234", "[::1]:1234"]])
    expect(urls("https://models.example.org")).toEqual([["https://models.example.org", "models.example.org"]])
  })

  test("are both addresses of this machine for localhost, the older kind first", () => {
    expect(urls("http://localhost:1234/localhost")).toEqual([
      ["http://127.0.0.1:1234/localhost", "localhost:1234"],
      ["http://[::1]:1234/localhost", "localhost:1234"],
    ])
  })
})

describe("a server that is called localhost", () => {
  for (const host of ["127.0.0.1", "::1"])
    test(`is found at ${host}`, async () => {
      const hello = "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello"
      using server = await rawServer(socket => void socket.end(hello), { host })
      const { chunks } = await answerOf(sendTo(`http://localhost:${server.port}`))
      expect(await textOf(chunks)).toBe("hello")
      expect(server.requests[0]).toContain(`localhost:${server.port}`)
    })

  test("and is nowhere is reported as what was refused first", async () => {
    const { port } = await rawServer(() => undefined).then(server => {
      server[Symbol.dispose]()
      return server
    })
    expect(await failureOfReply(sendTo(`http://localhost:${port}`))).toMatchObject({
      kind: "unavailable",
      message: expect.stringContaining("ECONNREFUSED"),
    })
  })
})
