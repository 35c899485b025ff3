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

/** The configuration file that the user trusts or not, and its workspace. */
export interface TrustSubject {
  readonly workspaceRoot: string
  readonly configPath: string
  readonly dataHome: string
}

/**
 * Records that the user allows exactly this content to loosen security in this workspace. `hash` is the one that the
 * user was shown, so that a file that changes in between is not trusted by accident.
 */
export function trustProject(subject: TrustSubject, hash: string, clock: Clock): void {
  const place = placeOf(subject)
  if (place.isInsideWorkspace)
    throw unsafe(place.directory, "it is inside the workspace, where the project itself could write it", {
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
    throw unsafe(place.directory, `it cannot be written: ${errnoOf(thrown) ?? messageOf(thrown)}`, {
      hint: `make it writable, or use ACODE_TRUST_PROJECT=${hash}`,
    })
  }
}

/** Reports whether the user trusted exactly this content in this workspace; false where that is unclear. */
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

/** Returns the paths of the trust record: one file per workspace and configuration file. */
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
    // The path does not exist yet, so it has no symlinks to resolve.
    return path
  }
}

/** Reads the record, or returns null when there is none. Throws when another user could have written it. */
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
    if (isOpenToOthers(stats, 0o077)) throw unsafe(place.file, openToOthers)
    return stats.size > 64 * 1024 ? null : readFileSync(descriptor, "utf8")
  } finally {
    closeSync(descriptor)
  }
}

/** Throws when another user can write one of the directories, and so could place a record there. */
function assertPrivate({ directory }: TrustPlace): void {
  const stats = lstatSync(directory)
  if (!stats.isDirectory()) throw unsafe(directory, "it is a symlink or a file, not a directory")
  if (isOpenToOthers(stats, 0o077)) throw unsafe(directory, openToOthers)
  const parent = dirname(directory)
  if (isOpenToOthers(lstatSync(parent), 0o022)) throw unsafe(parent, openToOthers)
}

const openToOthers = "it belongs to another user or is open to other users"

function isOpenToOthers(stats: Stats, forbidden: number): boolean {
  return stats.uid !== process.getuid?.() || (stats.mode & forbidden) !== 0
}

function parsed(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === "object" && value !== null ? { ...value } : {}
  } catch {
    // A damaged record counts as none: the file stays untrusted until the user trusts it again.
    return {}
  }
}

function unsafe(where: string, reason: string, { hint }: { hint?: string } = {}): Failure {
  return new Failure({
    kind: "integrity",
    code: "ACODE-SEC-006",
    message: `the directory of trust records is not safe: ${reason}`,
    where,
    hint: hint ?? "chown it to yourself, chmod 700 the directory and chmod 600 the files in it",
  })
}
