import type { ProcessIdentity } from "../domain/process-identity.ts"
import type { Recorder } from "../exec/contract.ts"
import type { Store } from "../store/contract.ts"

/** Writes an execution outside a session to the log: two commits, then the anchor. */
export function logRecorder(store: Store, owner: ProcessIdentity): Recorder {
  return {
    started: ({ id, ...intent }) => store.executions.started({ ...intent, executionId: id, owner }),
    finished: (record, outputs) => {
      const recorded = store.executions.settled(record, outputs)
      store.anchor()
      return recorded
    },
  }
}
