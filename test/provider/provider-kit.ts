import { assert } from "../../src/base/assert.ts"
import type { Json } from "../../src/base/canonical.ts"
import type { ModelItem, ModelRequest, Provider } from "../../src/provider/contract.ts"
import { itemsWithFailure } from "../../src/provider/reply-fault.ts"
import { readScript, type Script } from "../../src/provider/script/script-file.ts"
import { type EmitItem, type PieceReader, wholeItems } from "../../src/provider/streamed-items.ts"
import type { Wait } from "../../src/provider/wait.ts"

export const never = new AbortController().signal

export function requestOf(changes: Partial<ModelRequest> = {}): ModelRequest {
  return {
    stage: "planner",
    replyIndex: 0,
    model: null,
    messages: [{ role: "user", text: "do it" }],
    tools: [],
    format: null,
    outputTokensMax: null,
    ...changes,
  }
}

export async function itemsOf(items: AsyncIterable<ModelItem>): Promise<ModelItem[]> {
  const all: ModelItem[] = []
  for await (const item of items) all.push(item)
  return all
}

/** What is read, as whoever asks gets it. */
export function told(read: (tell: EmitItem) => void): Promise<ModelItem[]> {
  return itemsOf(itemsWithFailure(() => wholeItems(read), never))
}

/** What a reader tells of these pieces, as whoever asks gets it. */
export function toldOf<Piece>(
  pieces: readonly Piece[],
  open: (tell: EmitItem) => PieceReader<Piece>,
): Promise<ModelItem[]> {
  return told(tell => {
    const reader = open(tell)
    for (const piece of pieces) reader.take(piece)
    reader.end()
  })
}

export function scriptOf(replies: readonly Json[]): Script {
  const reading = readScript({ replies })
  assert("script" in reading, `the script of a test is valid: ${JSON.stringify(reading)}`)
  return reading.script
}

/** A model that says these items whatever it is asked, and counts how often it was. */
export function saying(...items: readonly ModelItem[]): Provider & { asked: number } {
  const provider = {
    name: "saying",
    asked: 0,
    async *ask() {
      provider.asked += 1
      yield* items
    },
  }
  return provider
}

/** Time that is over at once, and how much of it there would have been. */
export function noTime(): { readonly wait: Wait; readonly waited: number[] } {
  const waited: number[] = []
  return { waited, wait: async ms => void waited.push(ms) }
}

export const stop: ModelItem = { kind: "end", reason: "stop" }

export function text(said: string): ModelItem {
  return { kind: "text", text: said }
}

export function call(id: string, tool: string, args: Json = {}): ModelItem {
  return { kind: "call", call: { id, tool, arguments: args } }
}

/** A list in a list in a list. */
export function nested(levels: number): Json {
  let value: Json = "bottom"
  for (let level = 0; level < levels; level++) value = [value]
  return value
}
