import type { Rung } from "../../domain/model-choice.ts"
import { jsonAnswer, parsedJson } from "../../domain/text/json-answer.ts"
import { hasThinkingEnd, thinkingEnds, thinkingStarts, withoutThinking } from "../../domain/text/thinking.ts"
import type { ModelCall, ModelItem, ModelRequest, Provider } from "../contract.ts"
import { ownCallId } from "../limits.ts"
import { failedItem } from "../reply-fault.ts"
import { type CallReading, callsOf } from "./call-shape.ts"
import { readJson, skipSpace } from "./json-text.ts"
import { embeddedCall, printedOpenings, readBlocks, readPrinted } from "./printed-calls.ts"
import { requestWithoutCalls, requestWithoutFormat, requestWithoutTools } from "./rung-request.ts"

/**
 * Wraps a provider so that the model calls tools in the manner of a rung. The caller gets calls as calls on every rung,
 * at the end of a reply, when it is known that the reply was neither cut off nor failed. `refused` is called when the
 * server rejects calls in this manner, before the caller is informed; it must not throw.
 */
export function withRung(
  provider: Provider,
  rung: Rung,
  refused: (signal: AbortSignal) => Promise<void> = async () => undefined,
): Provider {
  const shaped = withPromptedFormat(provider)
  return {
    name: provider.name,
    ask: (request, signal) => {
      if (request.tools.length === 0) {
        const asked = rung === "native" ? request : requestWithoutCalls(request, rung)
        return rung === "text" ? provider.ask(requestWithoutFormat(asked), signal) : shaped.ask(asked, signal)
      }
      // A server that has to force a shape lets no model call a tool.
      const converted = rung === "native" ? { ...request, format: null } : requestWithoutTools(request, rung)
      return reading(provider.ask(converted, signal), request, rung, () => refused(signal))
    },
  }
}

/** More than a reply may have; held calls are not counted elsewhere. */
const callsMax = 1_000

async function* reading(
  items: AsyncIterable<ModelItem>,
  request: ModelRequest,
  rung: Rung,
  refused: () => Promise<void>,
): AsyncGenerator<ModelItem> {
  const held = createHeldText(rung === "text" ? "```tool" : null)
  const calls: ModelCall[] = []
  let shown = ""
  for await (const item of items) {
    switch (item.kind) {
      case "text": {
        const text = held.take(item.text)
        shown += text
        if (text !== "") yield { kind: "text", text }
        break
      }
      case "call":
        calls.push(item.call)
        if (calls.length > callsMax)
          return yield failedItem("malformed", `the reply calls more than ${callsMax} tools at once`)
        break
      case "end":
        // Not delegated with yield*, which would wait for each item twice.
        for (const last of ending({ request, rung, shown, held, calls, reason: item.reason })) yield last
        return
      case "failure":
        yield* texts(held.rest().text)
        // A server cannot refuse a block of text.
        if (item.failure.kind === "badRequest" && rung !== "text") await refused()
        return yield item
      default:
        yield item
    }
  }
  yield* texts(held.rest().text)
}

interface Ended {
  readonly request: ModelRequest
  readonly rung: Rung
  readonly shown: string
  readonly held: HeldText
  readonly calls: readonly ModelCall[]
  readonly reason: Extract<ModelItem, { kind: "end" }>["reason"]
}

function* ending(ended: Ended): Generator<ModelItem> {
  const { request, rung, held, calls, reason } = ended
  const rest = held.rest().text
  const isWhole = reason === "stop" || reason === "calls"
  if (calls.length > 0) {
    yield* texts(rest)
    if (isWhole) for (const call of calls) yield { kind: "call", call }
    else yield problem(`${unfinished(reason)}, so its calls are not made`, rung)
    return yield { kind: "end", reason }
  }
  const found = printedIn(ended)
  if (found.kind === "calls" && isWhole) {
    yield* texts(found.kept ?? "")
    for (const [index, call] of found.calls.entries())
      yield { kind: "call", call: { id: ownCallId(request.replyIndex, index + 1), ...call } }
    return yield { kind: "end", reason: "calls" }
  }
  yield* texts(rest)
  if (found.kind === "problem") yield problem(`nothing was called: ${found.problem}`, rung)
  if (found.kind === "calls") yield problem(`${unfinished(reason)}, so its calls are not made`, rung)
  yield { kind: "end", reason }
}

