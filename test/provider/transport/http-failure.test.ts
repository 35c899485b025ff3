import { describe, expect, test } from "bun:test"
import { modelFailure, ReplyFault } from "../../../src/provider/reply-fault.ts"
import { httpFailure } from "../../../src/provider/transport/failures.ts"
import { failureOfReply, rawServer, sendTo } from "./transport-kit.ts"

const name = "http://localhost:11434"
const failureFor = (code: string) => httpFailure(Object.assign(new Error("s3cret"), { code }), name)

describe("a failed connection", () => {
  test.each([
    ["ECONNREFUSED", "unavailable", "no server listens at http://localhost:11434: start the model server"],
    ["ENOENT", "unavailable", "does not exist: start the model server"],
    ["EACCES", "unavailable", "check who may use the socket"],
    ["ENOTFOUND", "unavailable", "cannot be resolved: check the endpoint"],
    ["EAI_AGAIN", "unavailable", "cannot be resolved: check the endpoint"],
    ["ECONNRESET", "unavailable", "broke off"],
    ["EHOSTUNREACH", "unavailable", "no route leads to http://localhost:11434"],
    ["EPROTO", "unavailable", "check that it speaks https"],
    ["DEPTH_ZERO_SELF_SIGNED_CERT", "unavailable", "who signed its certificate"],
    ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", "unavailable", "who signed its certificate"],
    ["UNABLE_TO_GET_ISSUER_CERT_LOCALLY", "unavailable", "who signed its certificate"],
    ["ERR_TLS_CERT_ALTNAME_INVALID", "unavailable", "who signed its certificate"],
    ["CERT_HAS_EXPIRED", "unavailable", "who signed its certificate"],
    ["Malformed_HTTP_Response", "malformed", "is not HTTP"],
    ["SomethingElse", "unavailable", "cannot be reached (SomethingElse)"],
  ])("%s is reported as a sentence that says what to do", (code, kind, told) => {
    const failure = failureFor(code)
    expect(failure).toMatchObject({ kind, retryable: true, retryAfterMs: null })
    expect(failure.message).toContain(told)
    expect(failure.message).toContain(name)
    expect(failure.message).toEndWith(`(${code})`)
  })

  test("never repeats an error's own words, which may quote what was sent", () => {
    for (const code of ["ECONNREFUSED", "SomethingElse"])
      expect(failureFor(code).message).not.toContain("s3cret")
    for (const thrown of [new Error("s3cret"), "s3cret", null, undefined, { code: 5 }])
      expect(httpFailure(thrown, name).message).toBe(`${name} cannot be reached (unknown)`)
  })

  test("is what a fault says, where there is one", () => {
    const failure = modelFailure("aborted", "stopped")
    expect(httpFailure(new ReplyFault(failure), name)).toBe(failure)
  })

  test("names an endpoint as it is, with any characters", () => {
    expect(httpFailure({ code: "ENOENT" }, "unix:/a$&b.sock").message).toContain("unix:/a$&b.sock ")
  })
})

describe("a server that is not there", () => {
  test("is reported before anything is sent, for each kind of address", async () => {
    const port = await rawServer(() => undefined).then(server => {
      using stopped = server
      return stopped.port
    })
    for (const host of ["127.0.0.1", "localhost"]) {
      const failure = await failureOfReply(sendTo(`http://${host}:${port}`))
      expect(failure).toMatchObject({ kind: "unavailable", retryable: true })
      expect(failure.message).toContain(`no server listens at http://${host}:${port}`)
    }
    expect((await failureOfReply(sendTo("unix:/nowhere/model.sock"))).message).toContain(
      "/nowhere/model.sock does not exist",
    )
  })
})
