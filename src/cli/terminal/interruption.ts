import { constants } from "node:os"
import type { StopCause } from "../../engine/lanes/agent-runner.ts"

const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const

/** Converts Ctrl-C, SIGTERM and a closed terminal to an abort, so that the command is ended and recorded first. */
export function interruption() {
  const controller = new AbortController()
  let received: number | null = null
  const listening = listen(name => {
    received ??= constants.signals[name]
    controller.abort()
  })
  return {
    signal: controller.signal,
    abort: () => controller.abort(),
    /** Returns the first signal; null without one. */
    signalNumber: () => received,
    [Symbol.dispose]: () => listening[Symbol.dispose](),
  }
}

/** Runs work that stops on signals without leaving anything half done. During a question signals end acode. */
export async function stoppable<Result>(work: (stopping: AbortSignal) => Promise<Result>): Promise<Result> {
  using interrupted = interruption()
  // Awaited here: a bare return would stop listening before the work is done.
  return await work(interrupted.signal)
}

/** Handles signals in two steps: the first lets the current request or command finish, the second ends it. */
export function twoStepInterruption(onFirst: () => void) {
  const drain = new AbortController()
  const stop = new AbortController()
  let cause: StopCause | null = null
  const begin = (first: StopCause) => {
    cause ??= first
    drain.abort()
  }
  const listening = listen(name => {
    if (drain.signal.aborted) return stop.abort()
    begin(name)
    // Writing to a closed terminal would fail.
    if (name !== "SIGHUP") onFirst()
  })
  return {
    drain: drain.signal,
    stop: stop.signal,
    cause: () => cause,
    /** Begins the first step without a signal, when the output is closed. */
    leave: () => begin("closedOutput"),
    /** Begins the second step. */
    hurry: () => stop.abort(),
    [Symbol.dispose]: () => listening[Symbol.dispose](),
  }
}

function listen(onSignal: (name: (typeof signals)[number]) => void): Disposable {
  const listeners = signals.map(name => {
    const listener = () => onSignal(name)
    process.on(name, listener)
    return { name, listener }
  })
  return {
    [Symbol.dispose]: () => {
      for (const { name, listener } of listeners) process.off(name, listener)
    },
  }
}
