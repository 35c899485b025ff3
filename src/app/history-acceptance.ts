import { existsSync, renameSync } from "node:fs"
import { basename, join } from "node:path"
import { withDirectoryLock } from "../config/lock.ts"
import { Failure } from "../domain/failure.ts"
import type { AcceptedHistory } from "../store/contract.ts"
import { othersAnchoredAt } from "../store/log/anchors.ts"
import { hasHistory, noHistory } from "../store/state-directory.ts"
import { userName } from "./user-name.ts"
import type { Wiring } from "./wiring/wire.ts"

/** The code for a missing signing key: without the key no signature of acode can be verified. */
const keyMissing = "ACODE-SEC-001"

/**
 * Accepts a history that does not match its anchors. One whose key is gone cannot be continued: it is kept aside as it
 * is, and a new one begins.
 */
export async function acceptHere(wiring: Wiring, reason: string): Promise<AcceptedHistory> {
  const { workspacesDirectory, databasePath, anchorsDirectory, stateDirectory } = wiring.places
  if (!hasHistory(databasePath) && othersAnchoredAt(anchorsDirectory, stateDirectory, "").length === 0)
    throw noHistory(databasePath)
  const given = { by: userName(), reason }
  try {
    return (await wiring.store()).accept({ ...given, setAside: null })
  } catch (error) {
    const isLost = error instanceof Failure && error.report.code === keyMissing
    if (!isLost || !hasHistory(databasePath)) throw error
  }
  const setAside = await withDirectoryLock(workspacesDirectory, () => moveAside(wiring))
  return (await wiring.store()).accept({ ...given, setAside })
}

function moveAside({ places }: Wiring): string {
  const { stateDirectory, workspacesDirectory } = places
  const keyOf = (count: number) => `${basename(stateDirectory)}.${count}`
  let count = 1
  while (existsSync(join(workspacesDirectory, keyOf(count)))) count += 1
  renameSync(stateDirectory, join(workspacesDirectory, keyOf(count)))
  return keyOf(count)
}
