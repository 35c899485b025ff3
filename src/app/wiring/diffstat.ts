import { type DiffStat, diffStat } from "../../engine/diffstat.ts"
import type { Store } from "../../store/contract.ts"
import { textChanges } from "../../workspace/change/changes.ts"
import type { Wiring } from "./wire.ts"

/** Counts what a session has changed in the workspace so far. */
export async function sessionDiffStat(wiring: Wiring, store: Store, sessionId: string): Promise<DiffStat> {
  const { workspace, checkpoints } = await wiring.workspace()
  const { artifacts, log, executions } = store
  const hasOthers = (from: number, to: number) => executions.hasOthers(sessionId, from, to)
  return diffStat({ workspace, checkpoints, artifacts, hasOthers, changes: textChanges }, log.each(sessionId))
}
