import { assert } from "../base/assert.ts"
import type { Clock } from "../base/clock.ts"
import type { ExecutionSettings } from "./contract.ts"

export interface Queue {
  /** Waits for a free slot, first come first served. Never throws. */
  enter(signal?: AbortSignal): Promise<Admission>
}

export type Admission =
  | { readonly kind: "admitted"; readonly queuedMs: number; readonly leave: () => void }
  | { readonly kind: "full" }
  | { readonly kind: "cancelled"; readonly queuedMs: number }

export type QueueLimits = Pick<ExecutionSettings, "concurrentMax" | "queuedMax">

const concurrentCeiling = 16

/** Lets so many executions run at a time and so many wait; more are turned away, so that memory stays bounded. */
export function createQueue({ concurrentMax, queuedMax }: QueueLimits, clock: Clock): Queue {
  assert(concurrentMax >= 1 && concurrentMax <= concurrentCeiling, "1 to 16 executions run at a time")
  // A set keeps the order of arrival and forgets a cancelled waiter without a search.
  const waiting = new Set<() => void>()
  let running = 0

  return {
    enter: signal => {
      if (signal?.aborted) return Promise.resolve({ kind: "cancelled", queuedMs: 0 })
      if (running < concurrentMax) {
        running += 1
        return Promise.resolve({ kind: "admitted", queuedMs: 0, leave: leaveOnce() })
      }
      if (waiting.size >= queuedMax) return Promise.resolve({ kind: "full" })
      return wait(signal)
    },
  }

  function wait(signal?: AbortSignal): Promise<Admission> {
    const since = clock.monotonicMs()
    const queuedMs = () => Math.round(clock.monotonicMs() - since)
    const { promise, resolve } = Promise.withResolvers<Admission>()
    const onAbort = () => {
      waiting.delete(admit)
      resolve({ kind: "cancelled", queuedMs: queuedMs() })
    }
    const admit = () => {
      signal?.removeEventListener("abort", onAbort)
      resolve({ kind: "admitted", queuedMs: queuedMs(), leave: leaveOnce() })
    }
    signal?.addEventListener("abort", onAbort, { once: true })
    waiting.add(admit)
    return promise
  }

  /** The slot goes straight to the next in line: freeing it first would let a newcomer overtake. */
  function leaveOnce(): () => void {
    let hasLeft = false
    return () => {
      assert(!hasLeft, "a slot is left once")
      hasLeft = true
      const [next] = waiting
      if (next === undefined) running -= 1
      else {
        waiting.delete(next)
        next()
      }
    }
  }
}
