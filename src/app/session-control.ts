import { newEvent } from "../domain/events/definition.ts"
import { type Control, ControlRequested, controlStreamOf } from "../domain/events/pipeline-events.ts"
import { Failure } from "../domain/failure.ts"
import type { ControlRequest } from "../engine/agent-parts.ts"
import type { Store } from "../store/contract.ts"
import { isProcessAlive, processIdentity } from "../store/process-identity.ts"
import type { SessionSummary } from "../store/session/contract.ts"

/** Records a request to pause or cancel, which the process that drives the session reads from the log. */
export function requestControl(
  { log, leases }: Store,
  sessionId: string,
  control: Control,
  origin: { readonly by: string; readonly reason: string },
): void {
  const stream = controlStreamOf(sessionId)
  const lease = leases.acquire(stream, processIdentity())
  if (lease === null) throw busy(sessionId)
  try {
    const seq = log.read(stream).at(-1)?.seq ?? 0
    log.append(stream, seq, lease.epoch, [newEvent(ControlRequested, { sessionId, control, ...origin })])
  } finally {
    leases.release(lease)
  }
}

/** Returns a reader of the latest request since now: requests to an earlier driver of the session are ignored. */
export function controlsFrom({ log }: Store, sessionId: string): () => ControlRequest | null {
  const stream = controlStreamOf(sessionId)
  const seen = log.read(stream).at(-1)?.seq ?? 0
  return () => {
    const last = log.read(stream, seen).at(-1)
    // as: written by this very definition.
    return last === undefined ? null : (last.data as unknown as ControlRequest)
  }
}

/** Returns whether a live process works on a session. */
export function isDriven({ exitCode, owner }: Pick<SessionSummary, "exitCode" | "owner">): boolean {
  return exitCode === null && isProcessAlive(owner)
}

function busy(sessionId: string): Failure {
  return new Failure({
    kind: "general",
    code: "ACODE-ORCH-008",
    message: "another process is sending a request to this session right now",
    where: sessionId,
    hint: "try again",
  })
}
