import {
  chmodSync,
  closeSync,
  constants,
  existsSync,
  lstatSync,
  mkdirSync,
  openSync,
  readSync,
  realpathSync,
  statSync,
} from "node:fs"
import { basename, dirname, join } from "node:path"
import { errnoOf } from "../../base/assert.ts"
import { canonicalJson, sha256Hex } from "../../base/canonical.ts"
import { shownPath } from "../../base/path-names.ts"
import type { AppEnvironment } from "../../config/environment.ts"
import { Failure } from "../../domain/failure.ts"
import { isWithin } from "../../sandbox/tree/paths.ts"
import { guarded } from "../../store/database/database.ts"
import { applicationId } from "../../store/database/schema.ts"
import { tooBroad } from "../../workspace/locate.ts"

/**
 * The paths of everything about one workspace. Only `agentDirectory` is inside the workspace, and it holds no state.
 */
export interface StatePlaces {
  /** The directory of files that people write and may commit: configuration, plans, scripts. */
  readonly agentDirectory: string
  /** The state of every workspace of this user, each in a directory of its own. */
  readonly workspacesDirectory: string
  /** The state of this workspace. Nothing in a repository can name, replace or link into it. */
  readonly stateDirectory: string
  readonly databasePath: string
  /** The index of the code, a cache. */
  readonly codeIndexPath: string
  readonly artifactsDirectory: string
  readonly quarantineDirectory: string
  /** The only directory with byte-exact copies of user files; masked in every sandbox like all state. */
  readonly checkpointsDirectory: string
  /** Keys, anchors and trust of all workspaces. */
  readonly dataDirectory: string
  readonly keysDirectory: string
  readonly anchorsDirectory: string
  readonly trustDirectory: string
}

type Homes = Pick<AppEnvironment, "xdgDataHome" | "xdgStateHome" | "stateDirectory">

export function statePlaces(workspaceRoot: string, homes: Homes): StatePlaces {
  const workspacesDirectory = join(homes.stateDirectory ?? join(homes.xdgStateHome, "acode"), "workspaces")
  const stateDirectory = join(workspacesDirectory, workspaceKey(directoryIdentity(workspaceRoot)))
  const dataDirectory = join(homes.xdgDataHome, "acode")
  return {
    agentDirectory: join(workspaceRoot, ".agent"),
    workspacesDirectory,
    stateDirectory,
    ...partsOfState(stateDirectory),
    dataDirectory,
    keysDirectory: join(dataDirectory, "keys"),
    anchorsDirectory: join(dataDirectory, "anchors"),
    trustDirectory: join(dataDirectory, "trust"),
  }
}

export function partsOfState(directory: string) {
  return {
    databasePath: join(directory, "workspace.db"),
    codeIndexPath: join(directory, "code.db"),
    artifactsDirectory: join(directory, "artifacts"),
    quarantineDirectory: join(directory, "quarantine"),
    checkpointsDirectory: join(directory, "checkpoints"),
  }
}

/** The identity of a directory: its path, and properties that a new directory at the same path does not share. */
export interface DirectoryIdentity {
  readonly root: string
  readonly inode: string
  /** The creation time in nanoseconds; 0 on a file system that does not record it. */
  readonly born: string
}

export function directoryIdentity(root: string): DirectoryIdentity {
  const { ino, birthtimeNs } = statSync(root, { bigint: true })
  return { root, inode: String(ino), born: String(birthtimeNs) }
}

/** Returns the name of the state directory. It begins with the workspace's name, so that people recognise it. */
export function workspaceKey({ root, inode, born }: DirectoryIdentity): string {
  const name = basename(root)
    .replaceAll(/[^A-Za-z0-9_.-]+/g, "-")
    .replace(/^[.-]+/, "")
    .slice(0, 32)
  return `${name === "" ? "root" : name}-${sha256Hex(canonicalJson({ root, inode, born })).slice(0, 16)}`
}

/** Returns whether `.agent` holds a database marked as one of acode, and the state directory holds none. */
export function hasOldState(places: StatePlaces): boolean {
  const { databasePath } = partsOfState(places.agentDirectory)
  return !existsSync(places.databasePath) && guarded(databasePath, () => saysItIsOurs(databasePath))
}

/** Returns whether a database has acode's application id, which SQLite stores at a fixed offset. */
function saysItIsOurs(databasePath: string): boolean {
  if (!isFileAt(databasePath)) return false
  const fd = openSync(databasePath, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  try {
    const header = Buffer.alloc(100)
    return readSync(fd, header, 0, 100, 0) === 100 && header.readInt32BE(68) === applicationId
  } finally {
    closeSync(fd)
  }
}

/** Returns false also where a file or a circle of links stands in place of the directory. */
function isFileAt(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.isFile() === true
  } catch (error) {
    if (errnoOf(error) === "ENOTDIR" || errnoOf(error) === "ELOOP") return false
    throw error
  }
}

/** Creates `.agent`. Refuses a symlink in its place, which would redirect writes. */
export function ensureAgentDirectory(agentDirectory: string): void {
  try {
    mkdirSync(agentDirectory, { mode: 0o755 })
  } catch (error) {
    if (errnoOf(error) !== "EEXIST") throw cannotCreate(agentDirectory, errnoOf(error))
  }
  const stat = lstatSync(agentDirectory)
  if (!stat.isDirectory()) throw notADirectory()
  if ((stat.mode & 0o022) !== 0) chmodSync(agentDirectory, stat.mode & 0o755)
}

/** Refuses a workspace that is too broad to be one project, such as a home directory. */
export function assertNarrow(workspaceRoot: string, home: string): void {
  const reason = tooBroad(workspaceRoot, realOf(home))
  if (reason === null) return
  throw new Failure({
    kind: "usage",
    code: "ACODE-CLI-008",
    message: `acode does not work in ${shownPath(workspaceRoot)}: ${reason}`,
    where: workspaceRoot,
    hint: "change into a directory of its own or name one with -C DIR; --allow-broad-workspace works here all the same",
  })
}

/** Refuses a state directory inside the workspace, where a repository could contain its files. */
export function assertStateOutside({ workspacesDirectory }: StatePlaces, workspaceRoot: string): void {
  const real = realOf(workspacesDirectory)
  if (!isWithin(real, workspaceRoot)) return
  throw new Failure({
    kind: "confinement",
    code: "ACODE-SEC-006",
    message: "acode would keep its state inside the workspace, where whatever works there could change it",
    where: real,
    hint: "choose a smaller workspace with -C, or let ACODE_STATE_DIR name a directory outside of this one",
  })
}

/** Returns the real path of the part that exists, followed by the rest as it is written. */
function realOf(path: string): string {
  try {
    return realpathSync(path)
  } catch (error) {
    const parent = dirname(path)
    if (errnoOf(error) !== "ENOENT" || parent === path) return path
    return join(realOf(parent), basename(path))
  }
}

function cannotCreate(path: string, errno: string | null): Failure {
  return new Failure({
    kind: "config",
    code: errno === "ENOSPC" || errno === "EDQUOT" ? "ACODE-FS-010" : "ACODE-CFG-001",
    message: `cannot make the directory of the project's configuration: ${errno ?? "unknown error"}`,
    where: path,
    hint: "make the workspace writable or choose another one with -C",
  })
}

function notADirectory(): Failure {
  return new Failure({
    kind: "confinement",
    code: "ACODE-SEC-006",
    message: ".agent is not a directory of this workspace (a symlink or a file stands there)",
    where: ".agent",
    hint: "remove it; acode reads and writes the project's configuration only in a real directory",
  })
}
