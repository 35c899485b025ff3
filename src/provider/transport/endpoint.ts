import { oneLine } from "../../base/text.ts"
import type { Endpoint } from "./contract.ts"

type EndpointReading =
  | (Endpoint & { readonly problem?: undefined })
  | { readonly problem: string; readonly url?: undefined }

const socketBytesMax = 107

/**
 * Parses the address of a model server. Refuses everything that one parser could read as this machine and another one
 * as a machine elsewhere: hosts are accepted only in their normal form.
 */
export function readEndpoint(text: string): EndpointReading {
  if (text.startsWith("unix:")) return readSocket(text.slice("unix:".length))
  const parts = /^(https?):\/\/([^/]*)(\/.*)?$/i.exec(text)
  if (parts === null) return problem(text, "is neither http://…, https://… nor unix:/path")
  const [, scheme = "", authority = "", path = ""] = parts
  if (!/^[\x21-\x7e]+$/.test(text)) return problem(text, "contains spaces or other invalid characters")
  if (authority.includes("@"))
    return problem(text, "has a user or a password; keys are configured separately")
  if (/[?#]/.test(text)) return problem(text, "has a query or a fragment")
  const place = /^(\[[0-9a-f:.]+\]|[a-z0-9_-]+(?:\.[a-z0-9_-]+)*)(?::(\d{1,5}))?$/i.exec(authority)
  if (place === null) return problem(text, "has a host that cannot be used")
  const [, host = "", port] = place
  const url = URL.parse(`${scheme}://${authority}`)
  if (url === null || port === "0") return problem(text, "has a host or a port that cannot be used")
  const wrong = wrongHost(host.toLowerCase(), url.hostname)
  if (wrong !== null) return problem(text, wrong)
  if (!isPlainPath(path))
    return problem(text, "has a path with characters other than letters, digits and -._~/")
  return { url: url.origin + path.replace(/\/$/, ""), socket: null, isLocal: isLoopback(url.hostname) }
}

/** Returns the endpoint as a user would write it; parsing it again gives the same endpoint. */
export function endpointName({ url, socket }: Endpoint): string {
  return socket === null ? url : `unix:${socket}`
}

/** Reports whether a configured or recorded text names this endpoint. Text that cannot be parsed names none. */
export function isNamedBy(text: string | null, endpoint: Endpoint): boolean {
  const read = text === null ? null : readEndpoint(text)
  return read !== null && read.problem === undefined && endpointName(read) === endpointName(endpoint)
}

function readSocket(path: string): EndpointReading {
  if (!path.startsWith("/")) return problem(`unix:${path}`, "has no absolute path after unix:")
  if (path.includes("\0")) return problem(`unix:${path}`, "contains a NUL byte")
  if (Buffer.byteLength(path) > socketBytesMax)
    return problem(`unix:${path}`, `is longer than the ${socketBytesMax} bytes a socket's path may have`)
  return { url: "http://localhost", socket: path, isLocal: true }
}

/** Returns a problem, without repeating text that may contain a password or a key. */
function problem(text: string, why: string): EndpointReading {
  return { problem: `${/[@?#]/.test(text) ? "the endpoint" : oneLine(text, 200)} ${why}` }
}

/**
 * Returns the problem of a host that is not in normal form: `2130706433`, `0x7f.1` and `[::ffff:127.0.0.1]` are
 * 127.0.0.1 for some programs and a name for others.
 */
function wrongHost(written: string, normal: string): string | null {
  if (written !== normal) return `has the host ${written}, which is normally written ${normal}`
  if (normal === "0.0.0.0" || normal === "[::]") return "has a host that is not one machine; write 127.0.0.1"
  if (normal.startsWith("[::ffff:")) return "has an IPv4 address in an IPv6 one; write the IPv4 address"
  return null
}

function isPlainPath(path: string): boolean {
  const segments = path.replace(/^\//, "").replace(/\/$/, "").split("/")
  if (segments.length === 1 && segments[0] === "") return path === "" || path === "/"
  return segments.every(segment => /^[A-Za-z0-9._~-]+$/.test(segment) && !/^\.\.?$/.test(segment))
}

/**
 * Reports whether a host is this machine. Names other than `localhost` never are, whatever they resolve to: that can
 * change at any time.
 */
function isLoopback(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(hostname)
}
