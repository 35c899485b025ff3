import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  type Stats,
} from "node:fs"
import { dirname, join } from "node:path"
import { errnoOf, messageOf } from "../base/assert.ts"
import { canonicalJson, sha256Hex } from "../base/canonical.ts"
import { type Clock, toIso } from "../base/clock.ts"
import { Failure } from "../domain/failure.ts"
import { writeAtomically } from "./write.ts"

/** Which file of which workspace a person trusts. */
export interface TrustSubject {
  readonly workspaceRoot: string
  readonly configPath: string
  readonly dataHome: string
}

/**
 * Records a person's word that this very content may loosen security in this workspace. `hash` is the one the person
 * was shown, so a file that changes in between is not trusted by accident.
 */
export function trustProject(subject: TrustSubject, hash: string, clock: Clock): void {
  const place = placeOf(subject)
  if (place.isInsideWorkspace)
    throw unsafe(place.directory, "it lies inside the workspace, where the project itself could write it", {
      hint: `set XDG_DATA_HOME to a directory outside the workspace, or use ACODE_TRUST_PROJECT=${hash}`,
    })
  try {
    mkdirSync(place.directory, { recursive: true, mode: 0o700 })
    assertPrivate(place)
    const record = {
      version: 1,
      workspace: place.workspace,
      file: subject.configPath,
      hash,
      trustedAt: toIso(clock.now()),
    }
    writeAtomically(place.file, `${canonicalJson(record)}\n`, 0o600)
  } catch (thrown) {
    if (thrown instanceof Failure) throw thrown
    throw unsafe(place.directory, `trust cannot be recorded there: ${errnoOf(thrown) ?? messageOf(thrown)}`, {
      hint: `make it writable, or use ACODE_TRUST_PROJECT=${hash}`,
    })
  }
}

/** Whether a person trusted exactly this content in this workspace. Anything unclear is a no. */
export function isTrusted(subject: TrustSubject, hash: string): boolean {
  const place = placeOf(subject)
  if (place.isInsideWorkspace) return false
  const text = readRecord(place)
  if (text === null) return false
  const record = parsed(text)
  return (
    record["workspace"] === place.workspace &&
    record["file"] === subject.configPath &&
    record["hash"] === hash
  )
}

interface TrustPlace {
  readonly workspace: string
  readonly directory: string
  readonly file: string
  readonly isInsideWorkspace: boolean
}

/** One file per workspace and configuration file, so that two of them never overwrite each other. */
function placeOf({ workspaceRoot, configPath, dataHome }: TrustSubject): TrustPlace {
  const workspace = realpathSync(workspaceRoot)
  const directory = join(realOrSelf(dataHome), "acode", "trust")
  const file = join(directory, `${sha256Hex(canonicalJson([workspace, configPath]))}.json`)
  const isInsideWorkspace = `${directory}/`.startsWith(workspace === "/" ? "/" : `${workspace}/`)
  return { workspace, directory, file, isInsideWorkspace }
}

function realOrSelf(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    // It does not exist yet; then there is no symlink to follow either.
    return path
  }
}

/** Null when nothing is recorded. Throws when somebody else could have written what is. */
function readRecord(place: TrustPlace): string | null {
  let descriptor: number
  try {
    descriptor = openSync(place.file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  } catch (thrown) {
    const code = errnoOf(thrown)
    if (code === "ENOENT" || code === "ENOTDIR") return null
    throw unsafe(place.file, `it cannot be read: ${code ?? messageOf(thrown)}`)
  }
  try {
    assertPrivate(place)
    const stats = fstatSync(descriptor)
    if (!stats.isFile()) throw unsafe(place.file, "it is not a file")
    if (isOpenToOthers(stats, 0o077)) throw unsafe(place.file, whoElse)
    return stats.size > 64 * 1024 ? null : readFileSync(descriptor, "utf8")
  } finally {
    closeSync(descriptor)
  }
}

/** Whoever can write one of these directories can put a record of their own there. */
function assertPrivate({ directory }: TrustPlace): void {
  const stats = lstatSync(directory)
  if (!stats.isDirectory()) throw unsafe(directory, "it is not a directory of its own (a symlink or a file)")
  if (isOpenToOthers(stats, 0o077)) throw unsafe(directory, whoElse)
  const parent = dirname(directory)
  if (isOpenToOthers(lstatSync(parent), 0o022)) throw unsafe(parent, whoElse)
}

const whoElse = "it belongs to another user or is open to other users"

function isOpenToOthers(stats: Stats, forbidden: number): boolean {
  return stats.uid !== process.getuid?.() || (stats.mode & forbidden) !== 0
}

function parsed(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === "object" && value !== null ? { ...value } : {}
  } catch {
    // A record nobody can read is no record: the file stays untrusted until a person says so again.
    return {}
  }
}

function unsafe(where: string, reason: string, { hint }: { hint?: string } = {}): Failure {
  return new Failure({
    kind: "integrity",
    code: "ACODE-SEC-006",
    message: `the place where trust is kept is not safe: ${reason}`,
    where,
    hint: hint ?? "make it yours alone: chown it, chmod 700 the directory and chmod 600 the files in it",
  })
}
