import type { Rung } from "../../domain/model-choice.ts"
import { hasThinkingEnd, thinkingEnds, thinkingStarts, withoutThinking } from "../../domain/text/thinking.ts"
import type { ModelCall, ModelItem, ModelRequest, Provider } from "../contract.ts"
import { ownCallId } from "../limits.ts"
import { failedItem } from "../reply-fault.ts"
import type { CallReading } from "./call-shape.ts"
import { readJson, skipSpace } from "./json-text.ts"
import { embeddedCall, printedOpenings, readBlocks, readPrinted } from "./printed-calls.ts"
import { requestWithoutFormat, requestWithoutTools } from "./rung-request.ts"

/**
 * The same model, made to call tools in the manner of a rung. Whoever asks sees calls as calls on every rung. They come
 * at the end of a reply, when it is known that it was neither cut off nor failed. `refused` is told when the server
 * will not have calls in this manner, before whoever asks is; it must not throw.
 */
export function withRung(
  provider: Provider,
  rung: Rung,
  refused: (signal: AbortSignal) => Promise<void> = async () => undefined,
): Provider {
  const shaped = withToldFormat(provider)
  return {
    name: provider.name,
    ask: (request, signal) => {
      if (request.tools.length === 0)
        return rung === "text"
          ? provider.ask(requestWithoutFormat(request), signal)
          : shaped.ask(request, signal)
      const asked = rung === "native" ? request : requestWithoutTools(request, rung)
      return reading(provider.ask(asked, signal), request, rung, () => refused(signal))
    },
  }
}

/** More than a reply may have; nobody counts what is held back. */
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
        // Not delegated: that would wait for each of them twice.
        for (const last of ending({ request, rung, shown, held, calls, reason: item.reason })) yield last
        return
      case "failure":
        yield* texts(held.rest().text)
        // A block of text is nothing that a server could refuse.
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

type Found = CallReading & { readonly kept?: string }

/** What the text of a reply calls. Everything that is doubtful is a problem and no call. */
function printedIn({ request, rung, shown, held }: Ended): Found {
  const offered = new Set(request.tools.map(({ name }) => name))
  const { text, isHeld } = held.rest()
  const found = isHeld ? printedInHeld(text, offered, rung) : ({ kind: "none" } as const)
  if (found.kind !== "none") return found
  const said = withoutThinking(shown + text)
  const embedded = embeddedCall(said, offered)
  if (embedded !== null)
    return { kind: "problem", problem: `a call of ${embedded} is printed inside of other text` }
  if (rung === "constrained") {
    const { problem: misprint } = readJson(said, skipSpace(said, 0))
    const where = misprint === undefined ? "" : ` (${misprint})`
    return { kind: "problem", problem: `the answer is not one JSON object that calls a tool${where}` }
  }
  return found
}

function printedInHeld(text: string, offered: ReadonlySet<string>, rung: Rung): Found {
  const blocks: Found = rung === "text" ? readBlocks(text, offered) : { kind: "none" }
  if (blocks.kind === "none") return readPrinted(text, offered)
  // A server may leave out where the thinking begins; calls in it were only considered.
  if (blocks.kind === "calls" && hasThinkingEnd(blocks.kept ?? ""))
    return { kind: "problem", problem: "a call is printed inside of the thinking" }
  return blocks
}

function* texts(text: string): Generator<ModelItem> {
  if (text !== "") yield { kind: "text", text }
}

/** Says what is wrong, and what would be right. */
function problem(text: string, rung: Rung): ModelItem {
  return { kind: "problem", text: `${text}. ${advice[rung]}` }
}

const advice: Readonly<Record<Rung, string>> = {
  native: "Call tools by calling them, without printing the call as text.",
  constrained: 'Answer with {"tool": NAME, "arguments": {…}} and nothing else.',
  text: 'Call a tool with a block of its own: ```tool, then {"tool": NAME, "arguments": {…}} as strict JSON, then ```.',
}

/**
 * Lets the text of a reply through as it comes, except for what may turn out to be a call: from a place on where a
 * printed call can begin, everything waits for the end of the reply. Such places are the beginning of the text, what
 * comes behind the thinking of a model, and the lines that `blockLine` is the beginning of.
 */
