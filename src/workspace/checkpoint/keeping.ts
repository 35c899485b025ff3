import { type Clock, toIso } from "../../base/clock.ts"
import { parentOf } from "../../base/path-names.ts"
import { Failure } from "../../domain/failure.ts"
import type { TreeEntry } from "../contract.ts"
import { pin } from "../files/pin.ts"
import type { WorkspaceRoot } from "../files/root.ts"
import type { Pace } from "../pace.ts"
import { digestOf } from "../tree/reader.ts"
import type { ContentSource } from "./contents.ts"
import type { Checkpoint, Keeping, KeptState, PathReason } from "./contract.ts"
import type { DirectoryChange } from "./directories.ts"
import { inTreeOrder } from "./manifest.ts"
import { inspect, type PresentEntry } from "./present-entry.ts"
import { type CheckpointStore, contentSource } from "./store.ts"

export interface KeepRequest {
  readonly root: WorkspaceRoot
  readonly store: CheckpointStore
  readonly clock: Clock
  readonly pace: Pace
  readonly keeping: Keeping
  /** The paths that are about to change, and the content each of them gets. */
  readonly leaves: KeptState["leaves"]
  readonly directories: readonly DirectoryChange[]
}

export interface KeptCopy {
  /** Null when nothing could be kept. */
  readonly checkpoint: Checkpoint | null
  /** The present entries of the paths that may change. */
  readonly presentEntries: ReadonlyMap<string, PresentEntry>
  /** Paths of which no copy can be kept, so that they must not change. */
  readonly refused: readonly PathReason[]
}

/** Keeps the present entries of some paths in a checkpoint of its own. Durable on return. */
export async function keepPresent(request: KeepRequest): Promise<KeptCopy> {
  const { root, store } = request
  const refused: PathReason[] = []
  const presentEntries = new Map<string, PresentEntry>()
  const refuse = (path: string, why: string) => {
    presentEntries.delete(path)
    refused.push({ path, reason: `no copy of what is there can be kept: ${why}` })
  }
  for (const path of request.leaves.keys()) {
    const present = await inspect(root, path, request.pace, store.limits.fileBytesMax)
    if (present.kind === "hidden") refuse(path, present.why)
    else presentEntries.set(path, present)
  }
  await copyContents(request, presentEntries, refuse)
  const isAnything = presentEntries.size + request.directories.length > 0
  const checkpoint = isAnything ? checkpointOf(request, presentEntries) : null
  if (checkpoint !== null) store.record(checkpoint)
  return { checkpoint, presentEntries, refused }
}

/**
 * Copies contents that no checkpoint holds yet. A file beyond the limits needs no copy where its inode can be moved
 * instead.
 */
async function copyContents(
  { root, store, pace }: KeepRequest,
  presentEntries: ReadonlyMap<string, PresentEntry>,
  refuse: (path: string, why: string) => void,
): Promise<void> {
  const { contents, limits } = store
  const sources = new Map<string, ContentSource>()
  const moved = new Set<string>()
  let leftBytes = limits.totalBytesMax - contents.storedBytes()
  for (const [path, present] of presentEntries) {
    const entry = entryOf(present)
    if (entry?.kind !== "file") continue
    const { sha256, sizeBytes } = entry
    if (sha256 !== null && (contents.has(sha256) || sources.has(sha256))) continue
    if (sha256 !== null && sizeBytes <= leftBytes) {
      leftBytes -= sizeBytes
      sources.set(sha256, contentSource(root, entry, sha256))
    } else if (isMovable(root, store, path)) moved.add(path)
    else
      refuse(
        path,
        sizeBytes > limits.fileBytesMax
          ? tooLarge(sizeBytes)
          : "it cannot be read, or there is not enough space",
      )
  }
  await addEach(store, [...sources.values()], pace, refuse)
  for (const [path, present] of presentEntries) {
    const entry = entryOf(present)
    if (entry?.kind === "file" && !moved.has(path) && !(entry.sha256 !== null && contents.has(entry.sha256)))
      refuse(path, "it is being changed")
  }
}

function tooLarge(sizeBytes: number): string {
  return `it has ${sizeBytes} bytes (checkpoints.max_file_mb)`
}

function isMovable(root: WorkspaceRoot, { displaced }: CheckpointStore, path: string): boolean {
  using parent = pin(root, parentOf(path), "never")
  return parent !== null && displaced.isOnMountOf(parent)
}

/** Adds all at once, and one by one where that fails: one file that is being written must not block the others. */
async function addEach(
  { contents }: CheckpointStore,
  sources: readonly ContentSource[],
  pace: Pace,
  refuse: (path: string, why: string) => void,
): Promise<void> {
  try {
    await contents.add(sources, pace)
  } catch (error) {
    if (!isCopyRefusal(error)) throw error
    for (const source of sources)
      try {
        await contents.add([source], pace)
      } catch (again) {
        if (!isCopyRefusal(again)) throw again
        refuse(source.path, again.report.message)
      }
  }
}

/** Reports whether a copy failed although the user did not stop it. */
export function isCopyRefusal(error: unknown): error is Failure {
  return error instanceof Failure && error.report.kind !== "interrupted"
}

function checkpointOf(
  { clock, keeping, leaves, directories: changes }: KeepRequest,
  presentEntries: KeptCopy["presentEntries"],
): Checkpoint {
  const entries = inTreeOrder([...presentEntries.values()].flatMap(present => entryOf(present) ?? []))
  const directories = changes.flatMap(({ path, from }) => (from === null ? [] : [{ path, mode: from }]))
  return {
    id: keeping.id,
    at: toIso(clock.now()),
    scope: "files",
    digest: digestOf(entries),
    entries: new Map(entries.map(entry => [entry.path, entry])),
    absent: [...presentEntries].filter(([, present]) => isFree(present)).map(([path]) => path),
    directories,
    uncovered: new Map(),
    kept: {
      about: keeping.about,
      leaves: new Map([...leaves].filter(([path]) => presentEntries.has(path))),
      leavesDirectories: new Map(changes.map(({ path, to }) => [path, to])),
    },
  }
}

function entryOf(present: PresentEntry): TreeEntry | null {
  return present.kind === "entry" ? present.entry : null
}

/** Reports whether a path is free: directories are recorded separately, not as content. */
function isFree({ kind }: PresentEntry): boolean {
  return kind === "nothing" || kind === "directory"
}
