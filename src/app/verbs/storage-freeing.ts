import { lstatSync } from "node:fs"
import { join } from "node:path"
import { toStorageSettings } from "../../config/settings.ts"
import { Failure } from "../../domain/failure.ts"
import { holdWorkspace } from "../../gate/session-log.ts"
import type { Store } from "../../store/contract.ts"
import { isProcessAlive, processIdentity } from "../../store/process-identity.ts"
import type { SessionSummary } from "../../store/session/contract.ts"
import type { Checkpoints } from "../../workspace/checkpoint/contract.ts"
import {
  checkpointsOf,
  isKeptCheckpoint,
  type KeptCheckpoint,
  keptCheckpoint,
  neededBy,
} from "../state/kept-copies.ts"
import { bytesAt, namesIn, storageUse } from "../state/storage-use.ts"
import { removeTree, sweepOrphans } from "../wiring/upkeep.ts"
import type { Wiring } from "../wiring/wire.ts"

export interface FreeingRequest {
  /** The size to reach; null for the configured limit. */
  readonly toBytes: number | null
  /** True to remove, after everything else, copies of files that undo, recovery or a restore replaced. */
  readonly takesKept: boolean
  readonly isDryRun: boolean
}

export interface FreedStorage {
  readonly beforeBytes: number
  /** The remaining size; for a dry run an upper bound. */
  readonly afterBytes: number
  readonly targetBytes: number
  /** The removed entries, oldest first, and copies of replaced files at the end. */
  readonly removed: readonly FreedThing[]
  /**
   * Copies of files that undo, recovery or a restore replaced, which stay because the request does not include them.
   */
  readonly keptLeft: readonly KeptCheckpoint[]
}

/** One removed entry, and what is lost with it. */
export interface FreedThing {
  readonly kind: "copies" | "quarantine" | "execution" | "session" | "kept"
  readonly id: string
  /** The approximate size. */
  readonly bytes: number
  /** Sessions that can no longer be undone. */
  readonly undoLost: readonly string[]
  /** The copy of a person's files; null for every other entry. */
  readonly kept: KeptCheckpoint | null
}

/**
 * Removes the oldest entries until the storage is within the target. Copies of files that undo, recovery or a restore
 * replaced stay unless the request includes them, and are removed last.
 */
export async function freeStorage(wiring: Wiring, request: FreeingRequest): Promise<FreedStorage> {
  const { totalBytesMax } = toStorageSettings((await wiring.config()).values)
  const targetBytes = request.toBytes ?? totalBytesMax
  const beforeBytes = storageUse(wiring.places, totalBytesMax).usedBytes
  const store = await wiring.existingStore()
  if (store === null) return { beforeBytes, afterBytes: beforeBytes, targetBytes, removed: [], keptLeft: [] }
  const { checkpoints } = await wiring.workspace()
  store.assertAnchored()
  const { takesKept } = request
  const parts = { wiring, store, checkpoints, takesKept, unremovable: new Set<string>() }
  const forecast = request.isDryRun ? foreseen(parts, beforeBytes, targetBytes) : null
  const removed = forecast?.removed ?? (await freeTo(parts, targetBytes))
  const keptLeft = request.takesKept ? [] : keptIds(checkpoints).map(id => keptCheckpoint(checkpoints, id))
  // Closing the database removes SQLite's temporary files, which do not count.
  wiring.closeStore()
  const afterBytes = forecast?.afterBytes ?? storageUse(wiring.places, totalBytesMax).usedBytes
  return { beforeBytes, afterBytes, targetBytes, removed, keptLeft }
}

type Foreseen = Pick<FreedStorage, "removed" | "afterBytes">

/** Simulates freeing round by round, and predicts only the bytes that certainly become free. */
function foreseen(parts: StorageDeps, beforeBytes: number, targetBytes: number): Foreseen {
  const things = thingsOf(parts)
  const first = enough(things, beforeBytes - targetBytes)
  const firstBytes = beforeBytes - sureBytes(parts, first)
  let found: Foreseen = { removed: first, afterBytes: firstBytes }
  for (let round = 1; round < roundsMax && found.afterBytes > targetBytes; round++) {
    const more = enough(things.slice(found.removed.length), found.afterBytes - targetBytes)
    if (more.length === 0) break
    const removed = [...found.removed, ...more]
    found = { removed, afterBytes: beforeBytes - sureBytes(parts, removed) }
  }
  // The first round may be enough: then nothing beyond the target is removed.
  return firstBytes > targetBytes ? { ...found, afterBytes: Math.max(found.afterBytes, targetBytes) } : found
}

