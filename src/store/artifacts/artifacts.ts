import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  futimesSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  utimesSync,
  writeSync,
} from "node:fs"
import { dirname, join } from "node:path"
import { assert, errnoOf } from "../../base/assert.ts"
import { canonicalJson, type Json, sha256Hex } from "../../base/canonical.ts"
import type { Clock } from "../../base/clock.ts"
import type { Faults } from "../../base/faults.ts"
import type { ProcessIdentity } from "../../domain/process-identity.ts"
import { redactJson } from "../../domain/text/redacted-json.ts"
import type { ArtifactStore, StoredJson, StoreRedactor } from "../contract.ts"
import { guarded } from "../database/database.ts"
import { brokenArtifact, unsafeState } from "../database/store-failures.ts"

export interface ArtifactDeps {
  readonly directory: string
  readonly redactor: StoreRedactor
  readonly clock: Clock
  readonly faults: Faults
  /** The writer of the files that this process has not finished. */
  readonly self: ProcessIdentity
}

/** An artifact store that also remembers which requested artifacts are missing. */
export interface WatchedArtifacts extends ArtifactStore {
  readonly missing: ReadonlySet<string>
}

export function createArtifacts(deps: ArtifactDeps): WatchedArtifacts {
  const missing = new Set<string>()
  return {
    missing,
    put: content => guarded(deps.directory, () => put(deps, deps.redactor.redactBytes(content))),
    putJson: value => guarded(deps.directory, () => putJson(deps, value)),
    get: ref =>
      guarded(ref, () => {
        const content = get(deps.directory, ref)
        if (content === null) missing.add(ref)
        return content
      }),
  }
}

/** Returns the path of an artifact: the first two digits of its hash are its folder. */
export function artifactPath(directory: string, ref: string): string {
  const hash = /^sha256:([0-9a-f]{64})$/.exec(ref)?.[1]
  assert(hash !== undefined, `"${ref}" is the name of an artifact`)
  return join(directory, hash.slice(0, 2), hash.slice(2))
}

/**
 * Returns the size of the stored file; null if there is none. A symbolic link does not count: acode never makes one.
 */
export function storedBytes(directory: string, ref: string): number | null {
  try {
    const stats = lstatSync(artifactPath(directory, ref))
    return stats.isFile() ? stats.size : null
  } catch (error) {
    if (errnoOf(error) === "ENOENT" || errnoOf(error) === "ENOTDIR") return null
    throw error
  }
}

function put(deps: ArtifactDeps, content: Uint8Array): string {
  const ref = `sha256:${sha256Hex(content)}`
  const path = artifactPath(deps.directory, ref)
  if (holds(deps.directory, ref, content) && touch(path, deps.clock)) return ref
  makeDirectories(deps.directory, dirname(path))
  const aside = join(dirname(path), asideName(deps.self))
  try {
    writeWhole(aside, content, deps.clock)
    deps.faults.reach("artifact.synced")
    renameSync(aside, path)
  } catch (error) {
    rmSync(aside, { force: true })
    throw error
  }
  syncDirectory(dirname(path))
  deps.faults.reach("artifact.renamed")
  return ref
}

function putJson(deps: ArtifactDeps, value: Json): StoredJson {
  const content = Buffer.from(canonicalJson(redactJson(value, deps.redactor)))
  return { ref: put(deps, content), bytes: content.length }
}

/** Begins the name of a file that is being written. A file that is left behind is removed once its writer is dead. */
export const asidePrefix = ".aside-"

function asideName({ bootId, pid, startTicks }: ProcessIdentity): string {
  return `${asidePrefix}${bootId.replace("/", "_")}.${pid}.${startTicks}.${crypto.randomUUID()}`
}

/** Returns the process that writes the file of this name; null if the name does not contain it. */
export function asideWriter(name: string): ProcessIdentity | null {
  const [, bootId, pid, startTicks] = /^\.aside-([^.]+)\.(\d+)\.(\d+)\.[0-9a-f-]{36}$/.exec(name) ?? []
  if (bootId === undefined || pid === undefined || startTicks === undefined) return null
  return { bootId: bootId.replace("_", "/"), pid: Number(pid), startTicks }
}

/**
 * Compares the content, not the size: a damaged file may have the right size, and an event would refer to an unreadable
 * artifact.
 */
function holds(directory: string, ref: string, content: Uint8Array): boolean {
  if (storedBytes(directory, ref) !== content.length) return false
  return withArtifact(directory, ref, fd => readFileSync(fd).equals(content)) ?? false
}

/** Sets the time of the file, so that a prune in another process knows that an event is about to refer to it. */
function touch(path: string, clock: Clock): boolean {
  try {
    const now = clock.now() / 1000
    utimesSync(path, now, now)
    return true
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return false
    throw error
  }
}

function makeDirectories(root: string, directory: string): void {
  if (mkdirSync(directory, { recursive: true, mode: 0o700 }) !== undefined) {
    syncDirectory(root)
    syncDirectory(dirname(root))
    return
  }
  if (lstatSync(directory).isSymbolicLink())
    throw unsafeState(directory, "the folder for artifacts is a symbolic link", "remove the link")
}

function writeWhole(path: string, content: Uint8Array, clock: Clock): void {
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW
  const fd = openSync(path, flags, 0o600)
  try {
    for (let written = 0; written < content.length; )
      written += writeSync(fd, content, written, content.length - written)
    // Uses the clock of the events, because a prune compares the two.
    futimesSync(fd, clock.now() / 1000, clock.now() / 1000)
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
}

/** Makes a new name durable: a rename is only in memory until its directory is synced. */
function syncDirectory(directory: string): void {
  const fd = openSync(directory, constants.O_RDONLY | constants.O_DIRECTORY)
  try {
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
}

function get(directory: string, ref: string): Uint8Array | null {
  const content = withArtifact(directory, ref, fd => readFileSync(fd))
  if (content === null) return null
  if (`sha256:${sha256Hex(content)}` !== ref) throw brokenArtifact(ref)
  return content
}

/**
 * Opens an artifact and returns what `use` returns; null if the artifact is missing. O_NONBLOCK, because a pipe in its
 * place would block the open call.
 */
export function withArtifact<Result>(
  directory: string,
  ref: string,
  use: (fd: number) => Result,
): Result | null {
  let fd: number
  try {
    fd = openSync(
      artifactPath(directory, ref),
      constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK,
    )
  } catch (error) {
    if (["ENOENT", "ENOTDIR", "ELOOP"].includes(errnoOf(error) ?? "")) return null
    throw error
  }
  try {
    return fstatSync(fd).isFile() ? use(fd) : null
  } finally {
    closeSync(fd)
  }
}
