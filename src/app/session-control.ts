import { newEvent } from "../domain/events/definition.ts"
import { type Control, ControlRequested, controlStreamOf } from "../domain/events/pipeline-events.ts"
import { Failure } from "../domain/failure.ts"
import type { ControlRequest } from "../engine/agent-parts.ts"
import type { Store } from "../store/contract.ts"
import { processIdentity } from "../store/process-identity.ts"

/** Leaves word for the process that drives a session. */
export function requestControl(
  { log, leases }: Store,
  sessionId: string,
  control: Control,
  told: { readonly by: string; readonly reason: string },
): void {
  const stream = controlStreamOf(sessionId)
  const lease = leases.acquire(stream, processIdentity())
  if (lease === null) throw busy(sessionId)
  try {
    const seq = log.read(stream).at(-1)?.seq ?? 0
    log.append(stream, seq, lease.epoch, [newEvent(ControlRequested, { sessionId, control, ...told })])
  } finally {
    leases.release(lease)
  }
}

/** What was asked for since this was made; nothing that was meant for an earlier driver. */
export function controlsFrom({ log }: Store, sessionId: string): () => ControlRequest | null {
  const stream = controlStreamOf(sessionId)
  const seen = log.read(stream).at(-1)?.seq ?? 0
  return () => {
    const last = log.read(stream, seen).at(-1)
    // as: written by this very definition.
    return last === undefined ? null : (last.data as unknown as ControlRequest)
  }
}

function busy(sessionId: string): Failure {
  return new Failure({
    kind: "general",
    code: "ACODE-ORCH-008",
    message: "somebody else is just leaving word for this session",
    where: sessionId,
    hint: "try again",
  })
}
