import type { Clock } from "../base/clock.ts"
import { counted, oneLine } from "../base/text.ts"
import { ToolCallRequested, ToolCallStarted } from "../domain/call-events.ts"
import { dataOf } from "../domain/event-definition.ts"
import { ModelRequested } from "../domain/pipeline/turn-events.ts"
import { subjectText } from "./run-call-lines.ts"

type WatchedEvent = Parameters<typeof dataOf>[1]

/** What a session waits for, and how long already, on the last line of a terminal. */
export interface LiveLine extends Disposable {
  after(event: WatchedEvent): void
  /** Before there is any event: somebody else is in the way. May be said again and again. */
  awaits(whom: string): void
  /** The model has said something more. */
  heard(text: string): void
}

export interface LiveLineParts {
  readonly draw: (text: string | null) => void
  readonly clock: Pick<Clock, "monotonicMs">
  readonly columns: () => number
  /** Calls it again and again until it is told to stop. */
  readonly every: (ms: number, work: () => void) => () => void
}

/** What is over sooner need not be told. */
const patienceMs = 1_000
const redrawMs = 500

export function liveLine({ draw, clock, columns, every }: LiveLineParts): LiveLine {
  const tools = new Map<string, string>()
  let waiting: { readonly what: string; readonly sinceMs: number } | null = null
  let heardCount = 0
  const stop = every(redrawMs, () => {
    if (waiting === null) return
    const waitedMs = clock.monotonicMs() - waiting.sinceMs
    if (waitedMs < patienceMs) return
    const heard = heardCount === 0 ? "" : `, ${counted(heardCount, "character")} so far`
    draw(oneLine(`… ${waiting.what}: ${Math.floor(waitedMs / 1000)} s${heard}`, columns() - 1))
  })
  return {
    after: event => {
      const requested = dataOf(ToolCallRequested, event)
      if (requested !== null)
        tools.set(requested.callId, `${requested.tool} ${subjectText(requested.arguments)}`.trim())
      const what = waitedFor(event, tools)
      waiting = what === null ? null : { what, sinceMs: clock.monotonicMs() }
      heardCount = 0
      draw(null)
    },
    awaits: whom => {
      const what = `waits for ${whom}`
      if (waiting?.what !== what) waiting = { what, sinceMs: clock.monotonicMs() }
    },
    heard: text => {
      heardCount += text.length
    },
    [Symbol.dispose]: () => {
      stop()
      draw(null)
    },
  }
}

/** Null when it is not for long, or for a person, who has a question before them. */
function waitedFor(event: WatchedEvent, tools: Map<string, string>): string | null {
  const asked = dataOf(ModelRequested, event)
  if (asked !== null) {
    const step = asked.stepId === null ? "" : `, step ${asked.stepId}`
    return `${asked.model ?? "the model"} is asked (${asked.stage}${step})`
  }
  const started = dataOf(ToolCallStarted, event)
  if (started === null) return null
  const tool = tools.get(started.callId) ?? "a call"
  tools.delete(started.callId)
  return `${tool} runs`
}
