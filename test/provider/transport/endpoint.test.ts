import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { endpointName, readEndpoint } from "../../../src/provider/transport/endpoint.ts"

describe("an endpoint on this machine", () => {
  test.each([
    ["http://127.0.0.1:11434", "http://127.0.0.1:11434"],
    ["http://127.0.0.1:11434/", "http://127.0.0.1:11434"],
    ["HTTP://LocalHost:11434/v1/", "http://localhost:11434/v1"],
    ["https://localhost", "https://localhost"],
    ["http://localhost:80/a/b-c_d.e~f", "http://localhost/a/b-c_d.e~f"],
    ["http://127.8.9.10:1", "http://127.8.9.10:1"],
    ["http://[::1]:8080", "http://[::1]:8080"],
  ])("%s is local", (text, url) => {
    expect(readEndpoint(text)).toEqual({ url, socket: null, isLocal: true })
  })

  test("a socket is local, and its URL is only a name", () => {
    expect(readEndpoint("unix:/run/user/1000/model server.sock")).toEqual({
      url: "http://localhost",
      socket: "/run/user/1000/model server.sock",
      isLocal: true,
    })
  })
})

describe("an endpoint elsewhere", () => {
  test.each([
    "https://api.anthropic.com",
    "http://192.168.1.20:11434",
    "http://10.0.0.1",
    "http://localhost.evil.com",
    "http://my.localhost:1",
    "http://localhost-evil:1",
    "http://127.0.0.1.nip.io",
    "http://128.0.0.1",
    "http://1.127.0.1",
    "http://[2001:db8::1]:8080",
    "http://[fe80::1]",
    "http://[::2]",
    "http://[::7f00:1]",
    "http://[64:ff9b::7f00:1]",
    "http://model_server:8000/v1",
    "https://xn--lcalhost-54a",
  ])("%s is not local", text => {
    expect(readEndpoint(text)).toEqual({ url: text, socket: null, isLocal: false })
  })
})

describe("a host that one parser reads as this machine and another one does not", () => {
  test.each([
    ["http://0.0.0.0:11434", "not one machine"],
    ["http://[::]:11434", "not one machine"],
    ["http://0:11434", "normally written 0.0.0.0"],
    ["http://2130706433", "normally written 127.0.0.1"],
    ["http://0x7f000001", "normally written 127.0.0.1"],
    ["http://0x7f.1", "normally written 127.0.0.1"],
    ["http://0177.0.0.1", "normally written 127.0.0.1"],
    ["http://127.0.0.01", "normally written 127.0.0.1"],
    ["http://127.1:80", "normally written 127.0.0.1"],
    ["http://[0:0:0:0:0:0:0:1]", "normally written [::1]"],
    ["http://[::ffff:127.0.0.1]", "normally written [::ffff:7f00:1]"],
    ["http://[::ffff:7f00:1]", "IPv4 address in an IPv6 one"],
    ["http://[::1%25eth0]", "host that cannot be used"],
    ["http://localhost.:11434", "host that cannot be used"],
    ["http://127.0.0.1.:11434", "host that cannot be used"],
    ["http://evil.com.", "host that cannot be used"],
    ["http://.localhost", "host that cannot be used"],
    ["http://127.0.0.1\\.evil.com", "host that cannot be used"],
    ["http://127.0.0.1%2eevil.com", "host that cannot be used"],
    ["http://127。0。0。1", "contains spaces or other invalid characters"],
    ["http://ⓛocalhost", "contains spaces or other invalid characters"],
    ["http://127.0.0.256", "host or a port that cannot be used"],
    ["http://localhost:0", "host or a port that cannot be used"],
    ["http://localhost:65536", "host or a port that cannot be used"],
    ["http://localhost:1e3", "host that cannot be used"],
    ["http://localhost:", "host that cannot be used"],
    ["http://", "host that cannot be used"],
    ["http:///etc", "host that cannot be used"],
    ["http:localhost", "neither"],
    ["//localhost", "neither"],
    ["localhost:11434", "neither"],
    ["file:///etc/passwd", "neither"],
    ["ws://localhost", "neither"],
    ["", "neither"],
    [" http://localhost", "neither"],
    ["http://localhost\n", "contains spaces or other invalid characters"],
    ["http://local\thost", "contains spaces or other invalid characters"],
    ["http://localhost/a b", "contains spaces or other invalid characters"],
    ["http://localhost/../admin", "path"],
    ["http://localhost/v1/./x", "path"],
    ["http://localhost//evil.com", "path"],
    ["http://localhost/%2e%2e", "path"],
    ["http://localhost/a\\b", "path"],
  ])("%p is refused", (text, why) => {
    expect(readEndpoint(text).problem).toContain(why)
  })

  test.each([
    "http://127.0.0.1@evil.com",
    "http://me:s3cret@localhost",
    "http://@localhost",
    "http://localhost\\@evil.com",
    "http://localhost/?key=s3cret",
    "http://localhost#s3cret",
    "http://localhost?s3cret",
    "ftp://me:s3cret@localhost",
  ])("%s is refused, and what may be secret in it is not repeated", text => {
    const { problem } = readEndpoint(text)
    expect(problem).toStartWith("the endpoint ")
    expect(problem).not.toContain("s3cret")
  })
})

describe("a socket", () => {
  test.each([
    ["unix:model.sock", "absolute path"],
    ["unix:", "absolute path"],
    ["unix://host/x", null],
    ["unix:/a\0b", "contains a NUL byte"],
    [`unix:/${"a".repeat(106)}`, null],
    [`unix:/${"a".repeat(107)}`, "107 bytes"],
    [`unix:/${"é".repeat(54)}`, "107 bytes"],
  ])("%p", (text, why) => {
    const { problem } = readEndpoint(text)
    if (why === null) expect(problem).toBeUndefined()
    else expect(problem).toContain(why)
  })
})

describe("the name of an endpoint", () => {
  test("is what it can be read from again", () => {
    const host = fc.constantFrom("localhost", "127.0.0.1", "[::1]", "api.example.com", "10.1.2.3")
    const text = fc
      .record({
        scheme: fc.constantFrom("http", "https"),
        host,
        port: fc.integer({ min: 1, max: 65535 }),
        path: fc.constantFrom("", "/", "/v1", "/v1/", "/a/b.c"),
      })
      .map(({ scheme, host: at, port, path }) => `${scheme}://${at}:${port}${path}`)
    fc.assert(
      fc.property(fc.oneof(text, fc.constantFrom("unix:/run/m.sock", "unix:/a b")), written => {
        const read = readEndpoint(written)
        if (read.problem !== undefined) throw new Error(read.problem)
        expect(readEndpoint(endpointName(read))).toEqual(read)
      }),
    )
  })

  test("nothing that is read as local has a host that a resolver would be asked for", () => {
    const sign = fc.constantFrom(
      "a",
      "1",
      "127",
      "0x7f",
      ".",
      ":",
      "@",
      "/",
      "\\",
      "[",
      "]",
      "%",
      "?",
      "#",
      " ",
      "é",
    )
    const rest = fc.array(sign, { maxLength: 8 }).map(signs => signs.join(""))
    const start = fc.constantFrom("http://", "http://127.0.0.1", "http://localhost", "https://[::1]", "http:")
    fc.assert(
      fc.property(start, rest, (begin, end) => {
        const read = readEndpoint(begin + end)
        if (read.problem !== undefined || !read.isLocal) return
        expect(new URL(read.url).hostname).toMatch(/^(localhost|127(\.\d{1,3}){3}|\[::1\])$/)
        expect(new URL(read.url).username).toBe("")
      }),
      { numRuns: 500 },
    )
  })
})
