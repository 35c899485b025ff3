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
import { inspect, type Standing } from "./standing.ts"
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
  /** What was found at the paths that may change. */
  readonly standings: ReadonlyMap<string, Standing>
  /** Paths of which no copy can be kept, so that they must not change. */
  readonly refused: readonly PathReason[]
}

/** Keeps what is at some paths in a checkpoint of its own. Durable when it returns. */
export async function keepFound(request: KeepRequest): Promise<KeptCopy> {
  const { root, store } = request
  const refused: PathReason[] = []
  const standings = new Map<string, Standing>()
  const refuse = (path: string, why: string) => {
    standings.delete(path)
    refused.push({ path, reason: `no copy of what is there can be kept: ${why}` })
  }
  for (const path of request.leaves.keys()) {
    const standing = await inspect(root, path, request.pace, store.limits.fileBytesMax)
    if (standing.kind === "hidden") refuse(path, standing.why)
    else standings.set(path, standing)
  }
  await copyContents(request, standings, refuse)
  const isAnything = standings.size + request.directories.length > 0
  const checkpoint = isAnything ? checkpointOf(request, standings) : null
  if (checkpoint !== null) store.record(checkpoint)
  return { checkpoint, standings, refused }
}

/** Copies what no checkpoint holds yet. A file beyond the limits needs no copy where its inode can be moved instead. */
async function copyContents(
  { root, store, pace }: KeepRequest,
  standings: ReadonlyMap<string, Standing>,
  refuse: (path: string, why: string) => void,
): Promise<void> {
  const { contents, limits } = store
  const sources = new Map<string, ContentSource>()
  const moved = new Set<string>()
  let leftBytes = limits.totalBytesMax - contents.storedBytes()
  for (const [path, standing] of standings) {
    const entry = entryOf(standing)
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
        sizeBytes > limits.fileBytesMax ? tooLarge(sizeBytes) : "it may not be read, or there is no room",
      )
  }
  await addEach(store, [...sources.values()], pace, refuse)
  for (const [path, standing] of standings) {
    const entry = entryOf(standing)
    if (entry?.kind === "file" && !moved.has(path) && !(entry.sha256 !== null && contents.has(entry.sha256)))
      refuse(path, "it is being changed")
  }
}

function tooLarge(sizeBytes: number): string {
  return `it has ${sizeBytes} bytes (checkpoints.max_file_mb)`
}

function isMovable(root: WorkspaceRoot, { displaced }: CheckpointStore, path: string): boolean {
  using parent = pin(root, parentOf(path), "never")
  return parent !== null && displaced.isOnDeviceOf(parent)
}

/** All at once, and one by one where that fails: one file that is being written must not keep the others back. */
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

/** Something cannot be copied, and nobody wants to stop. */
export function isCopyRefusal(error: unknown): error is Failure {
  return error instanceof Failure && error.report.kind !== "interrupted"
}

function checkpointOf(
  { clock, keeping, leaves, directories: changes }: KeepRequest,
  standings: KeptCopy["standings"],
): Checkpoint {
  const entries = inTreeOrder([...standings.values()].flatMap(standing => entryOf(standing) ?? []))
  const directories = changes.flatMap(({ path, from }) => (from === null ? [] : [{ path, mode: from }]))
  return {
    id: keeping.id,
    at: toIso(clock.now()),
    scope: "files",
    digest: digestOf(entries),
    entries: new Map(entries.map(entry => [entry.path, entry])),
    absent: [...standings].filter(([, standing]) => isFree(standing)).map(([path]) => path),
    directories,
    uncovered: new Map(),
    kept: {
      about: keeping.about,
      leaves: new Map([...leaves].filter(([path]) => standings.has(path))),
      leavesDirectories: new Map(changes.map(({ path, to }) => [path, to])),
    },
  }
}

function entryOf(standing: Standing): TreeEntry | null {
  return standing.kind === "entry" ? standing.entry : null
}

/** A directory is none of its own path's content: it is among the directories. */
function isFree({ kind }: Standing): boolean {
  return kind === "nothing" || kind === "directory"
}
