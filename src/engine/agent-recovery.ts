import type { NewEvent } from "../domain/event-definition.ts"
import type { OpenCall } from "../domain/pipeline/state.ts"
import type { Certainty } from "../domain/tool-call.ts"
import { outcomeWithout, settledEvent } from "../gate/outcome.ts"
import {
  type OpenCall as GatedCall,
  openCalls,
  type Recovered,
  type RecoveryParts,
  settleInterrupted,
} from "../gate/recovery.ts"
import type { AgentParts } from "./agent-parts.ts"

/**
 * Settles a call that a dead process left open, so that the session can go on. What took place in part is put back
 * first: then it has not taken place, and can be done again. What cannot be known stays unknown, and a person decides.
 */
export async function settleForResume(parts: AgentParts, { callId }: OpenCall): Promise<void> {
  const call = openCalls(parts.session.events).find(({ requested }) => requested.callId === callId)
  if (call === undefined) throw new Error(`the call ${callId} is open in the state and not in the log`)
  if (call.executionId !== null) await parts.endExecution(call.executionId)
  const looked = await settleInterrupted(parts, call)
  const put = looked.settled.certainty === "partly" ? await putBack(parts, call) : null
  parts.faults.reach("agent.restored")
  parts.session.append(put === null ? looked.events : await told(parts, call, looked, put))
}

interface PutBack {
  readonly isBack: boolean
  /** For the person who reads what became of the call. */
  readonly what: string
}

/**
 * Puts the pre-image back. Of what is there now a copy is kept, because somebody may have worked on it since the
 * crash: nobody can tell their changes from those of a command that was cut off. Where no copy can be kept nothing is
 * put back, because nobody could give them their work again.
 */
async function putBack(
  { checkpoints, workspace, session, ids }: AgentParts,
  { requested, started }: GatedCall,
): Promise<PutBack | null> {
  const checkpoint = started?.checkpointId == null ? null : checkpoints.load(started.checkpointId)
  if (checkpoint === null) return null
  let kept = ""
  if (checkpoint.scope === "tree") {
    const name = `${requested.callId}-found`
    // Another one each time: where a recovery was cut off, the first copy has what is not there any more.
    const { checkpoint: found } = await checkpoints.takeTree(
      `${name}-${ids.next("rec")}`,
      await workspace.tree(),
    )
    const { remove, write } = await checkpoints.plan(checkpoint, null)
    const lost = [...remove, ...write.map(({ path }) => path)].filter(path => found.uncovered.has(path))
    if (lost.length > 0)
      return {
        isBack: false,
        what: `nothing was put back, because no copy of ${lost.join(", ")} could be kept`,
      }
    kept = `; a copy of what was there is kept in .agent/checkpoints/manifests/${name}-*`
  }
  const { blocked } = await checkpoints.restore(checkpoint, null, work => session.whileOwned(work))
  if (blocked.length === 0) return { isBack: true, what: `that was put back${kept}` }
  const names = blocked.slice(0, namesMax).map(({ path, reason }) => `${path} (${reason})`)
  const more = blocked.length > names.length ? ` and ${blocked.length - names.length} more` : ""
  return { isBack: false, what: `that was put back but for ${names.join(", ")}${more}${kept}` }
}

const namesMax = 5

/** What was found and what was done about it. What is not back as it was can neither be done again nor be left out. */
async function told(
  parts: RecoveryParts,
  call: GatedCall,
  looked: Recovered,
  put: PutBack,
): Promise<readonly NewEvent[]> {
  const { settled, events } = await settleInterrupted(parts, call)
  const { error } = looked.settled
  if (error === null) throw new Error("an interrupted call says what was found")
  const certainty: Certainty = put.isBack ? settled.certainty : "unknown"
  const cause = certainty === "unknown" ? "unknown" : "failed"
  const more = { ...error, message: `${error.message}; ${put.what}` }
  const { executionId, paths } = settled
  const retold = {
    ...settled,
    ...outcomeWithout({ outcome: "interrupted", certainty, cause, error: more }, settled),
    ...{ executionId, paths },
  }
  return [...events.slice(0, -1), settledEvent(retold, parts.artifacts, true)]
}
