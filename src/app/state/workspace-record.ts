import { lstatSync, readFileSync } from "node:fs"
import { basename, join } from "node:path"
import { errnoOf } from "../../base/assert.ts"
import { type Clock, toIso } from "../../base/clock.ts"
import { shownPath } from "../../base/path-names.ts"
import { oneLine } from "../../base/text.ts"
import { writeAtomically } from "../../config/write.ts"
import { guarded } from "../../store/database/database.ts"
import { makePrivateDirectory } from "../../store/log/keys.ts"
import {
  type DirectoryIdentity,
  directoryIdentity,
  partsOfState,
  type StatePlaces,
  workspaceKey,
} from "./state-directory.ts"
import { namesIn } from "./storage-use.ts"

/** The record that says to which workspace a state directory belongs. */
export interface WorkspaceRecord extends DirectoryIdentity {
  readonly madeAt: string
}

/** The state of a workspace, and whether the directory of that workspace is still where it was. */
export interface KnownWorkspace extends WorkspaceRecord {
  readonly key: string
  readonly directory: string
  /**
   * `here`: the workspace this acode works in. `gone`: its path is empty or has another directory now. `aside`: its
   * directory has adopted another history.
   */
  readonly standing: "here" | "elsewhere" | "gone" | "aside"
}

/** Creates the state directory of this workspace, and records to which workspace it belongs. */
export function recordWorkspace(places: StatePlaces, root: string, clock: Clock): void {
  const { stateDirectory } = places
  guarded(stateDirectory, () => {
    makePrivateDirectory(places.workspacesDirectory)
    makePrivateDirectory(stateDirectory)
    const path = recordPath(stateDirectory)
    if (lstatSync(path, { throwIfNoEntry: false }) !== undefined) return
    const record: WorkspaceRecord = { ...directoryIdentity(root), madeAt: toIso(clock.now()) }
    writeRecord(stateDirectory, record)
  })
}

export function writeRecord(directory: string, record: WorkspaceRecord): void {
  writeAtomically(recordPath(directory), `${JSON.stringify({ schema_version: "1", ...record })}\n`, 0o600)
}

/** Returns every workspace with recorded state, in the order of their keys. */
export function knownWorkspaces(places: StatePlaces): readonly KnownWorkspace[] {
  const here = basename(places.stateDirectory)
  return namesIn(places.workspacesDirectory).flatMap(key => {
    const directory = join(places.workspacesDirectory, key)
    const record = readRecord(directory)
    if (record === null || !hasRecorded(directory)) return []
    return [{ ...record, key, directory, standing: key === here ? "here" : standingOf(key, record) }]
  })
}

/** Returns the state of directories that may have become this one: moved or renamed here, or once at this path. */
function formerWorkspaces(places: StatePlaces, root: string): readonly KnownWorkspace[] {
  const self = directoryIdentity(root)
  return knownWorkspaces(places).filter(
    known =>
      known.standing === "gone" &&
      (known.root === self.root || (known.inode === self.inode && known.born === self.born)),
  )
}

function standingOf(key: string, record: DirectoryIdentity): KnownWorkspace["standing"] {
  if (key !== workspaceKey(record)) return "aside"
  return isStill(record) ? "elsewhere" : "gone"
}

/** Returns a notice how to adopt the history of a former workspace; null when there is none. */
export function formerHistory(places: StatePlaces, root: string): string | null {
  const [former] = formerWorkspaces(places, root)
  if (former === undefined) return null
  const was =
    former.root === root ? "another directory stood here before" : `this was ${shownPath(former.root)} before`
  return `${oneLine(was, 200)}; \`acode workspace adopt ${former.key}\` takes over its history`
}

function hasRecorded(directory: string): boolean {
  return lstatSync(partsOfState(directory).databasePath, { throwIfNoEntry: false })?.isFile() === true
}

function isStill(record: DirectoryIdentity): boolean {
  try {
    return workspaceKey(directoryIdentity(record.root)) === workspaceKey(record)
  } catch {
    // The directory is gone, or this user may not inspect it.
    return false
  }
}

function recordPath(directory: string): string {
  return join(directory, "workspace.json")
}

function readRecord(directory: string): WorkspaceRecord | null {
  try {
    const { root, inode, born, madeAt }: Record<string, unknown> = JSON.parse(
      readFileSync(recordPath(directory), "utf8"),
    )
    const isWhole =
      typeof root === "string" &&
      typeof inode === "string" &&
      typeof born === "string" &&
      typeof madeAt === "string"
    return isWhole ? { root, inode, born, madeAt } : null
  } catch (error) {
    // There is no record, or only half of one after a power failure: the workspace is unknown.
    if (error instanceof SyntaxError || errnoOf(error) !== null) return null
    throw error
  }
}
