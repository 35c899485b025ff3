import { toStorageSettings } from "../../config/settings.ts"
import type { Store } from "../../store/contract.ts"
import type { ObservedTime } from "../../store/upkeep/contract.ts"
import { type StorageUse, storageUse } from "../state/storage-use.ts"
import type { Wiring } from "../wiring/wire.ts"
import type { PrunedSessions, SessionPruning } from "./session-pruning.ts"
import type { FreedStorage, FreeingRequest } from "./storage-freeing.ts"

/** Keeping what acode stores small. */
export interface StorageVerbs {
  /** Removes finished executions behind a tombstone. */
  pruneRuns(which: AgedRequest | { readonly runId: string }): Promise<Pruned>
  pruneSessions(which: SessionPruning): Promise<PrunedSessions>
  /** What is kept takes how much of the disk. */
  storage(): Promise<StorageUse>
  /** Removes the oldest of what is kept. */
  freeStorage(request: FreeingRequest): Promise<FreedStorage>
}

/** What is older than an age, counted from the time that is known to have passed or from the clock. */
export interface AgedRequest {
  readonly olderThanMs: number
  readonly trustsClock: boolean
}

export interface Pruned extends ObservedTime {
  readonly ids: readonly string[]
  /** By which the database became smaller. */
  readonly freedBytes: number
}

export function storageVerbs(wiring: Wiring): StorageVerbs {
  return {
    storage: async () => {
      const { totalBytesMax } = toStorageSettings((await wiring.config()).values)
      return storageUse(wiring.places, totalBytesMax)
    },
    freeStorage: async request => (await import("./storage-freeing.ts")).freeStorage(wiring, request),
    // Loaded when it is used: it brings the checkpoints along.
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
