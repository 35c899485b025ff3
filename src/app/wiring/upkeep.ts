import { chmodSync, lstatSync, rmSync } from "node:fs"
import { join } from "node:path"
import { toCheckpointSettings, toStorageSettings } from "../../config/settings.ts"
import type { Store } from "../../store/contract.ts"
import type { Checkpoints } from "../../workspace/checkpoint/contract.ts"
import {
  isKeptCheckpoint,
  type KeptCheckpoint,
  keptCheckpoint,
  keptText,
  neededBy,
  oldestFirst,
  unlessImpossible,
} from "../state/kept-copies.ts"
import { bytesAt, namesIn, storageUse } from "../state/storage-use.ts"
import type { Wiring } from "./wire.ts"

/** Removes files that dead processes left half written. The caller holds the workspace. */
export async function sweepOrphans(wiring: Wiring): Promise<void> {
  const store = await wiring.store()
  const { checkpoints } = await wiring.workspace()
  unlessImpossible(() => {
    checkpoints.sweep()
    store.upkeep.sweep()
  })
}

/**
 * Frees storage at the end of a session: removes copies for undo and quarantined files that are too old, then the
 * oldest ones while the storage exceeds its limit. Copies of files that undo, recovery or a restore replaced are
 * removed only by age; `notice` names each of those, and reports when the remaining files exceed the limit. The caller
 * holds the workspace.
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
    for (const copy of removeOld(checkpoints, store, ages.kept, undoMs)) notice(outOfTime(copy))
    for (const [name, ageMs] of ages.quarantined)
      if (ageMs >= quarantineMs) removeTree(join(quarantineDirectory, name))
    const { usedBytes } = storageUse(wiring.places, totalBytesMax)
    if (usedBytes <= totalBytesMax) return
    const freed = freeOldest({ wiring, checkpoints, store }, ages, usedBytes - totalBytesMax)
    const isAnyKept = checkpoints.ids().some(isKeptCheckpoint)
    if (usedBytes - freed > totalBytesMax) notice(overLimit(usedBytes - freed, totalBytesMax, isAnyKept))
  })
}

/** Removes a tree, also directories that are not writable, as a command may leave them. Returns the bytes freed. */
export function removeTree(path: string): number {
  const bytes = bytesAt(path)
  open(path)
  rmSync(path, { recursive: true, force: true })
  return bytes
}

/** The extra age removed at once: every removal reads all checkpoints to know which contents are still needed. */
const slackMs = 6 * 3_600_000

/** Removes copies that are too old, and returns those that held files replaced by undo, recovery or a restore. */
function removeOld(
  checkpoints: Checkpoints,
  store: Store,
  ages: ReadonlyMap<string, number>,
  undoMs: number,
): readonly KeptCheckpoint[] {
  if (!ages.values().some(ageMs => ageMs >= undoMs + slackMs)) return []
  const old = oldestFirst(
    new Map([...ages].filter(([, ageMs]) => ageMs >= undoMs)),
    neededBy(store, checkpoints),
  )
  const replaced = old.filter(isKeptCheckpoint).map(id => keptCheckpoint(checkpoints, id))
  const removed = new Set(checkpoints.collect(old).removed)
  return replaced.filter(({ id }) => removed.has(id))
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

/** Removes pre-images and quarantined files, oldest first, but nothing of the session that has just ended. */
function freeOldest({ wiring, checkpoints, store }: FreeingParts, ages: Ages, bytesWanted: number): number {
  const needed = neededBy(store, checkpoints)
  const preImages = [...ages.kept].filter(([id]) => !isKeptCheckpoint(id))
  const olderThan = (ageMs: number) =>
    oldestFirst(new Map(preImages.filter(([, age]) => age > ageMs)), needed)
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

function outOfTime(copy: KeptCheckpoint): string {
  return `removed after checkpoints.undo_days: ${keptText(copy)}`
}

function overLimit(usedBytes: number, limitBytes: number, isAnyKept: boolean): string {
  const [used, limit] = [usedBytes, limitBytes].map(bytes => Math.ceil(bytes / (1024 * 1024)))
  const command = isAnyKept ? "acode storage free --replaced --dry-run" : "acode storage free --dry-run"
  return `acode keeps ${used} MB for this workspace, more than the ${limit} MB it may (storage.max_total_mb)\n  → \`${command}\``
}
