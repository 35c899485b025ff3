import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  fsyncSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readSync,
  rmSync,
  type Stats,
  writeSync,
} from "node:fs"
import { join } from "node:path"
import { errnoOf, messageOf } from "../../base/assert.ts"
import type { Faults } from "../../base/faults.ts"
import { Failure } from "../../domain/failure.ts"
import { unsafeState } from "../database/store-failures.ts"

const keyBytes = 32

/**
 * Creates the signing key of a new workspace and returns it once it is durable. The file gets its name only when it is
 * complete: it is written under another name and linked into place, which fails instead of replacing an existing key.
 */
export function createKey(directory: string, workspaceId: string, faults: Faults): Uint8Array {
  makePrivateDirectory(directory)
  const path = keyPath(directory, workspaceId)
  const aside = `${path}.${process.pid}.${crypto.randomUUID()}`
  const key = crypto.getRandomValues(new Uint8Array(keyBytes))
  try {
    const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW
    withFile(aside, flags, fd => {
      writeSync(fd, key)
      fsyncSync(fd)
    })
    faults.reach("key.written")
    linkSync(aside, path)
    faults.reach("key.linked")
  } finally {
    rmSync(aside, { force: true })
  }
  withFile(directory, constants.O_RDONLY | constants.O_DIRECTORY, fsyncSync)
  return key
}

/** Reads the signing key. Refuses a key that another user could have read or written. */
export function readKey(directory: string, workspaceId: string): Uint8Array {
  const path = keyPath(directory, workspaceId)
  try {
    assertPrivateDirectory(directory)
    return withFile(path, constants.O_RDONLY | constants.O_NOFOLLOW, fd => {
      assertPrivateFile(path, fstatSync(fd))
      const key = new Uint8Array(keyBytes + 1)
      if (readSync(fd, key, 0, key.length, 0) !== keyBytes) throw keyReplaced(path)
      return key.slice(0, keyBytes)
    })
  } catch (error) {
    if (errnoOf(error) === "ENOENT") throw keyMissing(path)
    if (errnoOf(error) === "ELOOP") throw unsafeState(path, "the signing key is a symbolic link", keyHint)
    throw error
  }
}

/** Returns whether this user has the key of a workspace. */
export function hasKeyFor(directory: string, workspaceId: string): boolean {
  return isWorkspaceId(workspaceId) && existsSync(keyPath(directory, workspaceId))
}

export function keyPath(directory: string, workspaceId: string): string {
  // The id comes from a file in the workspace: without this check it could lead to another file.
  if (!isWorkspaceId(workspaceId)) throw keyMissing(directory)
  return join(directory, `${workspaceId}.key`)
}

export function isWorkspaceId(text: string): boolean {
  return /^wsp_[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/.test(text)
}

export function keyReplaced(path: string): Failure {
  return new Failure({
    kind: "integrity",
    code: "ACODE-SEC-002",
    message: "the history of this workspace was signed with another key",
    where: path,
    hint: keyHint,
  })
}

const keyHint = "restore the key from a backup, or move the database away to start a new history"

function keyMissing(path: string): Failure {
  return new Failure({
    kind: "integrity",
    code: "ACODE-SEC-001",
    message: "the signing key of this workspace's history is missing",
    where: path,
    hint: "restore the key from a backup; if it is lost, `acode audit accept --reason TEXT` sets the history aside",
  })
}

/** Creates a directory that only this user can write to, or checks an existing one. Anchors and states use it too. */
export function makePrivateDirectory(directory: string): void {
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 })
  } catch (error) {
    // Reported here, because the caller that opens the database would report it as a fault of the database.
    if (!["ENOENT", "ENOTDIR", "EEXIST", "EACCES", "EPERM", "EROFS"].includes(errnoOf(error) ?? ""))
      throw error
    throw notMade(directory, error)
  }
  assertPrivateDirectory(directory)
}

function notMade(directory: string, cause: unknown): Failure {
  return new Failure(
    {
      kind: "general",
      code: "ACODE-DB-003",
      message: `cannot create the directory for acode's records (${messageOf(cause)})`,
      where: directory,
      hint: "set XDG_DATA_HOME and XDG_STATE_HOME to directories that this user can write to",
    },
    { cause },
  )
}

function assertPrivateDirectory(directory: string): void {
  const stats = lstatSync(directory)
  if (!stats.isDirectory())
    throw unsafeState(directory, "the path of acode's records is not a directory", "remove it")
  if ((stats.mode & 0o022) !== 0)
    throw unsafeState(
      directory,
      "other users can write to the directory of acode's records",
      `chmod 700 ${directory}`,
    )
  const user = process.getuid?.() ?? stats.uid
  if (stats.uid !== user && user !== 0)
    throw unsafeState(directory, "the directory of acode's records belongs to another user", "remove it")
}

function assertPrivateFile(path: string, stats: Stats): void {
  if (!stats.isFile()) throw unsafeState(path, "the signing key is not a file", keyHint)
  if ((stats.mode & 0o077) !== 0)
    throw unsafeState(path, "other users can read or change the signing key", `chmod 600 ${path}`)
  const user = process.getuid?.() ?? stats.uid
  if (stats.uid !== user && user !== 0)
    throw unsafeState(path, "the signing key belongs to another user", keyHint)
}

function withFile<Result>(path: string, flags: number, work: (fd: number) => Result): Result {
  const fd = openSync(path, flags, 0o600)
  try {
    return work(fd)
  } finally {
    closeSync(fd)
  }
}
