import type { ProcessIdentity } from "../domain/process-identity.ts"
import type { Recorder } from "../exec/contract.ts"
import type { Store } from "../store/contract.ts"

/** Writes an execution outside a session to the log: two commits, then the anchor. */
export function logRecorder(store: Store, owner: ProcessIdentity): Recorder {
  return {
    started: intent =>
      store.executions.started({
        executionId: intent.id,
        command: intent.command,
        correlationIds: intent.correlationIds,
        sandbox: intent.sandbox,
        owner,
      }),
    finished: (record, outputs) => {
      const recorded = store.executions.settled(record, outputs)
      store.anchor()
      return recorded
    },
  }
}
