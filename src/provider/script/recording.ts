import { messageOf } from "../../base/assert.ts"
import type { ModelItem, ModelRequest, Provider } from "../contract.ts"
import { failedItem, itemsWithFailure } from "../reply-fault.ts"
import type { Items } from "../streamed-items.ts"
import { mapTexts, type RecordedReply, type Recording, requestPrint } from "./recording-file.ts"

export interface RecordingSink {
  /** Writes one line and adds its end. */
  append(line: string): void
  /** Redacts a text: a recording is a file that is passed on, so it must not contain secrets. */
  redactText(text: string): string
  /** Replaces the parts of a request that differ each time. */
  settledText(text: string): string
}

/**
 * Records each reply before its end is yielded. An aborted reply is not recorded and is requested again; one that the
 * reader did not read to its end is recorded, so that a replay does not read further either.
 */
export function recordTo(provider: Provider, sink: RecordingSink): Provider {
  return { name: provider.name, ask: (request, signal) => recorded(provider, request, signal, sink) }
}

async function* recorded(
  provider: Provider,
  request: ModelRequest,
  signal: AbortSignal,
  sink: RecordingSink,
): AsyncGenerator<ModelItem> {
  const items: ModelItem[] = []
  let isOver = false
  try {
    for await (const item of provider.ask(request, signal)) {
      items.push(item)
      const isLast = item.kind === "end" || item.kind === "failure"
      if (isLast) {
        isOver = true
        const problem = signal.aborted ? null : written(request, items, sink)
        if (problem !== null) return yield failedItem("script", problem)
      }
      yield item
    }
  } finally {
    if (!isOver && !signal.aborted)
      written(request, [...items, failedItem("truncated", "it was not read to its end")], sink)
  }
}

/**
 * Records a reply. Returns null on success, else the problem: a session that is to be recorded does not continue
 * without it.
 */
function written(request: ModelRequest, items: readonly ModelItem[], sink: RecordingSink): string | null {
  const { digest, tools, messages } = requestPrint(request, text => sink.settledText(sink.redactText(text)))
  const line = {
    schema: 1,
    index: request.replyIndex,
    stage: request.stage,
    requestDigest: digest,
    request: { tools, messages: [...messages] },
    items: joined(items).map(item => redactedItem(item, sink)),
  } satisfies RecordedReply
  try {
    sink.append(JSON.stringify(line))
    return null
  } catch (error) {
    return `the recording could not be written: ${messageOf(error)}`
  }
}

/** Joins neighbouring texts: a secret in two pieces would not be recognised in either. */
function joined(items: readonly ModelItem[]): ModelItem[] {
  const whole: ModelItem[] = []
  for (const item of items) {
    const last = whole.at(-1)
    if (item.kind === "text" && last?.kind === "text")
      whole[whole.length - 1] = { kind: "text", text: last.text + item.text }
    else whole.push(item)
  }
  return whole
}

function redactedItem(item: ModelItem, { redactText }: RecordingSink): RecordedReply["items"][number] {
  switch (item.kind) {
    case "text":
      return { kind: "text", text: redactText(item.text) }
    case "call": {
      const { id, tool, arguments: args } = item.call
      // as: the schema's own type of JSON is the same one, only not read-only.
      const redacted = mapTexts(args, redactText) as RecordedCall["arguments"]
      return { kind: "call", call: { id, tool, arguments: redacted } }
    }
    case "problem":
      return { kind: "problem", text: redactText(item.text) }
    case "failure":
      return { kind: "failure", failure: { ...item.failure, message: redactText(item.failure.message) } }
    default:
      return item
  }
}

type RecordedCall = Extract<RecordedReply["items"][number], { kind: "call" }>["call"]

/** Returns a model that repeats the replies of a recording while it gets the same requests. */
export function replayFrom(
  recording: Recording,
  settled: Pick<RecordingSink, "redactText" | "settledText">,
): Provider {
  return {
    name: "replay",
    ask: (request, signal) => itemsWithFailure(() => replayed(recording, request, settled), signal),
  }
}

async function* replayed(
  recording: Recording,
  request: ModelRequest,
  { redactText, settledText }: Pick<RecordingSink, "redactText" | "settledText">,
): AsyncGenerator<Items> {
  const entry = `reply ${request.replyIndex} of the recording`
  const reply = recording.get(request.replyIndex)
  if (reply === undefined)
    return yield [failedItem("script", `there is no ${entry}, for which the ${request.stage} asks`)]
  const difference = differenceOf(reply, request, text => settledText(redactText(text)))
  if (difference !== null)
    return yield [failedItem("script", `the session has left its recording: at ${entry} ${difference}`)]
  yield reply.items
}

function differenceOf(
  reply: RecordedReply,
  request: ModelRequest,
  settled: (text: string) => string,
): string | null {
  if (reply.stage !== request.stage) return `the ${reply.stage} asked, and now the ${request.stage} asks`
  const { digest, tools, messages } = requestPrint(request, settled)
  if (digest === reply.requestDigest) return null
  if (tools !== reply.request.tools) return `the tools were ${reply.request.tools}, and now are ${tools}`
  const before = reply.request.messages
  const at = messages.findIndex((message, index) => message !== before[index])
  if (at === -1 || at >= before.length)
    return `there were ${before.length} messages, and now there are ${messages.length}`
  const role = messages[at]?.split(":")[0] ?? ""
  return `message ${at + 1} of ${messages.length} (${role}) is not what it was`
}
