import { constants, lstatSync, openSync, readlinkSync, rmSync, unlinkSync } from "node:fs"
import { pathFromBytes, systemPath } from "../../base/path-bytes.ts"
import { nameOf, parentOf } from "../../base/path-names.ts"
import { Failure } from "../../domain/failure.ts"
import type { TreeEntry } from "../contract.ts"
import { exchangeNames, moveToFreeName, type NameIn, pathOfName } from "../files/rename.ts"
import type { WorkspaceRoot } from "../files/root.ts"
import type { Pace } from "../pace.ts"
import { digestOf } from "../tree/reader.ts"
import type { ContentSource } from "./contents.ts"
import type { Checkpoint, WhileOwned } from "./contract.ts"
import { directoryAt } from "./directories.ts"
import { type Displacing, inspectDisplaced, removeIfKept } from "./displacing.ts"
import { isCopyRefusal } from "./keeping.ts"
import { inTreeOrder } from "./manifest.ts"
import {
  contentOfPresentEntry,
  isSamePresentEntry,
  type PresentEntry,
  presentEntryOf,
} from "./present-entry.ts"
import type { CheckpointStore } from "./store.ts"

/**
 * Settles what earlier restores left displaced, before the present state is read: an interrupted restore is finished
 * path by path, and what another process wrote to a file after it was displaced becomes the content in its checkpoint.
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
): readonly ChangedDisplaced[] {
  using area = store.displaced.open(checkpoint.id)
  const isKept = (present: PresentEntry) => isKeptIn(store, present)
  return [...(checkpoint.kept?.leaves ?? [])].flatMap(
    ([path, leaves]) =>
      settlePath(
        { root, area, isKept, bytesMax: store.limits.fileBytesMax },
        { path, kept: standingIn(checkpoint, path), leaves },
      ) ?? [],
  )
}

/**
 * Copies a displaced file into its checkpoint. One that is too large to copy, that does not fit, or that a process
 * still changes by another name stays where it is: the rest is restored nevertheless.
 */
async function adopt(
  store: CheckpointStore,
  id: string,
  { path, entry, at }: ChangedDisplaced,
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
    const now = presentEntryOf(at, path, store.limits.fileBytesMax)
    if (checkpoint === null || !isSamePresentEntry(now, { kind: "entry", entry })) return
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

/** Reports whether a checkpoint holds the content of a path, so that its displaced inode may be removed. */
export function isKeptIn({ contents }: CheckpointStore, present: PresentEntry): boolean {
  if (present.kind !== "entry" || present.entry.kind !== "file") return true
  return present.entry.sha256 !== null && contents.has(present.entry.sha256)
}

function standingIn({ entries }: Checkpoint, path: string): PresentEntry {
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

/** One path of a kept checkpoint: its old entry, and the content it was to get. */
interface KeptPath {
  readonly path: string
  readonly kept: PresentEntry
  readonly leaves: string | null
}

/**
 * Finishes what an earlier process left displaced because it died or because another process was writing the file.
 * Removes nothing that is not kept elsewhere. Returns displaced entries that are not what was kept, once no process
 * writes to them any more.
 */
function settlePath(
  deps: Omit<Displacing, "faults">,
  { path, kept, leaves }: KeptPath,
): ChangedDisplaced | null {
  using parent = directoryAt(deps.root, parentOf(path))
  const aside = deps.area.nameFor(path, parent)
  const at = pathOfName(aside)
  if (lstatSync(at, { throwIfNoEntry: false }) === undefined) return null
  const { present, isFinal } = inspectDisplaced(deps, aside)
  const pinned = parent === null ? null : { directory: parent, name: nameOf(path) }
  const now = pinned === null ? null : presentEntryOf(pathOfName(pinned), path, deps.bytesMax)
  const isHalf = deps.area.isInterrupted && pinned !== null
  if (isSamePresentEntry(present, kept)) {
    // Where names cannot be exchanged, a crash leaves the name free.
    if (isHalf && now?.kind === "nothing" && leaves !== null) moveToFreeName(aside, pinned)
    else removeIfKept(deps, aside, kept)
    return null
  }
  if (isFinal && contentOfPresentEntry(present) === leaves) unlinkSync(at)
  else if (isHalf && now !== null && contentOfPresentEntry(now) === leaves)
    moveBackNewer(deps, aside, pinned, leaves)
  else {
    deps.area.retain(aside)
    return isFinal && present.kind === "entry"
      ? { path, entry: { ...present.entry, path }, at: realPathOf(aside) }
      : null
  }
  return null
}

/** A displaced entry that is not what was kept. */
interface ChangedDisplaced {
  readonly path: string
  readonly entry: TreeEntry
  readonly at: string | Buffer
}

/** Returns the real path: the descriptor of the directory is closed by the time it is used. */
function realPathOf({ directory, name }: NameIn): string | Buffer {
  const parent = pathFromBytes(readlinkSync(directory.at, { encoding: "buffer" }))
  return systemPath(`${parent}/${name}`)
}

/** Moves back what another process wrote at the moment of the crash; the wanted content is kept elsewhere. */
function moveBackNewer(
  deps: Pick<Displacing, "area" | "bytesMax">,
  aside: NameIn,
  pinned: NameIn,
  leaves: string | null,
): void {
  if (leaves === null) {
    moveToFreeName(aside, pinned)
    return
  }
  if (!exchangeNames(aside, pinned)) {
    deps.area.retain(aside)
    return
  }
  const { present, isFinal } = inspectDisplaced(deps, aside)
  if (isFinal && contentOfPresentEntry(present) === leaves) unlinkSync(pathOfName(aside))
  else deps.area.retain(aside)
}
