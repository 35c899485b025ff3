import { lstatSync, type Stats } from "node:fs"
import { sha256Hex } from "../../base/canonical.ts"
import { type NamedEntry, readEntries, systemPath } from "../../base/path-bytes.ts"
import type { IgnoredFiles } from "../contract.ts"
import type { Pace } from "../pace.ts"
import { type IgnoredEntry, whyClosed } from "./listing.ts"

export interface WatchScope {
  readonly root: string
  /** The most entries to inspect; the rest is not watched, and is named. */
  readonly entriesMax: number
  readonly isOwnOutput: (stat: Stats) => boolean
  /** Called with each entry that is inspected. */
  readonly onInspected: (stat: Stats) => void
}

/**
 * Inspects everything that git ignores, without reading any content: size, times, mode and inode of each entry. Entries
 * near the root come first, so that one huge directory costs only itself.
 */
export async function watchIgnored(
  scope: WatchScope,
  found: readonly IgnoredEntry[],
  pace: Pace,
): Promise<IgnoredFiles> {
  const places = new Map<string, string>()
  const unwatched = new Set<string>()
  const queue: OpenDirectory[] = []
  let left = scope.entriesMax
  for (const { path, isDirectory } of found) {
    if (isDirectory) queue.push({ path: `${path}/`, top: `${path}/` })
    else if (--left >= 0) places.set(path, stampAt(scope, path) ?? "")
    else unwatched.add(path)
  }
  for (let next = 0; next < queue.length; next++) {
    const directory = queue[next]
    if (directory === undefined) break
    if (pace.isDue()) await pace.rest()
    const entries = left > 0 ? entriesOf(scope, directory.path) : null
    left -= entries?.length ?? 0
    if (entries === null || left < 0) {
      unwatched.add(directory.top)
      continue
    }
    places.set(directory.path, rowsOf(scope, directory.path, entries))
    for (const entry of entries)
      if (entry.isDirectory()) queue.push({ path: `${directory.path}${entry.name}/`, top: directory.top })
  }
  return { places, unwatched: [...unwatched] }
}

interface OpenDirectory {
  readonly path: string
  /** The ignored directory that contains it. */
  readonly top: string
}

/** Returns null when the directory cannot be listed, and no entries when it does not exist any more. */
function entriesOf({ root }: WatchScope, path: string): readonly NamedEntry[] | null {
  try {
    return readEntries(`${root}/${path}`)
  } catch (error) {
    return whyClosed(error, path) === "gone" ? [] : null
  }
}

/**
 * Returns the directory's own mode and one row for each file directly in it; its directories are watched separately.
 */
function rowsOf(scope: WatchScope, path: string, entries: readonly NamedEntry[]): string {
  let rows = `\0${modeAt(scope, path)}\0`
  for (const entry of entries) {
    if (entry.isDirectory()) continue
    const stamp = stampAt(scope, `${path}${entry.name}`)
    if (stamp !== null) rows += `${entry.name}\0${stamp}\0`
  }
  return rows
}

function modeAt({ root }: WatchScope, path: string): string {
  try {
    return `${lstatSync(systemPath(`${root}/${path}`), { throwIfNoEntry: false })?.mode ?? "gone"}`
  } catch (error) {
    return whyClosed(error, path)
  }
}

/** Returns null for a file that does not exist any more, and for acode's own output, which every message changes. */
function stampAt({ root, isOwnOutput, onInspected }: WatchScope, path: string): string | null {
  try {
    const stat = lstatSync(systemPath(`${root}/${path}`), { throwIfNoEntry: false })
    if (stat === undefined || isOwnOutput(stat)) return null
    onInspected(stat)
    return `${stat.mode}:${stat.size}:${stat.mtimeMs}:${stat.ctimeMs}:${stat.ino}`
  } catch (error) {
    const why = whyClosed(error, path)
    return why === "gone" ? null : why
  }
}

/**
 * Returns the watched state with hashes instead of rows: this is recorded, to report after a crash which directories
 * changed.
 */
export function hashedPlaces({ places }: IgnoredFiles): readonly (readonly [string, string])[] {
  return Array.from(places, ([path, rows]) => [path, rows.startsWith(hashMark) ? rows : hashOf(rows)])
}

const hashMark = "#"

function hashOf(rows: string): string {
  return `${hashMark}${sha256Hex(rows).slice(0, 32)}`
}

/** Returns what was added, removed or changed between two inspections, and where that is not known. */
export function ignoredSince(before: IgnoredFiles, after: IgnoredFiles) {
  const unwatched = [...new Set([...before.unwatched, ...after.unwatched])].sort()
  const isUnwatched = (path: string) => unwatched.some(directory => path.startsWith(directory))
  const changed = new Set<string>()
  for (const [path, rows] of after.places) {
    const old = before.places.get(path)
    if (old === rows || old === hashOf(rows) || (old === undefined && isUnwatched(path))) continue
    for (const name of namesIn(path, old ?? "", rows)) changed.add(name)
  }
  for (const [path, old] of before.places)
    if (!after.places.has(path) && !isUnwatched(path))
      for (const name of namesIn(path, old, "")) changed.add(name)
  return { paths: [...changed].sort(), unwatched }
}

/** Returns the files that differ; the directory itself where only its hash is known, or where it is empty. */
function namesIn(path: string, before: string, after: string): readonly string[] {
  if (!path.endsWith("/")) return [path]
  const [old, now] = [stampsIn(before), stampsIn(after)]
  if (old === null) return [path]
  const names = [...new Set([...old.keys(), ...(now?.keys() ?? [])])].filter(
    name => old.get(name) !== now?.get(name),
  )
  return names.length === 0 ? [path] : names.map(name => `${path}${name}`)
}

/** Returns null for a hash. */
function stampsIn(rows: string): ReadonlyMap<string, string> | null {
  if (rows.startsWith(hashMark)) return null
  const parts = rows.split("\0")
  const stamps = new Map<string, string>()
  for (let index = 0; index + 1 < parts.length; index += 2)
    stamps.set(parts[index] ?? "", parts[index + 1] ?? "")
  return stamps
}
