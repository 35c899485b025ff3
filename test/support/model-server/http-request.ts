import type { Json } from "../../../src/base/canonical.ts"

export interface ParsedRequest {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Json
}

/** Takes bytes as they come and gives each request once it is whole. */
export function requestReader(onRequest: (request: ParsedRequest) => void): (piece: Uint8Array) => void {
  let waiting = Buffer.alloc(0)
  return piece => {
    waiting = Buffer.concat([waiting, piece])
    for (;;) {
      const taken = takeRequest(waiting)
      if (taken === null) return
      waiting = waiting.subarray(taken.length)
      onRequest(taken.request)
    }
  }
}

function takeRequest(buffer: Buffer): { readonly request: ParsedRequest; readonly length: number } | null {
  const headEnd = buffer.indexOf("\r\n\r\n")
  if (headEnd < 0) return null
  const [requestLine = "", ...headerLines] = buffer.subarray(0, headEnd).toString("latin1").split("\r\n")
  const [method = "", path = ""] = requestLine.split(" ")
  const headers = Object.fromEntries(headerLines.map(headerOf))
  const body = takeBody(buffer, headEnd + 4, headers)
  if (body === null) return null
  return { request: { method, path, headers, body: jsonOf(body.content) }, length: body.end }
}

function headerOf(line: string): readonly [string, string] {
  const colon = line.indexOf(":")
  return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
}

interface Body {
  readonly content: Buffer
  readonly end: number
}

function takeBody(buffer: Buffer, start: number, headers: Readonly<Record<string, string>>): Body | null {
  if (headers["transfer-encoding"] === "chunked") return takeChunks(buffer, start)
  const end = start + Number(headers["content-length"] ?? 0)
  return buffer.byteLength < end ? null : { content: buffer.subarray(start, end), end }
}

function takeChunks(buffer: Buffer, start: number): Body | null {
  const parts: Buffer[] = []
  for (let place = start; ; ) {
    const lineEnd = buffer.indexOf("\r\n", place)
    if (lineEnd < 0) return null
    const size = Number.parseInt(buffer.subarray(place, lineEnd).toString("latin1"), 16)
    const end = lineEnd + 2 + size + 2
    if (buffer.byteLength < end) return null
    if (size === 0) return { content: Buffer.concat(parts), end }
    parts.push(buffer.subarray(lineEnd + 2, end - 2))
    place = end
  }
}

/** Parses a body as JSON; anything else stays text. */
function jsonOf(content: Buffer): Json {
  const text = content.toString("utf8")
  if (text === "") return null
  try {
    return JSON.parse(text) as Json
  } catch {
    // The answer to such a request is a test's own affair.
    return text
  }
}
