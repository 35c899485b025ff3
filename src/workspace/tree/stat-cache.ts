import { readFileSync, renameSync, type Stats, writeFileSync } from "node:fs"
import { sha256Hex } from "../../base/canonical.ts"

/** A file as it was when its content was hashed. */
interface KnownFile {
  readonly sizeBytes: number
  readonly mtimeMs: number
  readonly ctimeMs: number
  readonly ino: number
  readonly sha256: string
}

/**
 * Caches hashes of files that have not been touched since. A file whose last change is so close to the moment of
 * hashing that a second change could carry the same time is never remembered: it is hashed again until its times are
 * old enough.
 */
export class StatCache {
  private readonly known = new Map<string, KnownFile>()

  constructor(rows: readonly CacheRow[] = []) {
    for (const [path, sizeBytes, mtimeMs, ctimeMs, ino, sha256] of rows)
      this.known.set(path, { sizeBytes, mtimeMs, ctimeMs, ino, sha256 })
  }

  /** Returns the hash while the file is untouched, else null. */
  get(path: string, stat: Stats): string | null {
    const known = this.known.get(path)
    if (known === undefined || known.ctimeMs !== stat.ctimeMs || known.mtimeMs !== stat.mtimeMs) return null
    return known.sizeBytes === stat.size && known.ino === stat.ino ? known.sha256 : null
  }

  /** Remembers a hash. `hashedAtMs` is the wall time before the first byte was read. */
  set(path: string, { size, mtimeMs, ctimeMs, ino }: Stats, sha256: string, hashedAtMs: number): void {
    if (isRacy(ctimeMs, hashedAtMs)) this.known.delete(path)
    else this.known.set(path, { sizeBytes: size, mtimeMs, ctimeMs, ino, sha256 })
  }

  get size(): number {
    return this.known.size
  }

  /** Forgets files that do not exist any more. */
  keepOnly(isPresent: (path: string) => boolean): void {
    for (const path of this.known.keys()) if (!isPresent(path)) this.known.delete(path)
  }

  rows(): CacheRow[] {
    return Array.from(this.known, ([path, { sizeBytes, mtimeMs, ctimeMs, ino, sha256 }]) => [
      path,
      sizeBytes,
      mtimeMs,
      ctimeMs,
      ino,
      sha256,
    ])
  }
}

type CacheRow = readonly [string, number, number, number, number, string]

/** Clock ticks of the kernel are 10 ms or less; file systems that store whole seconds show that in the time itself. */
export const tickMs = 50
const coarseTickMs = 2000

/** Reports whether a time is so close to the moment of reading that a later change could carry it too. */
export function isRacy(ctimeMs: number, hashedAtMs: number): boolean {
  return ctimeMs >= hashedAtMs - (ctimeMs % 1000 === 0 ? coarseTickMs : tickMs)
}

/**
 * Identifies the content of a file that is not read. A write changes it, and so does anything else that touches the
 * inode: another identity may mean the same bytes, the same identity means the same bytes.
 */
export function statIdentity({ size, mtimeMs, ctimeMs, ino }: Stats): string {
  return `stat:${size}:${mtimeMs}:${ctimeMs}:${ino}`
}

/**
 * Loads the cache. A file that cannot be read to its last byte gives an empty cache, which only costs hashing again.
 */
export function loadStatCache(file: string): StatCache {
  try {
    const content = readFileSync(file, "utf8")
    const body = content.slice(65)
    if (sha256Hex(body) !== content.slice(0, 64)) return new StatCache()
    return new StatCache(JSON.parse(body) as CacheRow[])
  } catch {
    // The cache is missing or unreadable; its hash would have shown the same.
    return new StatCache()
  }
}

/** Saves the cache without syncing it: the hash at its start detects a file that a crash cut off. */
export function saveStatCache(cache: StatCache, file: string): void {
  const body = JSON.stringify(cache.rows())
  writeFileSync(`${file}.tmp~`, `${sha256Hex(body)}\n${body}`, { mode: 0o600 })
  renameSync(`${file}.tmp~`, file)
}