interface HeldText {
  /** What can be shown now. */
  take(text: string): string
  /** What was not shown, and whether it may be a call. */
  rest(): { readonly text: string; readonly isHeld: boolean }
}

/** Longer than any reply that is read to its end: whoever collects it has to see that it is too long. */
const heldMax = 2_000_000

export function createHeldText(blockLine: string | null): HeldText {
  let pending = ""
  let place: Place = "beginning"
  const stops = blockLine === null ? thinkingEnds : [...thinkingEnds, `\n${blockLine}`]
  return {
    take: text => {
      pending += text
      let shown = ""
      for (;;) {
        if (pending.length > heldMax) place = "tooLong"
        const step = steps[place](pending, stops)
        if (step === null) return shown
        shown += pending.slice(0, step.show)
        pending = pending.slice(step.show)
        if (step.place === place) return shown
        place = step.place
      }
    },
    rest: () => ({ text: pending, isHeld: place === "held" }),
  }
}

type Place = "beginning" | "thinking" | "inside" | "held" | "tooLong"

/** Null when more has to come before anything can be said. */
type Step = { readonly show: number; readonly place: Place } | null

const steps: Readonly<Record<Place, (pending: string, stops: readonly string[]) => Step>> = {
  beginning: pending => {
    const space = pending.length - pending.trimStart().length
    const start = pending.slice(space, space + 40)
    const thinking = thinkingStarts.find(each => start.startsWith(each))
    if (thinking !== undefined) return { show: space + thinking.length, place: "thinking" }
    if (printedOpenings.some(each => start.startsWith(each))) return { show: 0, place: "held" }
    if ([...thinkingStarts, ...printedOpenings].some(each => each.startsWith(start))) return null
    return { show: 0, place: "inside" }
  },
  // Calls that a model only considers are not made.
  thinking: pending => upToStop("thinking", pending, thinkingEnds),
  inside: (pending, stops) => upToStop("inside", pending, stops),
  held: () => null,
  tooLong: pending => ({ show: pending.length, place: "tooLong" }),
}

function upToStop(place: Place, pending: string, stops: readonly string[]): Step {
  const [first] = stops
    .map(stop => ({ stop, at: pending.indexOf(stop) }))
    .filter(({ at }) => at !== -1)
    .sort((a, b) => a.at - b.at)
  if (first === undefined) return { show: pending.length - startedStop(pending, stops), place }
  return thinkingEnds.includes(first.stop)
    ? { show: first.at + first.stop.length, place: "beginning" }
    : { show: first.at, place: "held" }
}

/** How much of the end of the text may be the beginning of a stop. */
function startedStop(text: string, stops: readonly string[]): number {
  const longest = Math.max(...stops.map(({ length }) => length)) - 1
  for (let length = Math.min(longest, text.length); length > 0; length--)
    if (stops.some(stop => stop.startsWith(text.slice(-length)))) return length
  return 0
}

/**
 * The same model, for a server that may be unable to force a shape: many can call tools and refuse a schema, or this
 * schema. Then the model is told the shape, at once and from then on. What a server can do there is seen only when it
 * is asked, so it is not tried out: it would cost every model a request, and say nothing about the next schema.
 */
export function withToldFormat(provider: Provider): Provider {
  const server = { takesFormats: true }
  return {
    name: provider.name,
    ask: (request, signal) => {
      if (request.format === null) return provider.ask(request, signal)
      if (!server.takesFormats) return provider.ask(requestWithoutFormat(request), signal)
      return forcedOrTold(provider, request, signal, () => {
        server.takesFormats = false
      })
    },
  }
}

async function* forcedOrTold(
  provider: Provider,
  request: ModelRequest,
  signal: AbortSignal,
  refused: () => void,
): AsyncGenerator<ModelItem> {
  let isFirst = true
  for await (const item of provider.ask(request, signal)) {
    // Nothing has been said yet, so nothing is said twice.
    if (isFirst && isRefusal(item)) return yield* told(provider, request, signal, item, refused)
    isFirst = false
    yield item
  }
}

/** Where it is refused without a format too, the format was not why, and the first refusal is what counts. */
async function* told(
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
