import { type Clock, toIso } from "../base/clock.ts"
import {
  type ExternalCall,
  type ExternalCalls,
  externalCallLines,
  noExternalCalls,
} from "../domain/external-calls.ts"
import type { ExternalCallLog } from "../provider/transport/contract.ts"

/** Collects the requests that left this machine until they are recorded or printed. */
export interface CollectedCalls extends ExternalCallLog {
  /** Returns the calls since the last `take`, as the member of an event; no member when there were none. */
  take(): { readonly externalCalls?: ExternalCalls }
}

/** The most calls that one event lists. */
const callsMax = 100

const nothing = {}

export function externalCallLog(clock: Pick<Clock, "now">): CollectedCalls {
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
      // Copied: the outcome of a call that continues must not change the record.
      const externalCalls = { calls: calls.map(call => ({ ...call })), omittedCount }
      calls = []
      omittedCount = 0
      return { externalCalls }
    },
  }
}

/** Prints calls that no event records, because no session began. */
export function printCalls(
  { externalCalls = noExternalCalls }: ReturnType<CollectedCalls["take"]>,
  notice: (text: string) => void,
): void {
  for (const line of externalCallLines(externalCalls)) notice(line)
}
