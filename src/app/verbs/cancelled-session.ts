import { type NewEvent, newEvent } from "../../domain/events/definition.ts"
import { SessionCancelled } from "../../domain/events/pipeline-events.ts"
import { SessionFinished } from "../../domain/events/session-events.ts"
import { exitCodes } from "../../domain/exit-codes.ts"
import { openCommands } from "../../engine/interrupted-session.ts"
import { openCalls, settleInterrupted } from "../../gate/recovery.ts"
import type { DrivenSession } from "../../gate/session-log.ts"
import { endTagged } from "../../sandbox/process/survivors.ts"
import type { Store } from "../../store/contract.ts"
import { recordedOutputs } from "../own-outputs.ts"
import { laterWritesOf } from "../session-recovery.ts"
import type { Wiring } from "../wiring/wire.ts"

/** Cancels a session that no process drives: settles its open call, and does nothing more. */
export async function endCancelled(
  wiring: Wiring,
  store: Store,
  session: DrivenSession,
  told: { readonly by: string; readonly reason: string },
): Promise<void> {
  const { log, artifacts, executions } = store
  const { workspace, checkpoints } = await wiring.workspace()
  const events = log.read(session.sessionId)
  for (const output of recordedOutputs(events)) wiring.ownOutputs.add(output)
  for (const id of openCommands(events)) await endTagged(id)
  const laterWrites = laterWritesOf(store, session.sessionId)
  const parts = { workspace, checkpoints, artifacts, executions, laterWrites }
  const settled: NewEvent[] = []
  for (const call of openCalls(events)) settled.push(...(await settleInterrupted(parts, call)).events)
  const { digest } = await workspace.tree()
  session.append([
    ...settled,
    newEvent(SessionCancelled, told),
    newEvent(SessionFinished, {
      state: "CANCELLED",
      reason: `cancelled by ${told.by}: ${told.reason}`,
      exitCode: exitCodes.cancelled.code,
      code: "ACODE-ORCH-007",
      unverified: true,
      treeDigest: digest,
      wallMs: 0,
      toolMs: 0,
      waitMs: 0,
    }),
  ])
}
