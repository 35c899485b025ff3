import { oneLine } from "../base/text.ts"
import type { ModelCall, ModelFailure, ModelItem, ModelReply } from "./contract.ts"
import { argumentBytesMax, callsMax, tooLongArguments, tooManyCalls, unusableArguments } from "./limits.ts"
import { abortedFailure, modelFailure } from "./reply-fault.ts"

const textBytesMax = 1_000_000
const problemsMax = 50

/**
 * Reads a reply to its end, within bounds: a model that never stops must not fill the memory. Returns as soon as the
 * signal fires, even when the provider does not. Drops the calls of a reply that failed, because they may be
 * incomplete.
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
      // The result of stopping the provider does not matter.
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

/** Adds an item to the reply. Returns a failure when it exceeds a limit, else null. */
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
      // Some servers report usage several times, increasing: the last report counts.
      reading.usage = { input: item.input, output: item.output }
      return null
  }
}

/** Adds a problem once: repeating it does not help a model. */
function takeProblem(problems: string[], text: string): void {
  if (problems.length < problemsMax && !problems.includes(text)) problems.push(text)
}

/**
 * Returns why a call cannot be made; null when it can. The problem is reported to the model and does not fail the
 * reply: the same request again would get the same answer. The other calls are kept, as they are beside a call that
 * fails.
 */
function problemOf(call: ModelCall, before: readonly ModelCall[]): string | null {
  if (before.length >= callsMax) return tooManyCalls
  const tool = oneLine(call.tool, 80)
  // Results are matched to calls by id, and a server that repeats itself must not cause an effect twice.
  if (before.some(({ id }) => id === call.id))
    return `two calls of the reply have the id ${oneLine(call.id, 80)}: the second one, of ${tool}, was not made`
  const unusable = unusableArguments(call.tool, call.arguments)
  if (unusable !== null) return unusable
  return Buffer.byteLength(JSON.stringify(call.arguments)) > argumentBytesMax
    ? tooLongArguments(call.tool)
    : null
}

/** Awaits promises one after the other, each only until the signal fires. */
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
