import { describe, expect, test } from "bun:test"
import { readRequestHead } from "../../../src/sandbox/proxy/proxy.ts"

const read = (...lines: readonly string[]) =>
  readRequestHead(Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1"))
const summary = (...lines: readonly string[]) => {
  const request = read(...lines)
  return request.kind === "malformed" ? "malformed" : `${request.kind} ${request.host.name} ${request.port}`
}

describe("the head of a request to the proxy", () => {
  const rows: readonly (readonly [readonly string[], string])[] = [
    [["CONNECT example.com:443 HTTP/1.1", "Host: example.com:443"], "tunnel example.com 443"],
    [["CONNECT Example.COM.:443 HTTP/1.0"], "tunnel example.com 443"],
    [["CONNECT [::1]:8080 HTTP/1.1"], "tunnel ::1 8080"],
    // What counts is where the connection goes, not what the client calls it.
    [["CONNECT 169.254.169.254:80 HTTP/1.1", "Host: example.com"], "tunnel 169.254.169.254 80"],
    [["CONNECT example.com HTTP/1.1"], "malformed"],
    [["CONNECT example.com:0 HTTP/1.1"], "malformed"],
    [["CONNECT example.com:99999 HTTP/1.1"], "malformed"],
    [["CONNECT example.com:443/path HTTP/1.1"], "malformed"],
    [["CONNECT user@example.com:443 HTTP/1.1"], "malformed"],
    [["CONNECT example.com:443@evil.test:443 HTTP/1.1"], "malformed"],
    [["CONNECT ::1:443 HTTP/1.1"], "malformed"],
    [["CONNECT 2130706433:80 HTTP/1.1"], "malformed"],
    [["CONNECT exa%6dple.com:80 HTTP/1.1"], "malformed"],
    [["GET http://example.com/ HTTP/1.1"], "forward example.com 80"],
    [["GET HTTP://example.com:8080?q HTTP/1.1"], "forward example.com 8080"],
    [["GET http://user:secret@example.com/ HTTP/1.1"], "malformed"],
    [["GET http://example.com\\@evil.test/ HTTP/1.1"], "malformed"],
    [["GET http://evil.test#@example.com/ HTTP/1.1"], "malformed"],
    [["GET https://example.com/ HTTP/1.1"], "malformed"],
    [["GET ftp://example.com/ HTTP/1.1"], "malformed"],
    [["GET / HTTP/1.1", "Host: example.com"], "malformed"],
    [["OPTIONS * HTTP/1.1", "Host: example.com"], "malformed"],
    [["PRI * HTTP/2.0"], "malformed"],
    [["GET  http://example.com/ HTTP/1.1"], "malformed"],
    [["GET http://example.com/ HTTP/1.1", " folded: line"], "malformed"],
    [["GET http://example.com/ HTTP/1.1", "Name : value"], "malformed"],
    [["GET http://example.com/ HTTP/1.1", "no colon"], "malformed"],
    [["GET http://example.com/ HTTP/1.1", "A: b\nHost: evil.test"], "malformed"],
    [["GET http://example.com/ HTTP/1.1", "A: b\rB: c"], "malformed"],
    [["GET http://example.com/ HTTP/1.1", "A: \u0000"], "malformed"],
    [[""], "malformed"],
    [["\u0016\u0003\u0001"], "malformed"],
  ]
  test.each(rows)("%j is %s", (lines, expected) => {
    expect(summary(...lines)).toBe(expected)
  })

  test("is passed on with the host of its first line, and with all that is not about the connection", () => {
    const request = read(
      "POST http://example.com:8080/a?b=c HTTP/1.1",
      "Host: evil.test",
      "User-Agent: one",
      "Proxy-Authorization: Basic c2VjcmV0",
      "Proxy-Connection: keep-alive",
      "Connection: keep-alive",
      "Keep-Alive: timeout=5",
      "Authorization: Bearer abc",
      "X-Odd: \u00e4\ttab",
      "host: another.test",
      "Content-Length: 3",
    )
    if (request.kind !== "forward") throw new Error(request.kind)
    expect(request.head.toString("latin1").split("\r\n")).toEqual([
      "POST /a?b=c HTTP/1.1",
      "Host: example.com:8080",
      "User-Agent: one",
      "Authorization: Bearer abc",
      "X-Odd: \u00e4\ttab",
      "Content-Length: 3",
      "Connection: close",
      "",
      "",
    ])
  })
})
