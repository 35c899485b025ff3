import { FFIType } from "bun:ffi"
import {
  chmodSync,
  closeSync,
  constants,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
} from "node:fs"
import { join } from "node:path"
import { errnoOf } from "../../base/assert.ts"
import { sha256Hex } from "../../base/canonical.ts"
import type { Faults } from "../../base/faults.ts"
import { openLibc } from "../../base/libc.ts"
import { Failure } from "../../domain/failure.ts"
import { fileFailure, systemFailure } from "../failures.ts"
import {
  allotted,
  bounded,
  hashChunks,
  hashPaced,
  passingChunksOf,
  syncDirectory,
  unlikelyName,
  writeAll,
} from "../files/durable.ts"
import type { Pace } from "../pace.ts"

/**
 * Byte-exact copies named by their hash. A copy with its final name is complete and durable; a partial copy has another
 * name.
 */
export class CheckpointContents {
  private sizes: Map<string, number> | null = null

  constructor(
    private readonly directory: string,
    private readonly faults: Faults,
  ) {}

  has(sha256: string): boolean {
    return this.known().has(sha256)
  }

  /** Returns 0 for content that is not stored. */
  sizeOf(sha256: string): number {
    return this.known().get(sha256) ?? 0
  }

  storedBytes(): number {
    return this.known()
      .values()
      .reduce((sum, size) => sum + size, 0)
  }

  /**
   * Copies open files. All of them get their names, or a failure leaves only complete ones. A caller that handles files
   * that changed meanwhile gets the others nevertheless.
   */
  async add(
    sources: readonly ContentSource[],
    pace: Pace,
    onChanged?: (source: ContentSource) => void,
  ): Promise<void> {
    if (sources.length === 0) return
    ensurePrivateDirectory(this.directory)
    const staged: StagedCopy[] = []
    try {
      for (const source of sources)
        try {
          staged.push(await this.stage(source, pace))
        } catch (error) {
          if (onChanged === undefined || !isChange(error)) throw error
          onChanged(source)
        }
      this.faults.reach("checkpoint.staged")
      if (!this.syncAll(staged)) for (const { temporary } of staged) syncFile(temporary)
      this.faults.reach("checkpoint.staged-synced")
      this.name(staged)
      this.faults.reach("checkpoint.contents-named")
    } catch (error) {
      for (const { temporary } of staged) rmSync(temporary, { force: true })
      throw systemFailure(error, this.directory)
    }
  }

  /** Returns the content behind a hash and verifies it. */
  read(sha256: string): Uint8Array {
    let content: Uint8Array
    try {
      content = readFileSync(this.pathOf(sha256))
    } catch (error) {
      throw errnoOf(error) === "ENOENT" ? damaged(sha256, "is missing") : systemFailure(error, sha256)
    }
    if (sha256Hex(content) !== sha256) throw damaged(sha256, "is not what its name says")
    return content
  }

  /** Writes the content behind a hash to an open file. Throws ACODE-SEC-004 when it is missing or damaged. */
  copyTo(sha256: string, target: number): void {
    let source: number
    try {
      source = openSync(this.pathOf(sha256), constants.O_RDONLY)
    } catch (error) {
      throw errnoOf(error) === "ENOENT" ? damaged(sha256, "is missing") : systemFailure(error, sha256)
    }
    try {
      const copied = hashChunks(passingChunksOf(source), chunk => writeAll(target, chunk))
      if (copied.sha256 !== sha256) throw damaged(sha256, "is not what its name says")
    } finally {
      closeSync(source)
    }
  }

  /** Returns the bytes that it occupies on the disk. */
  allotted(sha256: string): number {
    return allotted(this.pathOf(sha256))
  }

  /** Removes contents that nothing refers to, and interrupted copies. Returns the bytes freed. */
  keepOnly(referenced: ReadonlySet<string>): number {
    let freed = 0
    for (const shard of namesIn(this.directory)) {
      for (const name of namesIn(join(this.directory, shard))) {
        if (referenced.has(name)) continue
        const path = join(this.directory, shard, name)
        freed += lstatSync(path, { throwIfNoEntry: false })?.size ?? 0
        rmSync(path, { force: true })
        this.faults.reach("checkpoint.content-removed")
      }
      removeEmpty(join(this.directory, shard))
    }
    this.sizes = null
    return freed
  }

  /** Removes interrupted copies. */
  sweep(): void {
    for (const shard of namesIn(this.directory))
      for (const name of namesIn(join(this.directory, shard)))
        if (name.endsWith(".tmp~")) rmSync(join(this.directory, shard, name), { force: true })
  }

