import { constants } from "node:os"

/** Turns Ctrl-C, SIGTERM and a closed terminal into an abort, so that the command is ended and recorded first. */
export function interruption() {
  const controller = new AbortController()
  let received: number | null = null
  const listeners = (["SIGINT", "SIGTERM", "SIGHUP"] as const).map(name => {
    const listener = () => {
      received ??= constants.signals[name]
      controller.abort()
    }
    process.on(name, listener)
    return { name, listener }
  })
  return {
    signal: controller.signal,
    abort: () => controller.abort(),
    /** Which signal came first, or null. */
    signalNumber: () => received,
    [Symbol.dispose]: () => {
      for (const { name, listener } of listeners) process.off(name, listener)
    },
  }
}