/** Returns a lower bound of the freed bytes: the size of files, and for the history the result of a trial run. */
function sureBytes({ store }: StorageDeps, things: readonly FreedThing[]): number {
  const files = things.filter(({ kind }) => kind !== "session" && kind !== "execution")
  const bytes = files.reduce((sum, thing) => sum + thing.bytes, 0)
  return bytes + store.upkeep.forecast(idsOf(things, "session"), idsOf(things, "execution"))
}

async function freeTo(found: StorageDeps, targetBytes: number): Promise<readonly FreedThing[]> {
  const removed = [...(await roomToWrite(found))]
  const { wiring } = found
  const parts = { ...found, store: await wiring.store() }
  const { databasePath } = wiring.places
  const databaseBytes = bytesAt(databasePath)
  const use = () => storageUse(wiring.places, 0).usedBytes - bytesBeside(databasePath)
  using _ = holdWorkspace({ leases: parts.store.leases, owner: processIdentity() })
  await sweepOrphans(wiring)
  // Sizes are estimates until the file system has freed the blocks, so they are measured again after each round.
  for (let round = 0; round < roundsMax && use() > targetBytes; round++) {
    const gone = remove(parts, enough(thingsOf(parts), use() - targetBytes), databaseBytes)
    if (gone.length === 0) break
    removed.push(...gone)
  }
  parts.store.anchor()
  return removed
}

/** Returns the size of the files that SQLite keeps beside an open database. */
function bytesBeside(databasePath: string): number {
  return bytesAt(`${databasePath}-wal`) + bytesAt(`${databasePath}-shm`)
}

/**
 * Makes room for writing on a full disk, where not even the lease of the workspace can be written. The oldest files are
 * removed without the lease if no process holds it: no other process can take it on a full disk.
 */
async function roomToWrite(parts: StorageDeps): Promise<readonly FreedThing[]> {
  try {
    using _ = holdWorkspace({ leases: (await parts.wiring.store()).leases, owner: processIdentity() })
    return []
  } catch (error) {
    if (!(error instanceof Failure && error.report.code === "ACODE-DB-004")) throw error
    if (parts.store.sessions.list({}).some(isDriven)) throw error
    const files = thingsOf(parts).filter(({ kind }) => kind !== "session" && kind !== "execution")
    const removed = removeFiles(parts, enough(files, roomBytes))
    if (removed.length === 0) throw error
    return removed
  }
}

/** The free space that SQLite needs for its files beside the database. */
const roomBytes = 4 * 1024 * 1024

function isDriven({ exitCode, owner }: SessionSummary): boolean {
  return exitCode === null && isProcessAlive(owner)
}

const roundsMax = 20

interface StorageDeps {
  readonly wiring: Wiring
  readonly store: Store
  readonly checkpoints: Checkpoints
  readonly takesKept: boolean
  /** Sessions and executions that could not be removed: their history was changed, or a process works on them. */
  readonly unremovable: Set<string>
}

/** An entry at its position in the log. */
interface Placed {
  readonly position: number
  readonly thing: FreedThing
  /** The checkpoints of an entry that consists of copies. */
  readonly checkpoints: readonly string[]
}

/** Returns all removable entries, oldest first by the log; none of a session that has not ended. */
function thingsOf(parts: StorageDeps): readonly FreedThing[] {
  const { store, checkpoints } = parts
  const all = store.sessions.list({})
  const sessions = all.filter(({ endedAt }) => endedAt !== null)
  const unfinished = new Set(all.filter(({ endedAt }) => endedAt === null).map(({ id }) => id))
  const records = store.upkeep.records().filter(({ id }) => !unfinished.has(id) && !parts.unremovable.has(id))
  const positions = new Map(records.map(({ id, position }) => [id, position]))
  const placed = [
    // Half a position later: a session's copies are removed before the session itself.
    ...records.map(({ position, ...thing }) => placedAt(position + 0.5, { ...thing, ...noCost })),
    ...quarantined(parts, positions),
    ...copies(parts, sessions, positions),
    ...keptThings(parts, unfinished),
  ].toSorted((a, b) => (a.position === b.position ? 0 : a.position - b.position))
  const freed = checkpoints.freedBy(placed.map(each => each.checkpoints))
  return placed.map(({ thing }, index) => ({ ...thing, bytes: thing.bytes + (freed[index] ?? 0) }))
}

function placedAt(position: number, thing: FreedThing, checkpoints: readonly string[] = []): Placed {
  return { position, thing, checkpoints }
}

function quarantined(
  { wiring, store }: StorageDeps,
  positions: ReadonlyMap<string, number>,
): readonly Placed[] {
  const { quarantineDirectory } = wiring.places
  return namesIn(quarantineDirectory).map(name => {
    const path = join(quarantineDirectory, name)
    const position = positions.get(name) ?? store.upkeep.positionAt(writtenMs(path))
    return placedAt(position, { kind: "quarantine", id: name, bytes: bytesAt(path), ...noCost })
  })
}