function unfinished(reason: Ended["reason"]): string {
  return reason === "length" ? "the reply was cut off" : "the reply is a refusal"
}

type TextReading = CallReading & { readonly kept?: string }

/** Returns the calls in the text of a reply. Doubtful ones become a problem instead. */
function printedIn({ request, rung, shown, held }: Ended): TextReading {
  const offered = new Set(request.tools.map(({ name }) => name))
  const { text, isHeld } = held.rest()
  const found = isHeld ? printedInHeld(text, offered, rung) : ({ kind: "none" } as const)
  if (found.kind !== "none") return found
  const answer = withoutThinking(shown + text)
  if (request.format !== null && isJsonAnswer(answer, offered)) return found
  const embedded = embeddedCall(answer, offered)
  if (embedded !== null)
    return { kind: "problem", problem: `a call of ${embedded} is printed inside of other text` }
  if (rung === "constrained") {
    const { problem: misprint } = readJson(answer, skipSpace(answer, 0))
    const where = misprint === undefined ? "" : ` (${misprint})`
    return { kind: "problem", problem: `the answer is not one JSON object that calls a tool${where}` }
  }
  return found
}

/** Returns whether a text is the JSON that a stage may answer with instead of a call. */
function isJsonAnswer(text: string, offered: ReadonlySet<string>): boolean {
  const { json } = jsonAnswer(text)
  const value = json === undefined ? undefined : parsedJson(json)
  return value !== undefined && callsOf(value, offered).kind === "none"
}

function printedInHeld(text: string, offered: ReadonlySet<string>, rung: Rung): TextReading {
  const blocks: TextReading = rung === "text" ? readBlocks(text, offered) : { kind: "none" }
  if (blocks.kind === "none") return readPrinted(text, offered)
  // A server may omit the start of the thinking; calls in it were only considered.
  if (blocks.kind === "calls" && hasThinkingEnd(blocks.kept ?? ""))
    return { kind: "problem", problem: "a call is printed inside of the thinking" }
  return blocks
}

function* texts(text: string): Generator<ModelItem> {
  if (text !== "") yield { kind: "text", text }
}

/** Makes a problem item: what is wrong, and the correct form. */
function problem(text: string, rung: Rung): ModelItem {
  return { kind: "problem", text: `${text}. ${advice[rung]}` }
}

const advice: Readonly<Record<Rung, string>> = {
  native: "Call tools by calling them, without printing the call as text.",
  constrained: 'Answer with {"tool": NAME, "arguments": {…}} and nothing else.',
  text: 'Call a tool with a block of its own: ```tool, then {"tool": NAME, "arguments": {…}} as strict JSON, then ```.',
}

/**
 * Passes the text of a reply through as it arrives, except for a possible call: from a position where a printed call
 * can begin, everything waits for the end of the reply. Such positions are the beginning of the text, the end of the
 * model's thinking, and lines that begin with `blockLine`.
 */
interface HeldText {
  /** Returns the text that can be shown now. */
  take(text: string): string
  /** Returns the text that was not shown, and whether it may be a call. */
  rest(): { readonly text: string; readonly isHeld: boolean }
}

/** Longer than any reply that is read to its end: the caller that collects it has to notice that it is too long. */
const heldMax = 2_000_000

export function createHeldText(blockLine: string | null): HeldText {
  let pending = ""
  let position: Position = "beginning"
  const stops = blockLine === null ? thinkingEnds : [...thinkingEnds, `\n${blockLine}`]
  return {
    take: text => {
      pending += text
      let shown = ""
      for (;;) {
        if (pending.length > heldMax) position = "tooLong"
        const step = steps[position](pending, stops)
        if (step === null) return shown
        shown += pending.slice(0, step.show)
        pending = pending.slice(step.show)
        if (step.position === position) return shown
        position = step.position
      }
    },
    rest: () => ({ text: pending, isHeld: position === "held" }),
  }
}

