import { toStorageSettings } from "../../config/settings.ts"
import type { Store } from "../../store/contract.ts"
import type { ObservedTime } from "../../store/upkeep/contract.ts"
import { type StorageUse, storageUse } from "../state/storage-use.ts"
import type { Wiring } from "../wiring/wire.ts"
import type { PrunedSessions, SessionPruning } from "./session-pruning.ts"
import type { FreedStorage, FreeingRequest } from "./storage-freeing.ts"

/** Shows and reduces the storage that acode uses. */
export interface StorageVerbs {
  /** Replaces finished executions by a tombstone. */
  pruneRuns(which: AgedRequest | { readonly runId: string }): Promise<Pruned>
  pruneSessions(which: SessionPruning): Promise<PrunedSessions>
  /** Returns how much of the disk each part of the state uses. */
  storage(): Promise<StorageUse>
  /** Removes the oldest entries. */
  freeStorage(request: FreeingRequest): Promise<FreedStorage>
}

/** A request for entries older than an age, by the time known to have passed or by the clock. */
export interface AgedRequest {
  readonly olderThanMs: number
  readonly trustsClock: boolean
}

export interface Pruned extends ObservedTime {
  readonly ids: readonly string[]
  /** The bytes by which the database shrank. */
  readonly freedBytes: number
}

export function storageVerbs(wiring: Wiring): StorageVerbs {
  return {
    storage: async () => {
      const { totalBytesMax } = toStorageSettings((await wiring.config()).values)
      return storageUse(wiring.places, totalBytesMax)
    },
    freeStorage: async request => (await import("./storage-freeing.ts")).freeStorage(wiring, request),
    // Loaded only here: it imports the checkpoints.
    pruneSessions: async which => (await import("./session-pruning.ts")).pruneOldSessions(wiring, which),
    pruneRuns: async which => {
      const store = await wiring.existingStore()
      if (store === null) return { ids: [], freedBytes: 0, agedMs: 0, nowMs: wiring.clock.now(), aheadMs: 0 }
      store.assertAnchored()
      const filter = "runId" in which ? which : { beforePosition: firstYoung(store, which) }
      const ids = store.executions.prune(filter, "runs prune")
      return { ...store.upkeep.time(), ids, freedBytes: ids.length === 0 ? 0 : store.upkeep.shrink() }
    },
  }
}

function firstYoung({ upkeep }: Store, { olderThanMs, trustsClock }: AgedRequest): number {
  if (trustsClock) upkeep.trustClock()
  return upkeep.firstPositionWithin(olderThanMs)
}
