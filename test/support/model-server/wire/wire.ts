import type { Json } from "../../../../src/base/canonical.ts"
import type { FakeReply, FakeUsage } from "../contract.ts"
import { bytes } from "../http.ts"

/** One event of a stream before it is framed; data that is a text goes out as it is, broken or not. */
export interface WireEvent {
  /** The name in the `event:` line; null in a protocol without it. */
  readonly name: string | null
  readonly data: Json | { readonly raw: string }
}

export interface Encoding {
  readonly model: string
  /** The tokens that the server counted in the request. */
  readonly promptTokens: number
  /** True to report the usage of a stream, which OpenAI does only on request. */
  readonly includeUsage: boolean
}

/** A protocol as a server writes it. */
export interface Wire {
  readonly streamType: string
  readonly chatPath: string
  events(reply: FakeReply, encoding: Encoding): readonly WireEvent[]
  whole(reply: FakeReply, encoding: Encoding): Json
  frame(event: WireEvent): Uint8Array
}

export function rawEvent(raw: string, name: string | null = null): WireEvent {
  return { name, data: { raw } }
}

export function dataText({ data }: WireEvent): string {
  if (typeof data === "object" && data !== null && "raw" in data && typeof data.raw === "string")
    return data.raw
  return jsonText(data)
}

/** JSON in which `{"$raw": "text"}` stands for that text itself, whatever it is. */
export function jsonText(value: Json | WireEvent["data"]): string {
  return JSON.stringify(value).replace(/\{"\$raw":("(?:[^"\\]|\\.)*")\}/g, (_, text) => JSON.parse(text))
}

/** `event:` and `data:` lines, and the empty one that ends them. */
export function sse(event: WireEvent): Uint8Array {
  const name = event.name === null ? "" : `event: ${event.name}\n`
  return bytes(`${name}data: ${dataText(event)}\n\n`)
}

export function usageOf({ usage, text, calls }: FakeReply, { promptTokens }: Encoding): FakeUsage | null {
  if (usage !== "counted") return usage
  return { input: promptTokens, output: estimateTokens(text) + estimateTokens(JSON.stringify(calls)) }
}

/** Estimates tokens without a tokenizer. */
export function estimateTokens(text: string): number {
  return Math.ceil(text.length / 4)
}

/** A long reply comes in larger pieces, so that a test of sizes is none of patience. */
const piecesMax = 200

/** A text in pieces as models produce them: words with their spaces, nothing lost, no character cut. */
export function tokensOf(text: string): readonly string[] {
  if (text.length > piecesMax * 20) return fragmentsOf(text, Math.ceil(text.length / piecesMax))
  return text.match(/\s*\S+\s*$|\s*\S+|\s+$/gu) ?? (text === "" ? [] : [text])
}

/** Arguments in small pieces that cut names and values anywhere. */
export function fragmentsOf(text: string, sizeMin = 7): readonly string[] {
  const size = Math.max(sizeMin, Math.ceil(text.length / piecesMax))
  const characters = [...text]
  const count = Math.ceil(characters.length / size)
  return Array.from({ length: count }, (_, index) =>
    characters.slice(index * size, (index + 1) * size).join(""),
  )
}
