import type { Protocol } from "../../../src/domain/model-choice.ts"
import type { FakeReply } from "./contract.ts"
import { bytes } from "./http.ts"
import { type Encoding, jsonText, type Wire } from "./wire/wire.ts"
import { anthropicWire } from "./wire/wire-anthropic.ts"
import { ollamaWire } from "./wire/wire-ollama.ts"
import { openaiWire } from "./wire/wire-openai.ts"

export const wires: Readonly<Record<Protocol, Wire>> = {
  ollama: ollamaWire,
  openai: openaiWire,
  anthropic: anthropicWire,
}

export const plainEncoding: Encoding = { model: "fake", promptTokens: 10, includeUsage: true }

/** Returns the body of a response, one element for each piece that a server would send. */
export function encodeReply(
  protocol: Protocol,
  reply: FakeReply,
  { streams, ...encoding }: { readonly streams: boolean } & Partial<Encoding>,
): Uint8Array[] {
  const wire = wires[protocol]
  const full = { ...plainEncoding, ...encoding }
  if (!streams) return [bytes(jsonText(wire.whole(reply, full)))]
  return wire.events(reply, full).map(wire.frame)
}
