import type { Rung } from "../../domain/model-choice.ts"
import { hasThinkingEnd, withoutThinking } from "../../domain/thinking.ts"
import { ownCallId } from "../call-id.ts"
import type { ModelCall, ModelItem, ModelRequest, Provider } from "../contract.ts"
import { failed } from "../failures.ts"
import type { CallReading } from "./call-shape.ts"
import { createHeldText, type HeldText } from "./held-text.ts"
import { readJson, skipSpace } from "./json-text.ts"
import { embeddedCall, readBlocks, readPrinted } from "./printed-calls.ts"
import { requestWithoutFormat, requestWithoutTools } from "./rung-request.ts"
import { withToldFormat } from "./told-format.ts"

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
          return yield failed("malformed", `the reply calls more than ${callsMax} tools at once`)
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
