import type { Json } from "../../../src/base/canonical.ts"

const encoder = new TextEncoder()

export function bytes(text: string): Uint8Array {
  return encoder.encode(text)
}

export function joined(pieces: readonly Uint8Array[]): Uint8Array {
  return new Uint8Array(Buffer.concat(pieces))
}

export type Headers = Readonly<Record<string, string>>

/** Status line and headers, as they are given and nothing else. */
export function responseHead(status: number, headers: Headers): Uint8Array {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  return bytes(`HTTP/1.1 ${status} ${reasons[status] ?? "Unknown"}\r\n${lines.join("")}\r\n`)
}

/** A response whose length is known. */
export function whole(status: number, body: string | Uint8Array, headers: Headers = {}): Uint8Array {
  const content = typeof body === "string" ? bytes(body) : body
  const length = { "content-length": String(content.byteLength) }
  return joined([
    responseHead(status, { "content-type": "application/json", ...headers, ...length }),
    content,
  ])
}

export function wholeJson(status: number, body: Json, headers: Headers = {}): Uint8Array {
  return whole(status, JSON.stringify(body), headers)
}

/** One piece of a response whose length is not known before it ends. */
export function chunked(piece: Uint8Array): Uint8Array {
  return joined([bytes(`${piece.byteLength.toString(16)}\r\n`), piece, bytes("\r\n")])
}

export const lastChunk = bytes("0\r\n\r\n")

export function chunkedHead(contentType: string, headers: Headers = {}): Uint8Array {
  return responseHead(200, { "content-type": contentType, "transfer-encoding": "chunked", ...headers })
}

const reasons: Readonly<Record<number, string>> = {
  200: "OK",
  301: "Moved Permanently",
  307: "Temporary Redirect",
  400: "Bad Request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not Found",
  408: "Request Timeout",
  413: "Content Too Large",
  429: "Too Many Requests",
  500: "Internal Server Error",
  502: "Bad Gateway",
  503: "Service Unavailable",
  504: "Gateway Timeout",
  529: "Site is overloaded",
}
