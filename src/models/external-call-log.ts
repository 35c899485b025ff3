import { type Clock, toIso } from "../base/clock.ts"
import {
  type ExternalCall,
  type ExternalCalls,
  externalCallLines,
  noExternalCalls,
} from "../domain/external-calls.ts"
import type { ExternalCallLog } from "../provider/transport/contract.ts"

/** Keeps what left this machine until somebody records or tells it. */
export interface KeptCalls extends ExternalCallLog {
  /** What was kept since it was last taken, as the member of an event that it is; no member when there was nothing. */
  take(): { readonly externalCalls?: ExternalCalls }
}

/** As many as one event lists. */
const callsMax = 100

const nothing = {}

export function externalCallLog(clock: Pick<Clock, "now">): KeptCalls {
  let calls: ExternalCall[] = []
  let omittedCount = 0
  return {
    began(method, url) {
      const call: ExternalCall = { at: toIso(clock.now()), method, url, status: null, failure: null }
      if (calls.length < callsMax) calls.push(call)
      else omittedCount += 1
      return (status, failure) => {
        call.status = status
        call.failure = failure
      }
    },
    take() {
      if (calls.length === 0) return nothing
      // Copied: what comes of a call that nobody waits for must not change what is recorded.
      const externalCalls = { calls: calls.map(call => ({ ...call })), omittedCount }
      calls = []
      omittedCount = 0
      return { externalCalls }
    },
  }
}

/** For calls that no event records: nothing was begun. */
export function tellCalls(
  { externalCalls = noExternalCalls }: ReturnType<KeptCalls["take"]>,
  notice: (text: string) => void,
): void {
  for (const line of externalCallLines(externalCalls)) notice(line)
}
