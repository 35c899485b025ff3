import type { Json } from "../../../base/canonical.ts"
import { oneLine } from "../../../base/text.ts"
import type { ModelCall, ModelFailureKind, ModelItem } from "../../contract.ts"
import { type JsonObject, objectOf, textOrNull, tokenCount } from "../../fields.ts"
import { argumentBytesMax, tooLongArguments, unusableArguments } from "../../limits.ts"
import { modelFailure, ReplyFault } from "../../reply-fault.ts"
import type { EmitItem, PieceReader } from "../../streamed-items.ts"
import { foreignJson } from "../../transport/foreign-json.ts"
import type { ServerEvent } from "../../transport/sse.ts"
import { failureForEvent } from "./errors.ts"
import { type AnswerTool, answerText } from "./transcript.ts"

/** Reads a reply event by event, as the server streams it. */
interface MessageReading {
  /** Throws ReplyFault when the event cannot be part of a reply, or reports that there will be none. */
  take(event: JsonObject): readonly ModelItem[]
  /** Reports whether the last event was the end of the reply. */
  isOver(): boolean
}

/**
 * Creates a reader that emits text as it arrives. Calls are held until the server says why it stopped: one that was cut
 * off may look complete. Where the answer has a shape, text is held as well, because it is the answer only when the
 * tool was not called.
 */
export function createReading(answerTool: AnswerTool | null): MessageReading {
  const state: State = {
    answerTool,
    blocks: new Map(),
    usage: createUsage(),
    stopReason: null,
    textChars: 0,
    callChars: 0,
    textBlock: null,
    isOver: false,
  }
  return { take: event => take(state, event), isOver: () => state.isOver }
}

interface State {
  readonly answerTool: AnswerTool | null
  readonly blocks: Map<number, Block>
  readonly usage: ReturnType<typeof createUsage>
  stopReason: string | null
  textChars: number
  callChars: number
  /** The last block that had text. */
  textBlock: Block | null
  isOver: boolean
}

function take(state: State, event: JsonObject): readonly ModelItem[] {
  switch (event["type"]) {
    case "message_start":
      return state.usage.add(objectOf(event["message"])?.["usage"])
    case "content_block_start":
      return startBlock(state, event)
    case "content_block_delta":
      return addToBlock(state, event)
    case "content_block_stop":
      openBlock(state, event).isWhole = true
      return []
    case "message_delta":
      state.stopReason = textOrNull(objectOf(event["delta"])?.["stop_reason"]) ?? state.stopReason
      return state.usage.add(event["usage"])
    case "message_stop":
      if (state.stopReason === null) throw unreadable("it ends without saying why")
      state.isOver = true
      return endItems([...state.blocks.values()], state.stopReason, state.answerTool)
    case "error":
      throw new ReplyFault(failureForEvent(event))
    default:
      // Pings, and future event types: the protocol says that unknown events are to be ignored.
      return []
  }
}

function startBlock(state: State, event: JsonObject): readonly ModelItem[] {
  const index = indexOf(event)
  const content = objectOf(event["content_block"])
  if (state.blocks.has(index)) throw unreadable(`block ${index} begins twice`)
  if (state.blocks.size >= blocksMax) throw unreadable(`it has more than ${blocksMax} blocks`)
  const block = blockOf(content)
  state.blocks.set(index, block)
  if (block.call !== null) measure(state, block.call, JSON.stringify(block.call.input))
  return block.kind === "text" ? addText(state, block, textOrNull(content?.["text"]) ?? "") : []
}

function addToBlock(state: State, event: JsonObject): readonly ModelItem[] {
  const block = openBlock(state, event)
  const delta = objectOf(event["delta"])
  if (delta?.["type"] === "text_delta")
    return addText(state, block, required(textOrNull(delta["text"]), "a text"))
  if (delta?.["type"] === "input_json_delta" && block.call !== null) {
    const part = required(textOrNull(delta["partial_json"]), "a part of a call")
    if (!block.call.isTooLong) block.call.json += part
    measure(state, block.call, part)
  }
  return []
}

/**
 * Returns an open block. Throws otherwise: an event was lost or out of order, and the rest would be combined wrongly.
 */
function openBlock({ blocks }: State, event: JsonObject): Block {
  const index = indexOf(event)
  const block = blocks.get(index)
  if (block === undefined || block.isWhole) throw unreadable(`it continues block ${index}, which is not open`)
  return block
}

