import { oneLine } from "../base/text.ts"
import type { ModelCall, ModelFailure, ModelItem, ModelReply } from "./contract.ts"
import { argumentBytesMax, callsMax, tooLongArguments, tooManyCalls, unusableArguments } from "./limits.ts"
import { abortedFailure, modelFailure } from "./reply-fault.ts"

const textBytesMax = 1_000_000
const problemsMax = 50

/**
 * Reads a reply to its end, within bounds: a model that never stops must not fill the memory. It returns as soon as the
 * signal fires, also when the provider does not. Calls of a reply that failed are dropped, for they may be half of what
 * was meant.
 */
export async function collect(
  items: AsyncIterable<ModelItem>,
  signal: AbortSignal,
  onText?: (text: string) => void,
): Promise<ModelReply> {
  const iterator = items[Symbol.asyncIterator]()
  const reading: Reading = {
    parts: [],
    textBytes: 0,
    calls: [],
    problems: [],
    usage: { input: 0, output: 0 },
  }
  using waiting = waitingUnder(signal)
  for (;;) {
    const step = signal.aborted ? "aborted" : await waiting.for(iterator.next())
    if (step === "aborted") {
      // Nobody waits for a provider that was told to stop, nor for how it takes it.
      iterator.return?.().catch(() => undefined)
      return replyOf(reading, abortedFailure)
    }
    if (step.done === true)
      return replyOf(reading, modelFailure("truncated", "the reply broke off without an end"))
    const { value: item } = step
    if (item.kind === "end") {
      await iterator.return?.()
      return { ...replyOf(reading, null), end: item.reason }
    }
    const failure = item.kind === "failure" ? item.failure : take(reading, item)
    if (failure !== null) {
      await iterator.return?.()
      return replyOf(reading, failure)
    }
    if (item.kind === "text") onText?.(item.text)
  }
}

interface Reading {
  readonly parts: string[]
  textBytes: number
  readonly calls: ModelCall[]
  readonly problems: string[]
  usage: ModelReply["usage"]
}

function replyOf({ parts, calls, problems, usage }: Reading, failure: ModelFailure | null): ModelReply {
  const text = parts.join("")
  return { text, calls: failure === null ? calls : [], problems, usage, failure, end: null }
}

/** Null when there was room for it. */
function take(reading: Reading, item: Exclude<ModelItem, { kind: "end" | "failure" }>): ModelFailure | null {
  switch (item.kind) {
    case "text":
      reading.textBytes += Buffer.byteLength(item.text)
      if (reading.textBytes > textBytesMax)
        return modelFailure("malformed", `the reply is longer than ${textBytesMax} bytes`)
      reading.parts.push(item.text)
      return null
    case "call": {
      const problem = problemOf(item.call, reading.calls)
      if (problem === null) reading.calls.push(item.call)
      else takeProblem(reading.problems, problem)
      return null
    }
    case "problem":
      takeProblem(reading.problems, item.text)
      return null
    case "usage":
      // Some servers tell it several times, growing: the last word counts.
      reading.usage = { input: item.input, output: item.output }
      return null
  }
}

/** The same words again tell a model nothing more. */
function takeProblem(problems: string[], text: string): void {
  if (problems.length < problemsMax && !problems.includes(text)) problems.push(text)
}

/**
 * Why a call cannot be made; null when it can. It is for the model to know, and no reason to fail the reply: the same
 * request again would be answered in the same way. The other calls stay, as they do beside a call that fails.
 */
function problemOf(call: ModelCall, before: readonly ModelCall[]): string | null {
  if (before.length >= callsMax) return tooManyCalls
  const tool = oneLine(call.tool, 80)
  // Results are matched to calls by it, and a server that repeats itself must not have a thing done twice.
  if (before.some(({ id }) => id === call.id))
    return `two calls of the reply have the id ${oneLine(call.id, 80)}: the second one, of ${tool}, was not made`
  const unusable = unusableArguments(call.tool, call.arguments)
  if (unusable !== null) return unusable
  return Buffer.byteLength(JSON.stringify(call.arguments)) > argumentBytesMax
    ? tooLongArguments(call.tool)
    : null
}

/** Waits for one thing after the other, each time no longer than until the signal fires. */
function waitingUnder(signal: AbortSignal) {
  let stop: (step: "aborted") => void = () => undefined
  const fire = () => stop("aborted")
  signal.addEventListener("abort", fire)
  return {
    for: <Value>(promise: Promise<Value>): Promise<Value | "aborted"> =>
      new Promise((resolve, reject) => {
        stop = resolve
        promise.then(resolve, reject)
      }),
    [Symbol.dispose]: () => signal.removeEventListener("abort", fire),
  }
}
