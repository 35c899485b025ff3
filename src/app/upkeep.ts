import { chmodSync, lstatSync, rmSync } from "node:fs"
import { join } from "node:path"
import type { Store } from "../store/contract.ts"
import type { Checkpoints } from "../workspace/checkpoint/contract.ts"
import { toCheckpointSettings, toStorageSettings } from "./config-settings.ts"
import { neededBy, oldestFirst, unlessImpossible } from "./kept-copies.ts"
import { bytesAt, namesIn, storageUse } from "./storage-use.ts"
import type { Wiring } from "./wire.ts"

/** Removes what dead processes left half written. The caller holds the workspace. */
export async function sweepOrphans(wiring: Wiring): Promise<void> {
  const store = await wiring.store()
  const { checkpoints } = await wiring.workspace()
  unlessImpossible(() => {
    checkpoints.sweep()
    store.upkeep.sweep()
  })
}

/**
 * At the end of a session: removes copies for undo and quarantined files that are too old, then the oldest of them
 * while all that is kept takes more than it may. The caller holds the workspace. `notice` is told when that does not
 * help.
 */
export async function tidyUp(wiring: Wiring, notice: (text: string) => void): Promise<void> {
  const store = await wiring.store()
  const { checkpoints } = await wiring.workspace()
  const { values } = await wiring.config()
  const { undoMs } = toCheckpointSettings(values)
  const { totalBytesMax, quarantineMs } = toStorageSettings(values)
  unlessImpossible(() => {
    const { quarantineDirectory } = wiring.places
    const ages = {
      kept: store.upkeep.ages("checkpoint", checkpoints.ids()),
      quarantined: store.upkeep.ages("quarantine", namesIn(quarantineDirectory)),
    }
    removeOld(checkpoints, store, ages.kept, undoMs)
    for (const [name, ageMs] of ages.quarantined)
      if (ageMs >= quarantineMs) removeTree(join(quarantineDirectory, name))
    const { usedBytes } = storageUse(wiring.places, totalBytesMax)
    if (usedBytes <= totalBytesMax) return
    const freed = freeOldest({ wiring, checkpoints, store }, ages, usedBytes - totalBytesMax)
    if (usedBytes - freed > totalBytesMax) notice(overLimit(usedBytes - freed, totalBytesMax))
  })
}

/** Directories may be without the permission to be emptied: they came from a command. */
export function removeTree(path: string): number {
  const bytes = bytesAt(path)
  open(path)
  rmSync(path, { recursive: true, force: true })
  return bytes
}

/** All of them are read to know which contents are still needed, so a few hours' worth is removed at once. */
const slackMs = 6 * 3_600_000

function removeOld(
  checkpoints: Checkpoints,
  store: Store,
  ages: ReadonlyMap<string, number>,
  undoMs: number,
): void {
  if (!ages.values().some(ageMs => ageMs >= undoMs + slackMs)) return
  const old = new Map([...ages].filter(([, ageMs]) => ageMs >= undoMs))
  checkpoints.collect(oldestFirst(old, neededBy(store)))
}

interface FreeingParts {
  readonly wiring: Wiring
  readonly checkpoints: Checkpoints
  readonly store: Store
}

interface Ages {
  readonly kept: ReadonlyMap<string, number>
  readonly quarantined: ReadonlyMap<string, number>
}

/** Copies for undo and quarantined files, oldest first; nothing of the session that has just ended. */
function freeOldest({ wiring, checkpoints, store }: FreeingParts, ages: Ages, bytesWanted: number): number {
  const needed = neededBy(store)
  const olderThan = (ageMs: number) =>
    oldestFirst(new Map([...ages.kept].filter(([, age]) => age > ageMs)), needed)
  let freed = 0
  for (const name of oldestFirst(ages.quarantined, new Set())) {
    const ageMs = ages.quarantined.get(name) ?? 0
    if (ageMs === 0 || freed >= bytesWanted) break
    freed += collectUntil(checkpoints, olderThan(ageMs), bytesWanted - freed)
    if (freed < bytesWanted) freed += removeTree(join(wiring.places.quarantineDirectory, name))
  }
  return freed + collectUntil(checkpoints, olderThan(0), bytesWanted - freed)
}

function collectUntil(checkpoints: Checkpoints, candidates: readonly string[], bytesWanted: number): number {
  if (candidates.length === 0 || bytesWanted <= 0) return 0
  return checkpoints.collect(candidates, bytesWanted).freedBytes
}

function open(path: string): void {
  const stat = lstatSync(path, { throwIfNoEntry: false })
  if (!stat?.isDirectory()) return
  if ((stat.mode & 0o700) !== 0o700) chmodSync(path, 0o700)
  for (const name of namesIn(path)) open(join(path, name))
}

function overLimit(usedBytes: number, limitBytes: number): string {
  const [used, limit] = [usedBytes, limitBytes].map(bytes => Math.ceil(bytes / (1024 * 1024)))
  return `acode keeps ${used} MB for this workspace, more than the ${limit} MB it may (storage.max_total_mb)\n  → \`acode storage free --dry-run\``
}