function addText(state: State, block: Block, text: string): readonly ModelItem[] {
  if (text === "") return []
  if (state.answerTool === null) {
    // Two blocks are two paragraphs; the protocol has nothing between them.
    const isNext = state.textBlock !== null && state.textBlock !== block
    state.textBlock = block
    return [{ kind: "text", text: isNext ? `\n\n${text}` : text }]
  }
  state.textChars += text.length
  if (state.textChars > textCharsMax) throw unreadable(`it is longer than ${textCharsMax} characters`)
  block.text += text
  return []
}

/**
 * Measures a call. For one that is too long the model gets only that problem: the same request again would get the same
 * answer.
 */
function measure(state: State, call: PendingCall, text: string): void {
  call.length += text.length
  state.callChars += call.isTooLong ? 0 : text.length
  if (call.length <= argumentBytesMax && state.callChars <= callCharsMax) return
  Object.assign(call, { isTooLong: true, input: null, json: "" })
}

const blocksMax = 1_000
const textCharsMax = 2_000_000
const callCharsMax = 16_000_000

interface Block {
  /** `text`, `tool_use`, `thinking` or something else. */
  readonly kind: string
  /** Held only where the answer has a shape. */
  text: string
  readonly call: PendingCall | null
  isWhole: boolean
}

interface PendingCall {
  readonly id: string
  readonly tool: string
  /** The input that the block began with; complete in a reply that is not streamed. */
  input: Json
  json: string
  length: number
  /** True when the call is too long, so that its content is dropped. */
  isTooLong: boolean
}

function blockOf(content: JsonObject | null): Block {
  const kind = required(textOrNull(content?.["type"]), "a block's kind")
  if (content === null || kind !== "tool_use") return { kind, text: "", call: null, isWhole: false }
  const id = required(textOrNull(content["id"]) || null, "a call's id")
  const tool = required(textOrNull(content["name"]) || null, "a call's tool")
  const call = { id, tool, input: content["input"] ?? {}, json: "", length: 0, isTooLong: false }
  return { kind, text: "", call, isWhole: false }
}

function endItems(blocks: readonly Block[], reason: string, answerTool: AnswerTool | null): ModelItem[] {
  const end = endOf(reason)
  if (end.kind === "failure") throw new ReplyFault(end.failure)
  if (end.reason === "refused") return [end]
  // The limit cuts off the last block, and the rest of it may be valid JSON by chance.
  const whole = end.reason === "length" && blocks.at(-1)?.call !== null ? blocks.slice(0, -1) : blocks
  if (whole.some(({ call, isWhole }) => call !== null && !isWhole))
    throw unreadable("a call of it has no end")
  const items: ModelItem[] = []
  const answers: string[] = []
  for (const { call } of whole) {
    if (call === null) continue
    const input = inputOf(call)
    if (typeof input === "string") items.push({ kind: "problem", text: input })
    else if (call.tool === answerTool?.name) answers.push(answerText(answerTool, input))
    else items.push({ kind: "call", call: calling(call, input) })
  }
  if (answers.length > 1) items.push({ kind: "problem", text: "the answer was given more than once" })
  const answer = answers[0] ?? whole.map(({ text }) => text).join("")
  if (answer !== "") items.unshift({ kind: "text", text: answer })
  if (end.reason === "calls" && !whole.some(({ call }) => call !== null))
    throw unreadable("it addText that it calls a tool and calls none")
  const isCalling = items.some(({ kind }) => kind === "call") || whole.some(({ call }) => call?.isTooLong)
  return [...items, { kind: "end", reason: reasonOf(end.reason, isCalling) }]
}

/**
 * Derives the reason from the items where it and the stated reason differ: the caller must not wait for the result of a
 * missing call.
 */
function reasonOf(reason: EndReason, isCalling: boolean): EndReason {
  if (reason === "length") return reason
  return isCalling ? "calls" : "stop"
}

type EndReason = Extract<ModelItem, { kind: "end" }>["reason"]

function calling({ id, tool }: PendingCall, input: JsonObject): ModelCall {
  return { id, tool, arguments: input }
}

/** Returns the arguments, or the problem: the protocol only has objects. */
function inputOf({ tool, input, json, isTooLong }: PendingCall): JsonObject | string {
  if (isTooLong) return tooLongArguments(tool)
  const object = json === "" ? objectOf(input) : parsedObject(json)
  if (object === null) return `the arguments of a call of ${JSON.stringify(tool)} are not a JSON object`
  return unusableArguments(tool, object) ?? object
}

function parsedObject(json: string): JsonObject | null {
  try {
    // as: JSON.parse returns JSON.
    return objectOf(JSON.parse(json) as Json)
  } catch {
    // The caller reports to the model that its input is not JSON.
    return null
  }
}