type Position = "beginning" | "thinking" | "inside" | "held" | "tooLong"

/** Null when more text is needed for a decision. */
type Step = { readonly show: number; readonly position: Position } | null

const steps: Readonly<Record<Position, (pending: string, stops: readonly string[]) => Step>> = {
  beginning: pending => {
    const space = pending.length - pending.trimStart().length
    const start = pending.slice(space, space + 40)
    const thinking = thinkingStarts.find(each => start.startsWith(each))
    if (thinking !== undefined) return { show: space + thinking.length, position: "thinking" }
    if (printedOpenings.some(each => start.startsWith(each))) return { show: 0, position: "held" }
    if ([...thinkingStarts, ...printedOpenings].some(each => each.startsWith(start))) return null
    return { show: 0, position: "inside" }
  },
  // Calls that a model only considers are not made.
  thinking: pending => upToStop("thinking", pending, thinkingEnds),
  inside: (pending, stops) => upToStop("inside", pending, stops),
  held: () => null,
  tooLong: pending => ({ show: pending.length, position: "tooLong" }),
}

function upToStop(position: Position, pending: string, stops: readonly string[]): Step {
  const [first] = stops
    .map(stop => ({ stop, at: pending.indexOf(stop) }))
    .filter(({ at }) => at !== -1)
    .sort((a, b) => a.at - b.at)
  if (first === undefined) return { show: pending.length - startedStop(pending, stops), position }
  return thinkingEnds.includes(first.stop)
    ? { show: first.at + first.stop.length, position: "beginning" }
    : { show: first.at, position: "held" }
}

/** Returns how much of the end of the text may be the beginning of a stop. */
function startedStop(text: string, stops: readonly string[]): number {
  const longest = Math.max(...stops.map(({ length }) => length)) - 1
  for (let length = Math.min(longest, text.length); length > 0; length--)
    if (stops.some(stop => stop.startsWith(text.slice(-length)))) return length
  return 0
}

/**
 * Wraps a provider for a server that may be unable to force a shape: many can call tools and refuse a schema, or this
 * schema. Then the shape is put into the prompt, at once and in later requests. Only a request shows what a server can
 * do there, so it is not probed: probing would cost every model a request and predict nothing about the next schema.
 */
export function withPromptedFormat(provider: Provider): Provider {
  const server = { takesFormats: true }
  return {
    name: provider.name,
    ask: (request, signal) => {
      if (request.format === null) return provider.ask(request, signal)
      if (!server.takesFormats) return provider.ask(requestWithoutFormat(request), signal)
      return forcedOrPrompted(provider, request, signal, () => {
        server.takesFormats = false
      })
    },
  }
}

async function* forcedOrPrompted(
  provider: Provider,
  request: ModelRequest,
  signal: AbortSignal,
  refused: () => void,
): AsyncGenerator<ModelItem> {
  let isFirst = true
  for await (const item of provider.ask(request, signal)) {
    // No item has been yielded yet, so none is yielded twice.
    if (isFirst && isRefusal(item)) return yield* prompted(provider, request, signal, item, refused)
    isFirst = false
    yield item
  }
}

/**
 * Repeats the request without a format. If that is refused too, the format was not the reason, and the first refusal
 * counts.
 */
async function* prompted(
  provider: Provider,
  request: ModelRequest,
  signal: AbortSignal,
  first: ModelItem,
  refused: () => void,
): AsyncGenerator<ModelItem> {
  let isFirst = true
  for await (const item of provider.ask(requestWithoutFormat(request), signal)) {
    if (isFirst && isRefusal(item)) return yield first
    if (isFirst && item.kind !== "failure") refused()
    isFirst = false
    yield item
  }
}

function isRefusal(item: ModelItem): boolean {
  return item.kind === "failure" && item.failure.kind === "badRequest"
}
