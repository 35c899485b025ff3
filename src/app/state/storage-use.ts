import { lstatSync, readdirSync, type Stats } from "node:fs"
import { join } from "node:path"
import { errnoOf } from "../../base/assert.ts"
import type { StatePlaces } from "./state-directory.ts"

/** The disk usage of one part of a workspace's state. */
export interface StoragePart {
  readonly id: "database" | "code" | "artifacts" | "checkpoints" | "quarantine" | "temporary" | "other"
  /** The allocated size, directories included. */
  readonly bytes: number
  /** The number of entries that are not directories. */
  readonly count: number
  /** The last modification of the oldest entry. */
  readonly oldest: string | null
}

export interface StorageUse {
  readonly directory: string
  readonly usedBytes: number
  readonly limitBytes: number
  readonly parts: readonly StoragePart[]
}

type Counted = { bytes: number; count: number; oldestMs: number }

/** Measures everything below the state directory; an entry that disappears meanwhile does not count. */
export function storageUse(places: StatePlaces, limitBytes: number): StorageUse {
  const counted = new Map<StoragePart["id"], Counted>(
    partIds.map(id => [id, { bytes: 0, count: 0, oldestMs: Number.POSITIVE_INFINITY }]),
  )
  const { stateDirectory } = places
  walk(stateDirectory, "", (path, stat) => {
    const part = counted.get(partOf(path))
    if (part === undefined) return
    part.bytes += stat.blocks * blockBytes
    if (stat.isDirectory()) return
    part.count += 1
    part.oldestMs = Math.min(part.oldestMs, stat.mtimeMs)
  })
  const parts = [...counted].map(([id, { bytes, count, oldestMs }]) => ({
    id,
    bytes,
    count,
    oldest: Number.isFinite(oldestMs) ? new Date(oldestMs).toISOString() : null,
  }))
  const usedBytes = parts.reduce((sum, { bytes }) => sum + bytes, 0)
  return { directory: stateDirectory, usedBytes, limitBytes, parts }
}

/** Returns the allocated size of an entry and everything below it. */
export function bytesAt(path: string): number {
  let bytes = 0
  walk(path, "", (_, stat) => {
    bytes += stat.blocks * blockBytes
  })
  return bytes
}

const partIds = ["database", "code", "artifacts", "checkpoints", "quarantine", "temporary", "other"] as const
const blockBytes = 512

function partOf(path: string): StoragePart["id"] {
  const [first = "", ...rest] = path.split("/")
  if (isTemporary(rest.at(-1) ?? first)) return "temporary"
  if (/^workspace\.db(-wal|-shm)?$/.test(first)) return "database"
  if (/^code\.db(-wal|-shm|\.lock)?$/.test(first)) return "code"
  return first === "artifacts" || first === "checkpoints" || first === "quarantine" ? first : "other"
}

/** Returns whether a file is being written, or was when a process died. */
function isTemporary(name: string): boolean {
  return name.endsWith(".tmp~") || name.startsWith(".aside-") || /^\..+\.[0-9a-f-]{36}\.tmp$/.test(name)
}

function walk(root: string, path: string, see: (path: string, stat: Stats) => void): void {
  const at = path === "" ? root : join(root, path)
  const stat = lstatSync(at, { throwIfNoEntry: false })
  if (stat === undefined) return
  see(path, stat)
  if (!stat.isDirectory()) return
  for (const name of namesIn(at)) walk(root, path === "" ? name : `${path}/${name}`, see)
}

/** Returns the names in a directory; none when it is gone or not readable. */
export function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory)
  } catch (error) {
    if (["ENOENT", "ENOTDIR", "EACCES"].includes(errnoOf(error) ?? "")) return []
    throw error
  }
}
