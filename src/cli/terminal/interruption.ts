import { constants } from "node:os"
import type { StopCause } from "../../engine/lanes/agent-runner.ts"

const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const

/** Turns Ctrl-C, SIGTERM and a closed terminal into an abort, so that the command is ended and recorded first. */
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
    /** Which signal came first, or null. */
    signalNumber: () => received,
    [Symbol.dispose]: () => listening[Symbol.dispose](),
  }
}

/** Signals stop the work where that leaves nothing half done. A question is not such work: there they end acode. */
export async function stoppable<Result>(work: (stopping: AbortSignal) => Promise<Result>): Promise<Result> {
  using interrupted = interruption()
  // Awaited here: a bare return would stop listening before the work is done.
  return await work(interrupted.signal)
}

/** The same in two steps: the first signal lets what is being done come to its end, the second ends it. */
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
    // Nobody reads at a terminal that was closed, and writing to it would fail.
    if (name !== "SIGHUP") onFirst()
  })
  return {
    drain: drain.signal,
    stop: stop.signal,
    cause: () => cause,
    /** The first step without a signal: nobody reads any more. */
    leave: () => begin("closedOutput"),
    /** The second one. */
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
