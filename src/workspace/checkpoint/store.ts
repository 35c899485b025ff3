import {
  closeSync,
  constants,
  fsyncSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
} from "node:fs"
import { join } from "node:path"
import { errnoOf } from "../../base/assert.ts"
import { type Clock, toIso } from "../../base/clock.ts"
import { type Faults, noFaults } from "../../base/faults.ts"
import { Failure } from "../../domain/failure.ts"
import type { Tree, TreeEntry } from "../contract.ts"
import { fileFailure, onPath, systemFailure } from "../failures.ts"
import { allotted, syncDirectory, writeAll } from "../files/durable.ts"
import { type PinRoot, pin } from "../files/pin.ts"
import { Pace } from "../pace.ts"
import { digestOf } from "../tree/reader.ts"
import { freedByGroup, type KeptCheckpoints, planCollection } from "./collection.ts"
import { CheckpointContents, type ContentSource, ensurePrivateDirectory } from "./contents.ts"
import type { Checkpoint, CheckpointLimits, CollectedCheckpoints, TakeResult } from "./contract.ts"
import { missingAround } from "./directories.ts"
import { DisplacedFiles } from "./displaced.ts"
import { readExactEntry } from "./exact-entry.ts"
import { checkpointOf, inTreeOrder, Manifest, manifestOf } from "./manifest.ts"

/**
 * The pre-images of a workspace. One process at a time may take and collect: the caller holds the workspace. A
 * checkpoint is complete and durable before its name exists.
 */
export class CheckpointStore {
  readonly contents: CheckpointContents
  readonly displaced: DisplacedFiles
  private readonly manifests: string
  private latest: { readonly manifest: Manifest; readonly checkpoint: Checkpoint } | null = null

  constructor(
    readonly directory: string,
    readonly limits: CheckpointLimits,
    private readonly clock: Clock,
    private readonly faults: Faults = noFaults,
  ) {
    this.contents = new CheckpointContents(join(directory, "contents"), faults)
    this.displaced = new DisplacedFiles(join(directory, "displaced"))
    this.manifests = join(directory, "manifests")
  }

  /** Keeps all of a tree. Copies only contents that no checkpoint holds yet. */
  takeTree(id: string, root: PinRoot, tree: Tree, pace = new Pace(this.clock)): Promise<TakeResult> {
    const entries = new Map(tree.entries.map(entry => [entry.path, entry]))
    const checkpoint: Checkpoint = {
      id,
      at: toIso(this.clock.now()),
      scope: "tree",
      digest: tree.digest,
      entries,
      absent: [],
      directories: tree.directories,
      uncovered: new Map(tree.closed.map(({ path, why }) => [`${path}/`, closedReasons[why]])),
      closed: new Map(tree.closed.map(({ path, identity }) => [path, identity])),
      ignoring: { rules: tree.rules, files: tree.ignored },
    }
    return this.take(root, checkpoint, pace)
  }

  /** Keeps the entries of some exact paths, or the fact that there is none. */
  async takeFiles(
    id: string,
    root: PinRoot,
    paths: readonly string[],
    pace = new Pace(this.clock),
  ): Promise<TakeResult> {
    const found = paths.map(path => ({ path, entry: readExactEntry(root, path, this.limits.fileBytesMax) }))
    const present = inTreeOrder(found.flatMap(({ entry }) => entry ?? []))
    const checkpoint: Checkpoint = {
      id,
      at: toIso(this.clock.now()),
      scope: "files",
      digest: digestOf(present),
      entries: new Map(present.map(entry => [entry.path, entry])),
      absent: found.filter(({ entry }) => entry === null).map(({ path }) => path),
      directories: [],
      missing: missingAround(root, paths),
      uncovered: new Map(),
    }
    return this.take(root, checkpoint, pace)
  }

  /** Returns null when the checkpoint does not exist. Throws ACODE-SEC-004 when it is damaged. */
  load(id: string, depthMax = Number.POSITIVE_INFINITY): Checkpoint | null {
    const manifest = this.manifest(id)
    if (manifest === null) return null
    // Each base has one base less behind it; without this bound, one that is its own base, also indirectly, would have
    // no end.
    if (manifest.depth > depthMax) throw damaged(id, "is built on itself")
    if (manifest.base === null) return checkpointOf(manifest, new Map())
    const base = this.load(manifest.base, manifest.depth - 1)
    if (base === null) throw damaged(id, `needs ${manifest.base}, which is missing`)
    return checkpointOf(manifest, base.entries)
  }

