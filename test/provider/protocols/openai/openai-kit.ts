import type { Json } from "../../../../src/base/canonical.ts"
import type { ModelItem } from "../../../../src/provider/contract.ts"
import {
  type OpenAiRequestFacts,
  openAiReplyReader,
  readOpenAiReply,
} from "../../../../src/provider/protocols/openai/reply.ts"
import type { ServerEvent } from "../../../../src/provider/transport/sse.ts"
import { told, toldOf } from "../../provider-kit.ts"

const asked: OpenAiRequestFacts = {
  model: "qwen",
  replyIndex: 3,
  windowTokens: 8192,
  outputTokensMax: 4096,
  isShaped: false,
  withoutSecret: text => text,
}

/** What is read of a stream of these chunks, `[DONE]` included. */
export async function streamed(
  chunks: readonly Json[],
  more: Partial<OpenAiRequestFacts> = {},
): Promise<ModelItem[]> {
  const events = chunks.map(chunk => ({ event: null, data: JSON.stringify(chunk) }))
  return await fromEvents([...events, { event: null, data: "[DONE]" }], more)
}

export async function fromEvents(
  events: readonly ServerEvent[],
  more: Partial<OpenAiRequestFacts> = {},
): Promise<ModelItem[]> {
  return await toldOf(events, tell => openAiReplyReader({ ...asked, ...more }, tell))
}

export async function whole(body: Json, more: Partial<OpenAiRequestFacts> = {}): Promise<ModelItem[]> {
  return await told(tell => readOpenAiReply(body, { ...asked, ...more }, tell))
}

export function delta(said: Json, finish: string | null = null): Json {
  return { object: "chat.completion.chunk", choices: [{ index: 0, delta: said, finish_reason: finish }] }
}

export function piece(part: {
  readonly index?: Json
  readonly id?: Json
  readonly name?: Json
  readonly args?: Json
}): Json {
  const { index, id, name, args } = part
  return {
    ...(index === undefined ? {} : { index }),
    ...(id === undefined ? {} : { id, type: "function" }),
    function: {
      ...(name === undefined ? {} : { name }),
      ...(args === undefined ? {} : { arguments: args }),
    },
  }
}

export function message(
  said: Json,
  finish: string | null,
  more: { readonly [name: string]: Json } = {},
): Json {
  return { object: "chat.completion", choices: [{ index: 0, message: said, finish_reason: finish }], ...more }
}

export function failureIn(items: readonly ModelItem[]) {
  const last = items.at(-1)
  return last?.kind === "failure" ? last.failure : null
}
