import { Failure } from "../domain/failure.ts"
import { endInterruptedPlan, openCommands } from "../engine/interrupted-session.ts"
import { lastWrites } from "../engine/session-changes.ts"
import { type DrivenSession, driveSession } from "../gate/session-log.ts"
import { endTagged } from "../sandbox/process/survivors.ts"
import type { Store } from "../store/contract.ts"
import { processIdentity } from "../store/process-identity.ts"
import type { SessionSummary } from "../store/session/contract.ts"
import type { OpenWorkspace } from "../workspace/workspace.ts"
import { recordedOutputs } from "./own-outputs.ts"

/** Closes sessions whose process is gone, and records in the log which calls were interrupted. */
export async function recoverSessions(
  { workspace, checkpoints }: OpenWorkspace,
  store: Store,
  interrupted: readonly SessionSummary[],
  ownOutputs: Set<string>,
): Promise<void> {
  for (const { id } of interrupted) {
    const session = tryDrive(store, id)
    // Another process works in this workspace, and may be closing the same sessions.
    if (session === null) return
    try {
      // Another acode that started at the same moment may have closed it first.
      if (store.sessions.find(id)?.exitCode != null) continue
      store.assertGenuine(id)
      const events = store.log.read(id)
      for (const output of recordedOutputs(events)) ownOutputs.add(output)
      for (const executionId of openCommands(events)) await endTagged(executionId)
      const { artifacts, executions } = store
      const laterWrites = laterWritesOf(store, id)
      const parts = { log: session, workspace, checkpoints, artifacts, executions, laterWrites }
      await endInterruptedPlan(parts, events)
      store.anchor()
    } catch (error) {
      // The session stays open and commands about it report why; the rest of the history remains usable.
      if (!(error instanceof Failure && error.report.kind === "integrity")) throw error
    } finally {
      session.release()
    }
  }
}

/** Returns the paths that other sessions wrote after a position in the log, each with the id of that session. */
export function laterWritesOf(
  { sessions, log, artifacts }: Store,
  sessionId: string,
): (position: number) => ReadonlyMap<string, string> {
  return position => {
    const found = new Map<string, string>()
    for (const { id } of sessions.list({}).filter(each => each.id !== sessionId))
      for (const [path, at] of lastWrites(artifacts, log.each(id))) if (at > position) found.set(path, id)
    return found
  }
}

function tryDrive(store: Store, id: string): DrivenSession | null {
  try {
    return driveSession({ log: store.log, leases: store.leases, owner: processIdentity() }, id)
  } catch (error) {
    if (error instanceof Failure) return null
    throw error
  }
}
