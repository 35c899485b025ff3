/** Waits for a time, or until the signal fires. Passed in, so that a test need not wait. */
export type Wait = (ms: number, signal: AbortSignal) => Promise<void>

export const timerWait: Wait = (ms, signal) => {
  if (ms <= 0 || signal.aborted) return Promise.resolve()
  return new Promise(resolve => {
    const end = () => {
      clearTimeout(timer)
      signal.removeEventListener("abort", end)
      resolve()
    }
    const timer = setTimeout(end, ms)
    signal.addEventListener("abort", end)
  })
}
