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

/** Shows on the last line of a terminal what a session waits for, and for how long. */
interface LiveLine extends Disposable {
  after(event: WatchedEvent): void
  /** Shows that another session holds the workspace, before the first event. May be called repeatedly. */
  awaits(whom: string): void
  /** Counts another piece of the model's reply. */
  received(text: string): void
}

interface LiveLineParts {
  readonly draw: (text: string | null) => void
  readonly clock: Pick<Clock, "monotonicMs">
  readonly columns: () => number
  /** Calls `work` at an interval until the returned function is called. */
  readonly every: (ms: number, work: () => void) => () => void
  /** Returns what the session waits for after an event; null when the wait is short. */
  readonly waitedFor: (event: WatchedEvent) => AwaitedEvent | null
}

export interface AwaitedEvent {
  readonly what: string
  /** The identity of a wait: its time is counted while the key stays the same. */
  readonly key: string
}

/** The length of a wait before the line appears. */
const patienceMs = 1_000
const redrawMs = 500

export function liveLine({ draw, clock, columns, every, waitedFor }: LiveLineParts): LiveLine {
  let waiting: { readonly wait: AwaitedEvent; readonly sinceMs: number } | null = null
  let receivedCount = 0
  const stop = every(redrawMs, () => {
    if (waiting === null) return
    const waitedMs = clock.monotonicMs() - waiting.sinceMs
    if (waitedMs < patienceMs) return
    const received = receivedCount === 0 ? "" : `, ${counted(receivedCount, "character")} so far`
    draw(oneLine(`… ${waiting.wait.what}: ${Math.floor(waitedMs / 1000)} s${received}`, columns() - 1))
  })
  return {
    after: event => {
      const wait = waitedFor(event)
      if (wait === null) waiting = null
      else if (wait.key !== waiting?.wait.key) waiting = { wait, sinceMs: clock.monotonicMs() }
      else waiting = { ...waiting, wait }
      receivedCount = 0
      draw(null)
    },
    awaits: whom => {
      const what = `waits for ${whom}`
      if (waiting?.wait.key !== what) waiting = { wait: { what, key: what }, sinceMs: clock.monotonicMs() }
    },
    received: text => {
      receivedCount += text.length
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

/** Returns true when output goes to a terminal. */
export function hasLiveLine({ terminal, globals }: CliContext): boolean {
  return terminal.stderr && terminal.stdout && !globals.quiet && !globals.json
}

/** Calls `work` at an interval until the returned function is called; does not keep the process alive. */
export function every(ms: number, work: () => void): () => void {
  const timer = setInterval(work, ms)
  timer.unref()
  return () => clearInterval(timer)
}
