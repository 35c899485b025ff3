import { ExecutionError } from "../domain/skill/execution-error.ts"

/** Waits; rejects with ABORTED as soon as the signal fires. Leaves no listener behind. */
export function cancellableSleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const aborted = () => {
      clearTimeout(timer)
      reject(new ExecutionError("stopped while waiting", "ABORTED", ""))
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", aborted)
      resolve()
    }, ms)
    if (signal?.aborted === true) aborted()
    else signal?.addEventListener("abort", aborted, { once: true })
  })
}