const noCost = { undoLost: [], kept: null }

/** Returns the copies of each session as one entry, and every other copy as its own entry. */
function copies(
  { wiring, store, checkpoints }: StorageDeps,
  sessions: readonly SessionSummary[],
  positions: ReadonlyMap<string, number>,
): readonly Placed[] {
  const left = new Set(checkpoints.ids().filter(id => !isKeptCheckpoint(id)))
  for (const id of neededBy(store, checkpoints)) left.delete(id)
  const ofSessions = sessions.flatMap(({ id, undoneAt }) => {
    const own = (store.noteChanged(() => [...checkpointsOf(store.log, id)]) ?? []).filter(copy =>
      left.delete(copy),
    )
    const undoLost = undoneAt === null ? [id] : []
    const thing: FreedThing = { kind: "copies", id, bytes: 0, undoLost, kept: null }
    return own.length === 0 ? [] : [placedAt(positions.get(id) ?? 0, thing, own)]
  })
  const others = [...left].map(id => {
    const thing: FreedThing = { kind: "copies", id, bytes: 0, ...noCost }
    const path = join(wiring.places.checkpointsDirectory, "manifests", `${id}.json`)
    return placedAt(store.upkeep.positionAt(writtenMs(path)), thing, [id])
  })
  return [...ofSessions, ...others]
}

/** Returns the copies that are removed last, in the order in which they were made. */
function keptThings(
  { checkpoints, takesKept }: StorageDeps,
  unfinished: ReadonlySet<string>,
): readonly Placed[] {
  if (!takesKept) return []
  return keptIds(checkpoints).flatMap(id => {
    const kept = keptCheckpoint(checkpoints, id)
    const sessionId = kept.about?.sessionId ?? null
    if (sessionId !== null && unfinished.has(sessionId)) return []
    return [placedAt(Number.POSITIVE_INFINITY, { kind: "kept", id, bytes: 0, undoLost: [], kept }, [id])]
  })
}

function keptIds(checkpoints: Checkpoints): readonly string[] {
  return checkpoints.ids().filter(isKeptCheckpoint).toSorted()
}

/** Removes entries and returns those that are gone now. */
function remove(
  parts: StorageDeps,
  things: readonly FreedThing[],
  databaseBytes: number,
): readonly FreedThing[] {
  const { store } = parts
  // Files first: removing from the history needs free space, removing files does not.
  const files = removeFiles(parts, things)
  const executions = new Set(idsOf(things, "execution"))
  const pruned = new Set([
    ...(executions.size === 0 ? [] : store.executions.prune({ ids: executions }, "storage free")),
    ...store.upkeep.pruneSessions(idsOf(things, "session"), "storage free"),
  ])
  if (pruned.size > 0) store.upkeep.shrink(databaseBytes)
  const records = things.filter(({ kind }) => kind === "session" || kind === "execution")
  for (const { id } of records) if (!pruned.has(id)) parts.unremovable.add(id)
  return [...files, ...records.filter(({ id }) => pruned.has(id))]
}

function removeFiles(
  { wiring, store, checkpoints }: StorageDeps,
  things: readonly FreedThing[],
): readonly FreedThing[] {
  const copiesOf = ({ id }: FreedThing) => [
    id,
    ...(id.startsWith("ses_") ? (store.noteChanged(() => [...checkpointsOf(store.log, id)]) ?? []) : []),
  ]
  const asked = things.filter(({ kind }) => kind === "copies" || kind === "kept")
  const gone = new Set(checkpoints.collect(asked.flatMap(copiesOf)).removed)
  const quarantine = things.filter(({ kind }) => kind === "quarantine")
  for (const { id } of quarantine) removeTree(join(wiring.places.quarantineDirectory, id))
  return [...asked.filter(thing => copiesOf(thing).some(id => gone.has(id))), ...quarantine]
}

/** Returns the first entries whose sizes add up to the wanted bytes. */
function enough(things: readonly FreedThing[], bytesWanted: number): readonly FreedThing[] {
  const chosen: FreedThing[] = []
  let bytes = 0
  for (const thing of things) {
    if (bytes >= bytesWanted) break
    chosen.push(thing)
    bytes += thing.bytes
  }
  return chosen
}

function idsOf(things: readonly FreedThing[], kind: FreedThing["kind"]): readonly string[] {
  return things.flatMap(thing => (thing.kind === kind ? [thing.id] : []))
}

function writtenMs(path: string): number {
  return lstatSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0
}