  private async stage({ path, sha256, sizeBytes, open }: ContentSource, pace: Pace): Promise<StagedCopy> {
    const shard = join(this.directory, sha256.slice(0, 2))
    ensurePrivateDirectory(shard)
    const temporary = join(shard, `${unlikelyName()}.tmp~`)
    const target = openSync(temporary, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600)
    let source = -1
    const changed = fileFailure("changed", path, "changed while it was being copied")
    try {
      source = opened(open, changed)
      const copy = bounded(sizeBytes, changed, chunk => writeAll(target, chunk))
      if ((await hashPaced(source, pace, copy)).sha256 !== sha256) throw changed
      return { temporary, sha256, sizeBytes }
    } catch (error) {
      rmSync(temporary, { force: true })
      throw error
    } finally {
      closeSync(target)
      if (source >= 0) closeSync(source)
    }
  }

  private name(staged: readonly StagedCopy[]): void {
    const known = this.known()
    for (const { temporary, sha256, sizeBytes } of staged) {
      renameSync(temporary, this.pathOf(sha256))
      known.set(sha256, sizeBytes)
    }
    if (this.syncAll(staged)) return
    for (const shard of new Set(staged.map(copy => copy.sha256.slice(0, 2))))
      syncDirectory(join(this.directory, shard))
    syncDirectory(this.directory)
  }

  /** Syncs the whole file system. Only worth it for many files: it waits for all other writes on that disk. */
  private syncAll(staged: readonly StagedCopy[]): boolean {
    return staged.length > manyFiles && syncFilesystem(this.directory)
  }

  private pathOf(sha256: string): string {
    return join(this.directory, sha256.slice(0, 2), sha256)
  }

  private known(): Map<string, number> {
    if (this.sizes !== null) return this.sizes
    this.sizes = new Map()
    for (const shard of namesIn(this.directory))
      for (const name of namesIn(join(this.directory, shard)))
        if (/^[0-9a-f]{64}$/.test(name))
          this.sizes.set(name, lstatSync(join(this.directory, shard, name)).size)
    return this.sizes
  }
}

export interface ContentSource {
  /** The path for messages. */
  readonly path: string
  readonly sha256: string
  readonly sizeBytes: number
  /** Returns a descriptor, which is closed after use. */
  readonly open: () => number
}

interface StagedCopy {
  readonly temporary: string
  readonly sha256: string
  readonly sizeBytes: number
}

const manyFiles = 32

/** Opens a file; one that could be read before and is missing or something else now has changed. */
function opened(open: () => number, changed: Failure): number {
  try {
    return open()
  } catch (error) {
    const errno = errnoOf(error)
    if (error instanceof Failure || (errno !== null && changeErrnos.has(errno))) throw changed
    throw error
  }
}

const changeErrnos = new Set(["ENOENT", "ENOTDIR", "ELOOP", "ENXIO", "EACCES", "EPERM"])

function isChange(error: unknown): boolean {
  return error instanceof Failure && error.report.code === "ACODE-FS-007"
}

function removeEmpty(directory: string): void {
  try {
    rmdirSync(directory)
  } catch (error) {
    // The directory is not empty, which is its purpose; or acode may not remove it, which loses nothing.
    if (errnoOf(error) === null) throw error
  }
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory)
  } catch (error) {
    const code = errnoOf(error)
    if (code === "ENOENT" || code === "ENOTDIR") return []
    throw error
  }
}

function syncFile(path: string): void {
  const fd = openSync(path, constants.O_RDONLY)
  try {
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
}

function damaged(sha256: string, what: string): Failure {
  return new Failure({
    kind: "integrity",
    code: "ACODE-SEC-004",
    message: `a kept copy ${what}: ${sha256}`,
    where: sha256,
    hint: "this checkpoint cannot be restored completely; use git or another copy for that file",
  })
}

/** Ensures that a directory exists, is owned by this user and is closed to all others. */
export function ensurePrivateDirectory(path: string): void {
  mkdirSync(path, { recursive: true, mode: 0o700 })
  const stat = lstatSync(path)
  const owner = process.getuid?.()
  if (!stat.isDirectory() || (owner !== undefined && stat.uid !== owner))
    throw new Failure({
      kind: "integrity",
      code: "ACODE-SEC-006",
      message: `"${path}" is not a directory of its own that belongs to you`,
      where: path,
      hint: "remove the symlink or the foreign directory; copies of your files are kept there",
    })
  if ((stat.mode & 0o077) !== 0) chmodSync(path, 0o700)
}

/**
 * Makes everything on the file system of `directory` durable at once. Syncing ten thousand small files one by one takes
 * many times as long. Returns false where the system does not offer it.
 */
export function syncFilesystem(directory: string): boolean {
  const call = syncfs()
  if (call === null) return false
  const fd = openSync(directory, constants.O_RDONLY | constants.O_DIRECTORY)
  try {
    return call(fd) === 0
  } finally {
    closeSync(fd)
  }
}

let loaded: ((fd: number) => number) | null | undefined

function syncfs(): ((fd: number) => number) | null {
  if (loaded === undefined) loaded = process.platform === "linux" ? load() : null
  return loaded
}

function load(): ((fd: number) => number) | null {
  try {
    const { symbols } = openLibc({ syncfs: { args: [FFIType.i32], returns: FFIType.i32 } })
    return symbols.syncfs
  } catch {
    // Another C library: the caller syncs file by file.
    return null
  }
}