  /** Newest last. */
  list(): readonly { readonly id: string; readonly at: string }[] {
    return this.ids()
      .flatMap(id => this.manifest(id) ?? [])
      .map(({ id, at }) => ({ id, at }))
      .sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0))
  }

  /** Removes checkpoints in this order until so many bytes are free, and the contents that only they held. */
  collect(candidates: readonly string[], bytesWanted = Number.POSITIVE_INFINITY): CollectedCheckpoints {
    if (candidates.length === 0) return { removed: [], freedBytes: 0 }
    const { removed, referenced, freedBytes } = planCollection(this.kept(), candidates, bytesWanted)
    if (removed.length === 0) return { removed, freedBytes }
    for (const id of removed) {
      this.displaced.remove(id)
      rmSync(this.pathOf(id), { force: true })
      this.faults.reach("checkpoint.removed")
    }
    syncDirectory(this.manifests)
    this.faults.reach("checkpoint.collected")
    this.latest = null
    return { removed, freedBytes: referenced === null ? 0 : this.contents.keepOnly(referenced) }
  }

  /** Returns what each group would free on the disk if they were removed one after the other. */
  freedBy(groups: readonly (readonly string[])[]): readonly number[] {
    if (groups.length === 0) return []
    const sizeBeside = (id: string) => allotted(this.pathOf(id)) + this.displaced.allotted(id)
    return freedByGroup(
      { ...this.kept(), sizeOf: sha256 => this.contents.allotted(sha256), sizeBeside },
      groups,
    )
  }

  private kept(): KeptCheckpoints {
    const manifests = new Map(this.ids().map(id => [id, this.readableManifest(id)]))
    return { manifests, sizeOf: sha256 => this.contents.sizeOf(sha256), sizeBeside: () => 0 }
  }

  /**
   * Removes files that a process was writing when it died: nothing refers to them, and no other code would remove them.
   */
  sweep(): void {
    for (const name of this.names())
      if (name.endsWith(".tmp~")) rmSync(join(this.manifests, name), { force: true })
    this.contents.sweep()
  }

  private async take(root: PinRoot, found: Checkpoint, pace: Pace): Promise<TakeResult> {
    const entries = new Map(found.entries)
    const uncovered = new Map(found.uncovered)
    const notHeld = () => this.notHeld(root, entries)
    const lackedBytes = this.lackedBytes(notHeld())
    if (lackedBytes > 0) this.limits.makeRoom?.(lackedBytes)
    ensurePrivateDirectory(this.directory)
    let sources = this.fitting(notHeld())
    const copied: number[] = []
    for (let attempt = 1; sources.size > 0; attempt++) {
      const changed = await this.copy(sources, found.scope, pace)
      for (const { path, sizeBytes } of sources.values()) if (!changed.has(path)) copied.push(sizeBytes)
      if (changed.size === 0 || attempt === attemptsMax) break
      for (const path of changed) this.lookAgain(root, path, entries, uncovered)
      sources = this.fitting(notHeld())
    }
    for (const { path, sha256 } of notHeld())
      uncovered.set(path, sources.has(sha256) ? keptChanging : this.noRoom())
    for (const entry of entries.values())
      if (entry.kind === "file" && entry.sha256 === null)
        uncovered.set(entry.path, this.whyUnread(entry.sizeBytes))
    const isAsFound = entries.values().every(entry => found.entries.get(entry.path) === entry)
    const digest =
      isAsFound && entries.size === found.entries.size ? found.digest : digestOf(entries.values())
    const checkpoint = { ...found, entries, uncovered, digest }
    this.record(checkpoint)
    const copiedBytes = copied.reduce((sum, sizeBytes) => sum + sizeBytes, 0)
    return { checkpoint, copiedFiles: copied.length, copiedBytes }
  }

  /**
   * Copies contents and returns the paths that changed meanwhile. A tool requires the files that it is to change, so
   * that this is a failure; a command takes the tree as it is when it starts.
   */
  private async copy(
    sources: ReadonlyMap<string, ContentSource>,
    scope: Checkpoint["scope"],
    pace: Pace,
  ): Promise<ReadonlySet<string>> {
    const changed = new Set<string>()
    const onChanged = scope === "tree" ? ({ path }: ContentSource) => changed.add(path) : undefined
    await this.contents.add([...sources.values()], pace, onChanged)
    return changed
  }

  private notHeld(root: PinRoot, entries: ReadonlyMap<string, TreeEntry>): readonly ContentSource[] {
    return [...entries.values()].flatMap(entry =>
      entry.kind !== "file" || entry.sha256 === null || this.contents.has(entry.sha256)
        ? []
        : [contentSource(root, entry, entry.sha256)],
    )
  }

  /** Reads a path again; one that is not a file any more is named. */
  private lookAgain(
    root: PinRoot,
    path: string,
    entries: Map<string, TreeEntry>,
    uncovered: Map<string, string>,
  ): void {
    try {
      const entry = onPath(path, () => readExactEntry(root, path, this.limits.fileBytesMax))
      if (entry === null) entries.delete(path)
      else entries.set(path, entry)
    } catch (error) {
      if (!(error instanceof Failure)) throw error
      entries.delete(path)
      uncovered.set(path, keptChanging)
    }
  }

  /** Returns how many bytes all of them together exceed the space that is left. */
  private lackedBytes(missing: readonly ContentSource[]): number {
    if (missing.length === 0) return 0
    const sizes = new Map(missing.map(({ sha256, sizeBytes }) => [sha256, sizeBytes]))
    const wantedBytes = sizes.values().reduce((sum, size) => sum + size, 0)
    return wantedBytes + this.contents.storedBytes() - this.limits.totalBytesMax
  }

  /** Returns the contents that fit, by hash. Small ones first, so that the fewest files do not fit. */
  private fitting(missing: readonly ContentSource[]): ReadonlyMap<string, ContentSource> {
    const fitting = new Map<string, ContentSource>()
    if (missing.length === 0) return fitting
    let leftBytes = this.limits.totalBytesMax - this.contents.storedBytes()
    for (const source of missing.toSorted((a, b) => a.sizeBytes - b.sizeBytes)) {
      if (fitting.has(source.sha256)) continue
      leftBytes -= source.sizeBytes
      if (leftBytes < 0) break
      fitting.set(source.sha256, source)
    }
    return fitting
  }

  private whyUnread(sizeBytes: number): string {
    const { fileBytesMax } = this.limits
    if (sizeBytes <= fileBytesMax) return `it cannot be read, so ${noCopy}`
    return `it is larger than ${inMegabytes(fileBytesMax)} (checkpoints.max_file_mb), so ${noCopy}`
  }

  private noRoom(): string {
    const limit = inMegabytes(this.limits.totalBytesMax)
    return `all checkpoints together may take ${limit} (checkpoints.max_total_mb), so ${noCopy}`
  }

  /** Writes a checkpoint whose contents are kept. Durable on return. */
  record(checkpoint: Checkpoint): void {
    const path = this.pathOf(checkpoint.id)
    const latest = this.latest
    const manifest = manifestOf(checkpoint, latest?.manifest ?? null, latest?.checkpoint.entries ?? new Map())
    ensurePrivateDirectory(this.manifests)
    const temporary = `${path}.tmp~`
    try {
      const fd = openSync(
        temporary,
        constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | constants.O_NOFOLLOW,
        0o600,
      )
      try {
        writeAll(fd, Buffer.from(JSON.stringify(manifest)))
        fsyncSync(fd)
      } finally {
        closeSync(fd)
      }
      this.faults.reach("checkpoint.manifest-synced")
      renameSync(temporary, path)
      syncDirectory(this.manifests)
      this.faults.reach("checkpoint.named")
    } catch (error) {
      throw systemFailure(error, path)
    }
    if (checkpoint.scope === "tree") this.latest = { manifest, checkpoint }
  }

  private manifest(id: string): Manifest | null {
    let content: string
    try {
      content = readFileSync(this.pathOf(id), "utf8")
    } catch (error) {
      if (errnoOf(error) === "ENOENT") return null
      throw systemFailure(error, this.pathOf(id))
    }
    const parsed = Manifest().safeParse(parseJson(content))
    if (!parsed.success || parsed.data.id !== id) throw damaged(id, "is not readable")
    return parsed.data
  }

  /** Returns null when it is damaged: a damaged checkpoint must not keep all the others forever. */
  private readableManifest(id: string): Manifest | null {
    try {
      return this.manifest(id)
    } catch (error) {
      if (error instanceof Failure) return null
      throw error
    }
  }

  /** Returns the ids of all checkpoints, also damaged ones. Opens no file. */
  ids(): string[] {
    return this.names().flatMap(name => /^([A-Za-z0-9_-]{1,128})\.json$/.exec(name)?.[1] ?? [])
  }

  private names(): string[] {
    try {
      return readdirSync(this.manifests)
    } catch (error) {
      if (errnoOf(error) === "ENOENT") return []
      throw error
    }
  }

  private pathOf(id: string): string {
    if (!/^[A-Za-z0-9_-]{1,128}$/.test(id)) throw damaged(id, "has an id that is none")
    return join(this.manifests, `${id}.json`)
  }
}

