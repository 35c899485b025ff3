import { closeSync, constants, lstatSync, mkdirSync, openSync, type Stats, statfsSync } from "node:fs"
import { dirname } from "node:path"
import { errnoOf } from "../base/assert.ts"
import { Failure } from "../domain/failure.ts"
import { guarded } from "./database/database.ts"
import { unsafeState } from "./database/store-failures.ts"

/**
 * Creates and checks the state directory: a real directory on a local disk, and a database file that only this user can
 * read. A symbolic link in its place would make acode write to its target.
 */
export function prepareStateDirectory(databasePath: string, artifactsDirectory: string): void {
  const directory = dirname(databasePath)
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  assertNoLink(directory)
  assertLocalFileSystem(directory)
  assertNoLink(artifactsDirectory)
  if (isDatabaseFile(databasePath)) return
  const flags = constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW
  closeSync(openSync(databasePath, flags, 0o600))
}

/** Runs the same checks for a reader, which creates nothing. */
export function assertStateDirectory(databasePath: string, artifactsDirectory: string): void {
  assertNoLink(dirname(databasePath))
  assertNoLink(artifactsDirectory)
  if (!isDatabaseFile(databasePath)) throw noHistory(databasePath)
  assertLocalFileSystem(dirname(databasePath))
}

/** Returns whether a history was recorded here. Throws if the directory cannot be read, because then it is unknown. */
export function hasHistory(databasePath: string): boolean {
  return guarded(databasePath, () => lstatOf(databasePath) !== null)
}

export function noHistory(databasePath: string): Failure {
  return new Failure({
    kind: "general",
    code: "ACODE-DB-001",
    message: "nothing has been recorded in this workspace yet",
    where: databasePath,
    hint: "`acode exec -- PROGRAM` records the first execution",
  })
}

/**
 * Refuses a network file system: locks and shared memory do not work there, and a database would be damaged sooner or
 * later.
 */
export function assertLocalFileSystem(directory: string, typeOf = fileSystemType): void {
  const name = networkFileSystems.get(typeOf(directory))
  if (name === undefined) return
  throw new Failure({
    kind: "general",
    code: "ACODE-DB-008",
    message: `the state directory is on a network file system (${name}), where a database can be damaged`,
    where: directory,
    hint: "set ACODE_STATE_DIR to a directory on a local disk",
  })
}

function fileSystemType(directory: string): number {
  return statfsSync(directory).type >>> 0
}

/** Values of `f_type` in statfs(2). FUSE is left out: most file systems that use it are local. */
const networkFileSystems: ReadonlyMap<number, string> = new Map([
  [0x6969, "nfs"],
  [0x517b, "smb"],
  [0xff534d42, "cifs"],
  [0xfe534d42, "smb2"],
  [0x5346414f, "afs"],
  [0x6b414653, "afs"],
  [0x73757245, "coda"],
  [0x01021997, "9p"],
  [0x00c36400, "ceph"],
  [0x0bd00bd0, "lustre"],
  [0x47504653, "gpfs"],
  [0x01161970, "gfs2"],
  [0x7461636f, "ocfs2"],
])

/**
 * Returns whether the database file exists. SQLite refuses a directory, but it would open a pipe and wait for a writer.
 */
function isDatabaseFile(path: string): boolean {
  const stats = assertNoLink(path)
  if (stats === null) return false
  if (stats.isFile() || stats.isDirectory()) return true
  throw unsafeState(path, "the workspace database is not a regular file", "move it away")
}

function assertNoLink(path: string): Stats | null {
  const stats = lstatOf(path)
  if (!stats?.isSymbolicLink()) return stats
  throw unsafeState(
    path,
    "a symbolic link is in place of acode's state",
    "remove the link; acode creates a file or directory there",
  )
}

function lstatOf(path: string): Stats | null {
  try {
    return lstatSync(path)
  } catch (error) {
    if (errnoOf(error) === "ENOENT" || errnoOf(error) === "ENOTDIR") return null
    throw error
  }
}
