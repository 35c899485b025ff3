import {
  closeSync,
  constants,
  copyFileSync,
  lstatSync,
  mkdirSync,
  openSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
} from "node:fs"
import { errnoOf } from "../../base/assert.ts"
import { listEntries, systemPath } from "../../base/path-bytes.ts"
import { parentOf } from "../../base/path-names.ts"
import { changeMode, clearSetId } from "./scan.ts"
import { entriesOf, statsOf } from "./tree-rules.ts"

export interface Moved {
  readonly moved: readonly string[]
  readonly left: readonly string[]
}

/**
 * Moves names out of the workspace, keeping their paths below `directory`. Every step on the way to a name is opened
 * without following links: another command that runs in the same workspace could swap a parent for a link to
 * somewhere else, and we would move a stranger's file.
 */
export function moveToQuarantine(root: string, names: readonly string[], directory: string): Moved {
  const moved: string[] = []
  const left: string[] = []
  for (const name of names) (tryMove(root, name, `${directory}/${name}`) ? moved : left).push(name)
  return { moved, left }
}

function tryMove(root: string, name: string, target: string): boolean {
  let parent: number | null = null
  try {
    mkdirSync(systemPath(parentOf(target)), { recursive: true, mode: 0o700 })
    const parts = name.split("/")
    const last = parts.pop() ?? ""
    parent = openSteps(root, parts)
    relocate(`/proc/self/fd/${parent}/${last}`, target)
    clearSetIdBelow(target)
    return true
  } catch {
    // Vanished, or not ours to move: the caller reports the name as left behind.
    return false
  } finally {
    if (parent !== null) closeSync(parent)
  }
}

function openSteps(root: string, names: readonly string[]): number {
  let current = openSync(root, directoryOnly)
  for (const name of names) {
    const parent = current
    try {
      current = openSync(systemPath(`/proc/self/fd/${parent}/${name}`), directoryOnly | constants.O_NOFOLLOW)
    } finally {
      closeSync(parent)
    }
  }
  return current
}

function relocate(source: string, target: string): void {
  const [from, to] = [systemPath(source), systemPath(target)]
  try {
    renameSync(from, to)
  } catch (error) {
    const code = errnoOf(error)
    // A directory that moves gets a new `..`, for which it must be writable itself.
    if (code === "EACCES" || code === "EPERM") {
      changeMode(source, () => 0o700)
      renameSync(from, to)
      return
    }
    if (code !== "EXDEV") throw error
    copyTo(source, target)
    rmSync(from, { recursive: true })
  }
}

/** Copies to another disk. A pipe, a socket or a device has no content that could be copied; it is only removed. */
function copyTo(source: string, target: string): void {
  const [from, to] = [systemPath(source), systemPath(target)]
  const stat = lstatSync(from)
  if (stat.isSymbolicLink()) symlinkSync(readlinkSync(from, { encoding: "buffer" }), to)
  else if (stat.isFile()) copyFileSync(from, to, constants.COPYFILE_EXCL)
  else if (stat.isDirectory()) {
    mkdirSync(to, { mode: 0o700 })
    for (const { name } of listEntries(source)) copyTo(`${source}/${name}`, `${target}/${name}`)
  }
}

/** Clears set-id bits of quarantined files, so that none is restored with them. */
function clearSetIdBelow(path: string): void {
  const found = statsOf(path)
  if (found?.isFile()) clearSetId(path)
  const entries = found?.isDirectory() ? entriesOf(path) : []
  if (entries !== "unreadable") for (const { name } of entries) clearSetIdBelow(`${path}/${name}`)
}

const directoryOnly = constants.O_RDONLY | constants.O_DIRECTORY