const noCopy = "no copy was kept"

/** The number of attempts to copy a file that another process saves at the same moment. */
const attemptsMax = 5

const keptChanging = `another process changed it while it was being copied, so ${noCopy}`

const closedReasons = {
  unreadable: "it cannot be read, so its content is not known",
  tooDeep: "its path is too long for the system, so what was there is not known",
} as const

function inMegabytes(bytes: number): string {
  const megabytes = bytes / (1024 * 1024)
  return Number.isInteger(megabytes) ? `${megabytes} MB` : `${bytes} bytes`
}

/**
 * Returns a source that opens the file below the root without following a symlink; the copy verifies that its content
 * is unchanged.
 */
export function contentSource(root: PinRoot, entry: TreeEntry, sha256: string): ContentSource {
  return {
    path: entry.path,
    sha256,
    sizeBytes: entry.sizeBytes,
    open: () => {
      using file = pin(root, entry.path, "never")
      if (!file?.stat.isFile()) throw fileFailure("changed", entry.path, "changed while it was being copied")
      return openSync(file.at, constants.O_RDONLY | constants.O_NONBLOCK)
    },
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // Text that is not JSON is not a manifest, and is reported as damaged.
    return null
  }
}

function damaged(id: string, what: string): Failure {
  return new Failure({
    kind: "integrity",
    code: "ACODE-SEC-004",
    message: `the checkpoint ${id} ${what}`,
    where: id,
    hint: "it cannot be restored; use git or another copy",
  })
}
