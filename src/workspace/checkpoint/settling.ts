import { constants, openSync, rmSync } from "node:fs"
import { Failure } from "../../domain/failure.ts"
import type { WorkspaceRoot } from "../files/root.ts"
import type { Pace } from "../pace.ts"
import { digestOf } from "../tree/reader.ts"
import type { ContentSource } from "./contents.ts"
import type { Checkpoint, WhileOwned } from "./contract.ts"
import { type LeftDisplaced, settleLeft } from "./displacing.ts"
import { isCopyRefusal } from "./keeping.ts"
import { inTreeOrder } from "./manifest.ts"
import { isSameStanding, type Standing, standingOf } from "./standing.ts"
import type { CheckpointStore } from "./store.ts"

/**
 * Settles what earlier restores left displaced, before anybody looks at what is there: a restore that was cut short is
 * finished path by path, and what somebody wrote to a file after it was displaced becomes what its checkpoint holds.
 */
export async function settleDisplaced(
  {
    root,
    store,
    pace,
  }: { readonly root: WorkspaceRoot; readonly store: CheckpointStore; readonly pace: Pace },
  owned: WhileOwned,
): Promise<void> {
  for (const id of store.displaced.ids()) {
    const checkpoint = loadOrNull(store, id)
    if (checkpoint?.kept === undefined) continue
    const left = owned(() => settleOne(root, store, checkpoint))
    for (const each of left) await adopt(store, id, each, pace, owned)
  }
}

function settleOne(
  root: WorkspaceRoot,
  store: CheckpointStore,
  checkpoint: Checkpoint,
): readonly LeftDisplaced[] {
  using area = store.displaced.open(checkpoint.id)
  const isKept = (standing: Standing) => isKeptIn(store, standing)
  return [...(checkpoint.kept?.leaves ?? [])].flatMap(
    ([path, leaves]) =>
      settleLeft(
        { root, area, isKept, bytesMax: store.limits.fileBytesMax },
        { path, kept: standingIn(checkpoint, path), leaves },
      ) ?? [],
  )
}

/**
 * Copies a displaced file into its checkpoint. One that is too large to be copied, for which there is no room, or that
 * somebody still changes by another name stays where it is: it is no reason not to restore the rest.
 */
async function adopt(
  store: CheckpointStore,
  id: string,
  { path, entry, at }: LeftDisplaced,
  pace: Pace,
  owned: WhileOwned,
): Promise<void> {
  if (entry.kind === "file") {
    const { sha256 } = entry
    if (sha256 === null || entry.sizeBytes > store.limits.fileBytesMax) return
    const open = () => openSync(at, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW)
    if (
      !store.contents.has(sha256) &&
      !(await isAdded(store, { path, sha256, sizeBytes: entry.sizeBytes, open }, pace))
    )
      return
  }
  owned(() => {
    const checkpoint = loadOrNull(store, id)
    const now = standingOf(at, path, store.limits.fileBytesMax)
    if (checkpoint === null || !isSameStanding(now, { kind: "entry", entry })) return
    const entries = inTreeOrder([...new Map([...checkpoint.entries, [path, entry] as const]).values()])
    const absent = checkpoint.absent.filter(each => each !== path)
    const byPath = new Map(entries.map(each => [each.path, each]))
    store.record({ ...checkpoint, entries: byPath, absent, digest: digestOf(entries) })
    rmSync(at, { force: true })
  })
}

async function isAdded({ contents }: CheckpointStore, source: ContentSource, pace: Pace): Promise<boolean> {
  try {
    await contents.add([source], pace)
    return true
  } catch (error) {
    if (!isCopyRefusal(error)) throw error
    return false
  }
}

/** Whether what was found at a path is held by a checkpoint, so that its displaced inode may go. */
export function isKeptIn({ contents }: CheckpointStore, standing: Standing): boolean {
  if (standing.kind !== "entry" || standing.entry.kind !== "file") return true
  return standing.entry.sha256 !== null && contents.has(standing.entry.sha256)
}

function standingIn({ entries }: Checkpoint, path: string): Standing {
  const entry = entries.get(path)
  return entry === undefined ? { kind: "nothing" } : { kind: "entry", entry }
}

function loadOrNull(store: CheckpointStore, id: string): Checkpoint | null {
  try {
    return store.load(id)
  } catch (error) {
    if (error instanceof Failure) return null
    throw error
  }
}
