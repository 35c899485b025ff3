import { shownPath } from "../../base/path-names.ts"
import { counted } from "../../base/text.ts"
import type { NewEvent } from "../../domain/events/definition.ts"
import { Failure } from "../../domain/failure.ts"
import { escalate } from "../../domain/pipeline/escalation.ts"
import type { OpenCall } from "../../domain/pipeline/state.ts"
import type { Certainty } from "../../domain/tool-call.ts"
import { marksOf, outcomeWithout, settledEvent } from "../../gate/outcome.ts"
import {
  type UnsettledCall as GatedCall,
  openCalls,
  type Recovered,
  type RecoveryParts,
  settleInterrupted,
} from "../../gate/recovery.ts"
import type { AgentParts } from "../agent-parts.ts"
import { escalateNow } from "./perform-stages.ts"

/**
 * Settles a call that a dead process left open, so that the session can continue. Files that a tool provably wrote in
 * part are restored first: then the call has not taken place, and can be made again. Files that changed while a
 * command ran may be a person's work: they stay unchanged and are named, the session rests, and the next resume
 * decides about them.
 */
export async function settleForResume(parts: AgentParts, { callId }: OpenCall): Promise<void> {
  const call = openCalls(parts.session.events).find(({ requested }) => requested.callId === callId)
  if (call === undefined) throw new Error(`the call ${callId} is open in the state and not in the log`)
  if (call.executionId !== null) await parts.endExecution(call.executionId)
  const looked = await settleInterrupted(parts, call)
  if (looked.settled.certainty !== "partly") {
    parts.session.append(looked.events)
    return
  }
  const { openCallDecision } = parts.session.state
  if (looked.unattributed.length > 0 && openCallDecision === null) {
    // The command has ended, whatever happens to its call.
    const [, ...commandEnd] = looked.events.toReversed()
    if (commandEnd.length > 0) parts.session.append(commandEnd)
    escalateNow(parts, askedAbout(parts, looked))
    return
  }
  const isAccepted = looked.unattributed.length > 0 && openCallDecision === "accept"
  const put = isAccepted ? leftAsItIs : await putBack(parts, call, looked)
  parts.faults.reach("agent.restored")
  parts.session.append(put === null ? looked.events : await told(parts, call, looked, put))
}

/** Returns the changes that no checkpoint covers, and the files of which it is unknown whether they changed. */
function uncoveredNames({ uncovered }: Recovered["settled"]): readonly string[] {
  if (uncovered == null) return []
  const { paths, count, unwatched } = uncovered
  return [
    ...paths.map(({ path, reason }) => `${shownPath(path)} (${reason})`),
    ...(count > paths.length ? [counted(count - paths.length, "more file")] : []),
    ...unwatched.map(path => `${shownPath(path)} (too large to be watched, so its changes are unknown)`),
  ]
}

/** Names the paths in the question, because nothing is recorded about them before a person decides. */
function askedAbout({ session: { state } }: AgentParts, { unattributed, doubts, settled }: Recovered) {
  const reasons = new Map(doubts.map(({ path, reason }) => [path, ` (${reason})`]))
  const names = listed(unattributed.map(path => `${shownPath(path)}${reasons.get(path) ?? ""}`))
  const uncovered = uncoveredNames(settled)
  const also = uncovered.length === 0 ? "" : `; without a copy, so not restorable: ${listed(uncovered)}`
  return escalate(state.stage?.stage ?? "executor", "Unrecoverable", "undecided", {
    reason:
      `acode ended while the command of call ${settled.callId} ran; these files changed meanwhile or since, by the ` +
      `command or another program, and were not touched: ${names}${also}`,
    advice:
      `${redoAdvice(unattributed, reasons, uncovered)}\`acode resume\` continues with the present files; ` +
      "`acode cancel` ends the session and changes no file",
    status: null,
  })
}

/** Returns advice. If a path stays, the command cannot run again, and no directory is restored. */
function redoAdvice(
  paths: readonly string[],
  reasons: ReadonlyMap<string, string>,
  uncovered: readonly string[],
): string {
  const redo = "`acode resume --redo-command` restores"
  const them = reasons.size === 0 ? `${redo} them` : null
  if (them !== null && uncovered.length === 0)
    return `${them}, keeps a copy of the present files and runs the command again; `
  if (them !== null)
    return `${them} except those without a copy and keeps a copy of the present files, but cannot run the command again; `
  if (paths.every(path => reasons.has(path) || path.endsWith("/"))) return ""
  return `${redo} the files without a reason in brackets and keeps a copy of the present ones, but cannot run the command again; `
}

const leftAsItIs: PutBack = { isBack: false, what: "these changes stay, as a person decided" }

interface PutBack {
  readonly isBack: boolean
  /** The outcome of the call, for the person who reads it. */
  readonly what: string
}

/**
 * Restores what differs from the pre-image and shows no sign of another program; the rest stays for a person to
 * decide. The present files are copied first, because the author of a change is never certain. A path that cannot be
 * copied stays as well, because its content could not be recovered.
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
  // If files stay, the owner of the directories around them is unknown.
  const directories = doubtful.size > 0 ? [] : (settled.directories ?? [])
  const modes = new Map(directories.map(([path, , mode]) => [path, mode]))
  const done = await checkpoints.restore([{ checkpoint, expected, directories: modes }], keeping, work =>
    session.whileOwned(work),
  )
  // The call stays open, and the next process is given the rest to restore.
  if (done.isInterrupted) throw stoppedWhileRestoring()
  const kept =
    done.keptId === null
      ? ""
      : `; the files from before are kept: \`acode checkpoint restore ${done.keptId}\``
  const left = [
    ...[...doubts, ...done.blocked].map(({ path, reason }) => `${shownPath(path)} (${reason})`),
    ...done.foreign.map(shownPath),
    ...uncoveredNames(settled),
  ]
  if (left.length === 0) return { isBack: true, what: `these changes were undone${kept}` }
  if (done.write.length + done.remove.length === 0)
    return { isBack: false, what: `none of these changes was undone: ${listed(left)}` }
  return { isBack: false, what: `these changes were undone except ${listed(left)}${kept}` }
}

function stoppedWhileRestoring(): Failure {
  return new Failure({
    kind: "interrupted",
    code: "ACODE-EXE-009",
    message: "interrupted while the files of the workspace were being restored",
    hint: "run it again if it is still wanted",
  })
}

function listed(names: readonly string[]): string {
  const more = names.length > namesMax ? ` and ${names.length - namesMax} more` : ""
  return `${names.slice(0, namesMax).join(", ")}${more}`
}

const namesMax = 50

/**
 * Returns the settled call with what was found and done about it. A call whose paths were not all restored can
 * neither be made again nor be left out.
 */
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
    executionId,
    paths,
  }
  const left = { ...marksOf(parts.workspace, settled.changes), doubts }
  return [...events.slice(0, -1), settledEvent(retold, parts.artifacts, true, left)]
}
