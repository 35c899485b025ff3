import type { Json } from "../../base/canonical.ts"
import { modelFailure, ReplyFault } from "../reply-fault.ts"
import type { TransportReply } from "./contract.ts"
import { foreignJson } from "./foreign-json.ts"

const jsonBytesMax = 16 * 1024 * 1024
const errorBytesMax = 64 * 1024

export type HttpAnswer = Extract<TransportReply, { kind: "answered" }>

/**
 * Reports whether the answer is an event stream. Its content type decides before the request: some servers always
 * stream, and some never.
 */
export function isEventStream({ header }: HttpAnswer, wasAsked: boolean): boolean {
  const type = header("content-type")?.toLowerCase() ?? ""
  if (type.includes("event-stream")) return true
  return type.includes("json") ? false : wasAsked
}

/** Reads a body to its end. Throws `ReplyFault` when it is longer than `bytesMax`. */
export async function wholeText(chunks: AsyncIterable<Uint8Array>, bytesMax: number): Promise<string> {
  const parts: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of chunks) {
    bytes += chunk.byteLength
    if (bytes > bytesMax)
      throw new ReplyFault(modelFailure("malformed", `the answer is longer than ${bytesMax} bytes`))
    parts.push(chunk)
  }
  return decoded(parts)
}

/** Reads a body as JSON. Throws `ReplyFault` for anything else. */
export async function jsonBody({ chunks }: HttpAnswer): Promise<Json> {
  return foreignJson(await wholeText(chunks, jsonBytesMax))
}

/**
 * Reads the text of an error, as much of it as arrives and is useful: an explanation that is too long or breaks off
 * must not hide the error itself.
 */
export async function errorText({ chunks }: HttpAnswer): Promise<string> {
  const parts: Uint8Array[] = []
  let bytes = 0
  try {
    for await (const chunk of chunks) {
      parts.push(chunk.subarray(0, errorBytesMax - bytes))
      bytes += chunk.byteLength
      if (bytes >= errorBytesMax) break
    }
  } catch (error) {
    if (!(error instanceof ReplyFault) || error.failure.kind === "aborted") throw error
  }
  return decoded(parts)
}

function decoded(parts: readonly Uint8Array[]): string {
  return Buffer.concat(parts)
    .toString("utf8")
    .replace(/^\ufeff/, "")
}
