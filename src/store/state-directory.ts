import { closeSync, constants, lstatSync, mkdirSync, openSync, type Stats, statfsSync } from "node:fs"
import { dirname } from "node:path"
import { errnoOf } from "../base/assert.ts"
import { Failure } from "../domain/failure.ts"
import { guarded } from "./database/database.ts"
import { unsafeState } from "./database/store-failures.ts"

/**
 * Makes the place of the database ready: a real directory on a local disk and a file only this user can read. A link
 * in its place would make acode write where it points.
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

/** The same checks for a reader, who creates nothing. */
export function assertStateDirectory(databasePath: string, artifactsDirectory: string): void {
  assertNoLink(dirname(databasePath))
  assertNoLink(artifactsDirectory)
  if (!isDatabaseFile(databasePath)) throw noHistory(databasePath)
  assertLocalFileSystem(dirname(databasePath))
}

/** Whether anything was recorded here. A directory that cannot be looked into says nothing, and is told as such. */
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

/** Locks and shared memory do not work over a network, and a database there is damaged sooner or later. */
export function assertLocalFileSystem(directory: string, typeOf = fileSystemType): void {
  const name = networkFileSystems.get(typeOf(directory))
  if (name === undefined) return
  throw new Failure({
    kind: "general",
    code: "ACODE-DB-008",
    message: `the directory for the state is on a network file system (${name}), where no history can be kept safely`,
    where: directory,
    hint: "let ACODE_STATE_DIR name a directory on a local disk",
  })
}

function fileSystemType(directory: string): number {
  return statfsSync(directory).type >>> 0
}

/** `f_type` of statfs(2). FUSE is not here: most of what uses it is local. */
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

/** False when nothing is there. SQLite refuses a directory; a pipe it would open, and wait for a writer. */
function isDatabaseFile(path: string): boolean {
  const stats = assertNoLink(path)
  if (stats === null) return false
  if (stats.isFile() || stats.isDirectory()) return true
  throw unsafeState(path, "what stands in the place of the workspace database is not a file", "move it away")
}

function assertNoLink(path: string): Stats | null {
  const stats = lstatOf(path)
  if (!stats?.isSymbolicLink()) return stats
  throw unsafeState(
    path,
    "a symbolic link stands where acode keeps its state",
    "remove the link; acode makes a file or directory of its own there",
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
