import type { OpenCall } from "../domain/pipeline/state.ts"
import { type OpenCall as GatedCall, openCalls, settleInterrupted } from "../gate/recovery.ts"
import type { AgentParts } from "./agent-parts.ts"

/**
 * Settles a call that a dead process left open, so that the session can go on. What took place in part is put back
 * first: then it has not taken place, and can be done again. What cannot be known stays unknown, and a person decides.
 */
export async function settleForResume(parts: AgentParts, { callId }: OpenCall): Promise<void> {
  const call = openCalls(parts.session.events).find(({ requested }) => requested.callId === callId)
  if (call === undefined) throw new Error(`the call ${callId} is open in the state and not in the log`)
  if (call.executionId !== null) await parts.endExecution(call.executionId)
  const looked = settleInterrupted(parts, call)
  const isHalfDone = looked.settled.certainty === "partly" && putBack(parts, call)
  parts.faults.reach("agent.restored")
  parts.session.append((isHalfDone ? settleInterrupted(parts, call) : looked).events)
}

/**
 * Puts the pre-image back. Of what is there now a copy is kept, because somebody may have worked on it since the
 * crash: nobody can tell their changes from those of a command that was cut off.
 */
function putBack({ checkpoints, workspace }: AgentParts, { requested, started }: GatedCall): boolean {
  const checkpoint = started?.checkpointId == null ? null : checkpoints.load(started.checkpointId)
  if (checkpoint === null) return false
  if (checkpoint.scope === "tree") checkpoints.takeTree(`${requested.callId}-found`, workspace.tree())
  const { blocked } = checkpoints.restore(checkpoint, null)
  return blocked.length === 0
}
