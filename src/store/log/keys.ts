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
 * Makes the signing key of a new workspace and gives it back, durable. The file appears under its name only when it
 * is whole: it is written aside and linked into place, which fails rather than replaces when a key is there.
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

/** Reads the signing key, and refuses one that somebody else could have read or put there. */
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

/** Whether this user has the key of such a workspace. */
export function hasKeyFor(directory: string, workspaceId: string): boolean {
  return isWorkspaceId(workspaceId) && existsSync(keyPath(directory, workspaceId))
}

export function keyPath(directory: string, workspaceId: string): string {
  // The id comes out of a file in the workspace: anything but its own shape could lead to another file.
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
    message: "the signing key is not the one this workspace's history was signed with",
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
    hint: "restore the key from a backup; where it is lost, `acode audit accept --reason TEXT` sets the history aside",
  })
}

/** Also for the anchors and the state of workspaces. */
export function makePrivateDirectory(directory: string): void {
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 })
  } catch (error) {
    // Said here: whoever opens the database takes what goes wrong for a fault of the database.
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
      message: `acode cannot make the directory it keeps its records in (${messageOf(cause)})`,
      where: directory,
      hint: "let XDG_DATA_HOME and XDG_STATE_HOME name directories that this user can write to",
    },
    { cause },
  )
}

function assertPrivateDirectory(directory: string): void {
  const stats = lstatSync(directory)
  if (!stats.isDirectory())
    throw unsafeState(directory, "acode keeps its records in a directory, and this is none", "remove it")
  if ((stats.mode & 0o022) !== 0)
    throw unsafeState(directory, "others can write where acode keeps its records", `chmod 700 ${directory}`)
  const user = process.getuid?.() ?? stats.uid
  if (stats.uid !== user && user !== 0)
    throw unsafeState(
      directory,
      "the directory acode keeps its records in belongs to another user",
      "remove it",
    )
}

function assertPrivateFile(path: string, stats: Stats): void {
  if (!stats.isFile()) throw unsafeState(path, "the signing key is not a file", keyHint)
  if ((stats.mode & 0o077) !== 0)
    throw unsafeState(path, "the signing key can be read or changed by others", `chmod 600 ${path}`)
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