function indexOf({ index }: JsonObject): number {
  if (typeof index !== "number" || !Number.isInteger(index)) throw unreadable("a block has no number")
  return index
}

function required(text: string | null, what: string): string {
  if (text === null) throw unreadable(`${what} is missing`)
  return text
}

function unreadable(why: string): ReplyFault {
  return new ReplyFault(modelFailure("malformed", `the reply cannot be read: ${why}`))
}

/** Reads a streamed reply. */
export function anthropicReplyReader(
  answerTool: AnswerTool | null,
  emit: EmitItem,
): PieceReader<ServerEvent> {
  const reading = createReading(answerTool)
  let broken: unknown = null
  return {
    take: event => {
      if (reading.isOver()) return
      if (broken !== null) throw broken
      let decoded: JsonObject
      try {
        decoded = decodedEvent(event)
      } catch (error) {
        // If it is the last event, the reply was cut off in it; that is only known when nothing follows.
        broken = error
        return
      }
      for (const item of reading.take(decoded)) emit(item)
    },
    end: () => {
      if (reading.isOver()) return
      throw new ReplyFault(modelFailure("truncated", "the reply broke off before its end"))
    },
  }
}

/** Reads a whole reply as if it had been streamed, so that both are interpreted alike. */
export function readAnthropicReply(message: Json, answerTool: AnswerTool | null, emit: EmitItem): void {
  const reading = createReading(answerTool)
  for (const event of eventsOf(message)) for (const item of reading.take(event)) emit(item)
}

function decodedEvent({ event, data }: ServerEvent): JsonObject {
  const decoded = objectOf(foreignJson(data))
  if (decoded === null) throw unreadableEvent("an event is not a JSON object")
  return decoded["type"] === undefined && event !== null ? { ...decoded, type: event } : decoded
}

function* eventsOf(value: Json): Generator<JsonObject> {
  const message = objectOf(value)
  if (message?.["type"] === "error") throw new ReplyFault(failureForEvent(message))
  if (message === null || !Array.isArray(message["content"])) throw unreadableEvent("it is not a message")
  yield { type: "message_start", message }
  for (const [index, block] of message["content"].entries()) {
    yield { type: "content_block_start", index, content_block: block }
    yield { type: "content_block_stop", index }
  }
  yield { type: "message_delta", delta: { stop_reason: message["stop_reason"] ?? null } }
  yield { type: "message_stop" }
}

function unreadableEvent(why: string): ReplyFault {
  return new ReplyFault(modelFailure("malformed", `the reply cannot be read: ${why}`))
}

type ReplyEnd = Extract<ModelItem, { kind: "end" | "failure" }>

/**
 * Returns the end of the reply for a stop reason. An unknown reason is a failure: as an ordinary end it would turn a
 * refusal or half an answer into a result.
 */
export function endOf(stopReason: string): ReplyEnd {
  switch (stopReason) {
    case "end_turn":
    case "stop_sequence":
      return { kind: "end", reason: "stop" }
    case "tool_use":
      return { kind: "end", reason: "calls" }
    case "max_tokens":
      return { kind: "end", reason: "length" }
    case "refusal":
      return { kind: "end", reason: "refused" }
    case "model_context_window_exceeded":
      return failed(
        "contextTooLong",
        "the reply did not fit into the model's window together with the request",
      )
    case "pause_turn":
      return failed("truncated", "the server paused in the middle of the reply")
    default:
      return failed("malformed", `the server stopped for an unknown reason: ${oneLine(stopReason, 60)}`)
  }
}

function failed(kind: ModelFailureKind, message: string): ReplyEnd {
  return { kind: "failure", failure: modelFailure(kind, message) }
}

const inputFields = ["input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"] as const
const fields = [...inputFields, "output_tokens"] as const

/**
 * Sums up the usage that the server reports in several events: each later number replaces the earlier one. Tokens
 * written to the server's cache or read from it are input as well.
 */
export function createUsage(): { add(usage: Json | undefined): readonly ModelItem[] } {
  const counts = new Map<string, number>()
  return {
    add: usage => {
      const reported = objectOf(usage)
      if (reported === null) return []
      let hasCounts = false
      for (const field of fields) {
        const count = tokenCount(reported[field])
        if (count === null) continue
        counts.set(field, count)
        hasCounts = true
      }
      if (!hasCounts) return []
      const input = inputFields.reduce((sum, field) => sum + (counts.get(field) ?? 0), 0)
      return [{ kind: "usage", input, output: counts.get("output_tokens") ?? 0 }]
    },
  }
}
