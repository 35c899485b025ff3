import type { Clock } from "../../base/clock.ts"
import { counted, oneLine } from "../../base/text.ts"
import { ToolCallRequested, ToolCallStarted } from "../../domain/events/call-events.ts"
import { dataOf } from "../../domain/events/definition.ts"
import { StepFinished } from "../../domain/events/session-events.ts"
import { TaskAsked, TaskReplied } from "../../domain/events/skill-events.ts"
import { ModelRequested } from "../../domain/events/turn-events.ts"
import type { CliContext } from "../context.ts"
import { subjectText } from "./call-lines.ts"

type WatchedEvent = Parameters<typeof dataOf>[1]

/** What a session waits for, and how long already, on the last line of a terminal. */
interface LiveLine extends Disposable {
  after(event: WatchedEvent): void
  /** Before there is any event: somebody else is in the way. May be said again and again. */
  awaits(whom: string): void
  /** The model has said something more. */
  heard(text: string): void
}

interface LiveLineParts {
  readonly draw: (text: string | null) => void
  readonly clock: Pick<Clock, "monotonicMs">
  readonly columns: () => number
  /** Calls it again and again until it is told to stop. */
  readonly every: (ms: number, work: () => void) => () => void
  /** Returns what is waited for after an event; null when it is nothing that takes long. */
  readonly waitedFor: (event: WatchedEvent) => AwaitedEvent | null
}

export interface AwaitedEvent {
  readonly what: string
  /** The time of a wait goes on as long as this stays the same. */
  readonly key: string
}

/** What is over sooner need not be told. */
const patienceMs = 1_000
const redrawMs = 500

export function liveLine({ draw, clock, columns, every, waitedFor }: LiveLineParts): LiveLine {
  let waiting: { readonly wait: AwaitedEvent; readonly sinceMs: number } | null = null
  let heardCount = 0
  const stop = every(redrawMs, () => {
    if (waiting === null) return
    const waitedMs = clock.monotonicMs() - waiting.sinceMs
    if (waitedMs < patienceMs) return
    const heard = heardCount === 0 ? "" : `, ${counted(heardCount, "character")} so far`
    draw(oneLine(`… ${waiting.wait.what}: ${Math.floor(waitedMs / 1000)} s${heard}`, columns() - 1))
  })
  return {
    after: event => {
      const wait = waitedFor(event)
      if (wait === null) waiting = null
      else if (wait.key !== waiting?.wait.key) waiting = { wait, sinceMs: clock.monotonicMs() }
      else waiting = { ...waiting, wait }
      heardCount = 0
      draw(null)
    },
    awaits: whom => {
      const what = `waits for ${whom}`
      if (waiting?.wait.key !== what) waiting = { wait: { what, key: what }, sinceMs: clock.monotonicMs() }
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

/** Returns what a session waits for after each event: a model, or a tool. */
export function sessionWaits(): LiveLineParts["waitedFor"] {
  const tools = new Map<string, string>()
  return event => {
    const requested = dataOf(ToolCallRequested, event)
    if (requested !== null)
      tools.set(requested.callId, `${requested.tool} ${subjectText(requested.arguments)}`.trim())
    const asked = dataOf(ModelRequested, event)
    if (asked !== null) {
      const step = asked.stepId === null ? "" : `, step ${asked.stepId}`
      const what = `${asked.model ?? "the model"} is asked (${asked.stage}${step})`
      return { what, key: `${what} ${asked.turn}` }
    }
    const started = dataOf(ToolCallStarted, event)
    if (started === null) return null
    const tool = tools.get(started.callId) ?? "a call"
    tools.delete(started.callId)
    return { what: `${tool} runs`, key: started.callId }
  }
}

/** Returns what tasks wait for after each event: the request that was sent first, and how many beside it. */
export function taskWaits(): LiveLineParts["waitedFor"] {
  const asked = new Map<string, AwaitedEvent>()
  return event => {
    const request = dataOf(TaskAsked, event)
    if (request !== null) {
      const { index, attempt, model, taskId } = request
      const again = attempt === 1 ? "" : `, attempt ${attempt}`
      asked.set(`${index}`, { what: `${model} is asked (${taskId}${again})`, key: `${index}/${attempt}` })
    }
    const ended = dataOf(TaskReplied, event) ?? dataOf(StepFinished, event)
    if (ended !== null) asked.delete(`${ended.index}`)
    const [oldest] = asked.values()
    if (oldest === undefined) return null
    const others = asked.size - 1
    return others === 0 ? oldest : { ...oldest, what: `${oldest.what} and ${counted(others, "other task")}` }
  }
}

/** Returns true where a person watches a terminal. */
export function hasLiveLine({ terminal, globals }: CliContext): boolean {
  return terminal.stderr && terminal.stdout && !globals.quiet && !globals.json
}

/** Calls `work` again and again until the returned function is called; never keeps the process alive. */
export function every(ms: number, work: () => void): () => void {
  const timer = setInterval(work, ms)
  timer.unref()
  return () => clearInterval(timer)
}
