import type { NewEvent } from "../domain/event-definition.ts"
import type { OpenCall } from "../domain/pipeline/state.ts"
import type { Certainty } from "../domain/tool-call.ts"
import { marksOf, outcomeWithout, settledEvent } from "../gate/outcome.ts"
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
  const put = looked.settled.certainty === "partly" ? await putBack(parts, call, looked) : null
  parts.faults.reach("agent.restored")
  parts.session.append(put === null ? looked.events : await told(parts, call, looked, put))
}

interface PutBack {
  readonly isBack: boolean
  /** For the person who reads what became of the call. */
  readonly what: string
}

/**
 * Restores what differs from the pre-image and what nothing suggests to be somebody else's; the rest stays as it is,
 * for a person to decide. What is there now is kept first, because nobody can be sure whose a change is. A path of
 * which no copy can be kept stays as well, because nobody could give them their work again.
 */
async function putBack(
  { checkpoints, session, ids }: AgentParts,
  { requested: { callId }, started }: GatedCall,
  { settled, doubts }: Recovered,
): Promise<PutBack | null> {
  const checkpoint = started?.checkpointId == null ? null : checkpoints.load(started.checkpointId)
  if (checkpoint === null) return null
  const doubtful = new Set(doubts.map(({ path }) => path))
  const ours = settled.changes.filter(({ path }) => !doubtful.has(path))
  const expected = new Map(ours.map(({ path, after }) => [path, after]))
  const about = { kind: "recovery" as const, sessionId: session.sessionId, subjectId: callId }
  const keeping = { id: ids.next("chk"), about }
  // With files that stay, nobody can tell whose the directories around them are.
  const directories = doubtful.size > 0 ? [] : (settled.directories ?? [])
  const modes = new Map(directories.map(([path, , mode]) => [path, mode]))
  const done = await checkpoints.restore([{ checkpoint, expected, directories: modes }], keeping, work =>
    session.whileOwned(work),
  )
  const kept =
    done.keptId === null ? "" : `; what was there is kept: \`acode checkpoint restore ${done.keptId}\``
  const left = [
    ...[...doubts, ...done.blocked].map(({ path, reason }) => `${path} (${reason})`),
    ...done.foreign,
  ]
  if (left.length === 0) return { isBack: true, what: `that was put back${kept}` }
  const names = left.slice(0, namesMax).join(", ")
  const more = left.length > namesMax ? ` and ${left.length - namesMax} more` : ""
  return { isBack: false, what: `that was put back but for ${names}${more}${kept}` }
}

const namesMax = 5

/** What was found and what was done about it. What is not back as it was can neither be done again nor be left out. */
async function told(
  parts: RecoveryParts,
  call: GatedCall,
  looked: Recovered,
  put: PutBack,
): Promise<readonly NewEvent[]> {
  const { settled, events, doubts } = await settleInterrupted(parts, call)
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
  const left = { ...marksOf(parts.workspace, settled.changes), doubts }
  return [...events.slice(0, -1), settledEvent(retold, parts.artifacts, true, left)]
}
