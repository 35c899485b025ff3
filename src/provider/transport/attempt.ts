import type { ModelFailure } from "../contract.ts"
import { abortedFailure, modelFailure } from "../failures.ts"
import { ReplyFault } from "../reply-fault.ts"
import type { TransportLimits } from "./contract.ts"

/** One request and its reply: what can stop it, and which of it did. */
export interface Attempt {
  /** Fires when the attempt is over, however it ended. */
  readonly signal: AbortSignal
  /** From now on this limit runs instead of the one before. */
  limit(which: "connectMs" | "firstByteMs" | "betweenMs"): void
  /** Nobody waits for the server now. Only the limit of the whole goes on. */
  pause(): void
  /** The same value, or `ReplyFault` as soon as the attempt is stopped, even if the promise never settles. */
  within<Value>(promise: Promise<Value>): Promise<Value>
  /** Gives back every timer and listener, and ends the connection. */
  end(): void
}

/** Nobody looks at it. Without one an error with its whole stack is made for each request. */
const over = Symbol("over")

/** A timer of more would fire at once. */
const timerMsMax = 2_147_483_647

/**
 * Time and the caller have a way each to stop an attempt, and what came first is remembered: on one common signal a
 * server that is too slow looks like a person who gave up, and would not be asked again.
 */
export function startAttempt(limits: TransportLimits, caller: AbortSignal): Attempt {
  const controller = new AbortController()
  let fault: ReplyFault | null = null
  let onStop: ((fault: ReplyFault) => void) | null = null
  let stage: Timer | undefined
  const stop = (failure: ModelFailure) => {
    fault = new ReplyFault(failure)
    onStop?.(fault)
    end()
  }
  const abort = () => stop(abortedFailure)
  const timer = (which: keyof TransportLimits) =>
    setTimeout(() => stop(timeoutFailure(which, limits[which])), Math.min(limits[which], timerMsMax))
  const whole = timer("wholeMs")
  const end = () => {
    clearTimeout(whole)
    clearTimeout(stage)
    caller.removeEventListener("abort", abort)
    controller.abort(over)
  }
  caller.addEventListener("abort", abort)
  if (caller.aborted) abort()
  return {
    signal: controller.signal,
    limit(which) {
      clearTimeout(stage)
      if (!controller.signal.aborted) stage = timer(which)
    },
    pause: () => clearTimeout(stage),
    within: promise =>
      new Promise((resolve, reject) => {
        if (fault !== null) reject(fault)
        onStop = reject
        promise.then(resolve, reject)
      }),
    end,
  }
}

type Timer = ReturnType<typeof setTimeout>

function timeoutFailure(which: keyof TransportLimits, ms: number): ModelFailure {
  return modelFailure("timeout", `${tooSlow[which]} within ${ms / 1000} s`)
}

const tooSlow: Readonly<Record<keyof TransportLimits, string>> = {
  connectMs: "no connection to the model server",
  firstByteMs: "the model server did not begin to answer",
  betweenMs: "the model server stopped in the middle of its answer and said nothing more",
  wholeMs: "the model server did not finish its answer",
}
