import { type Host, isPort, readHost } from "../../domain/hosts.ts"

/** What a client of the proxy asks for. */
export type ProxyRequest =
  | { readonly kind: "tunnel"; readonly host: Host; readonly port: number }
  /** One HTTP request, and its head as the server is to see it. */
  | { readonly kind: "forward"; readonly host: Host; readonly port: number; readonly head: Buffer }
  | { readonly kind: "malformed"; readonly problem: string }

/**
 * Reads the head of a request up to and with its empty line. Strict: what two readers could understand differently is
 * refused. The host is the one in the first line; a `Host` header counts for nothing and is replaced by it.
 */
export function readRequestHead(head: Buffer): ProxyRequest {
  const [first = "", ...rest] = head.toString("latin1").split("\r\n")
  const fields = rest.slice(0, -2)
  const line = /^([!#$%&'*+.^_`|~0-9A-Za-z-]{1,32}) (\S+) HTTP\/1\.([01])$/.exec(first)
  if (line === null) return malformed("the first line is not one of HTTP/1.1")
  const wrong = fields.find(field => !fieldPattern.test(field))
  if (wrong !== undefined) return malformed("a header is not of the form NAME: VALUE")
  const [, method = "", target = "", minor = ""] = line
  if (method === "CONNECT") return readTunnel(target)
  return readForward(method, target, minor, fields)
}

const fieldPattern = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+:[\t -~\u0080-\u00ff]*$/
const authority = "(\\[[0-9A-Fa-f:.]+\\]|[^:[\\]/?#@\\\\]+)"
const tunnelTarget = new RegExp(`^${authority}:(\\d{1,5})$`)
const forwardTarget = new RegExp(`^http://${authority}(?::(\\d{1,5}))?((?:[/?][^#]*)?)$`, "i")

function readTunnel(target: string): ProxyRequest {
  const [, name = "", digits = ""] = tunnelTarget.exec(target) ?? []
  const [host, port] = [readHost(name), Number(digits)]
  if (host === null || !isPort(port)) return malformed("CONNECT names no host and port")
  return { kind: "tunnel", host, port }
}

function readForward(method: string, target: string, minor: string, fields: readonly string[]): ProxyRequest {
  const parts = forwardTarget.exec(target)
  if (parts === null) return malformed("the request is neither CONNECT nor for an http:// address")
  const [, name = "", digits = "80", path = ""] = parts
  const [host, port] = [readHost(name), Number(digits)]
  if (host === null || !isPort(port)) return malformed("the request names no host that can be used")
  const place = path.startsWith("/") ? path : `/${path}`
  const shown = port === 80 ? name : `${name}:${port}`
  const kept = fields.filter(field => !ownFields.has(field.slice(0, field.indexOf(":")).toLowerCase()))
  // One request for each connection: the next one may be for another host.
  const lines = [`${method} ${place} HTTP/1.${minor}`, `Host: ${shown}`, ...kept, "Connection: close"]
  return { kind: "forward", host, port, head: Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1") }
}

/** What is between the client and the proxy, and the host, which is known from the first line. */
const ownFields: ReadonlySet<string> = new Set([
  "host",
  "connection",
  "proxy-connection",
  "proxy-authorization",
  "keep-alive",
])

function malformed(problem: string): ProxyRequest {
  return { kind: "malformed", problem }
}
