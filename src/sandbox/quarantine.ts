import {
  chmodSync,
  closeSync,
  constants,
  cpSync,
  lstatSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
} from "node:fs"
import { dirname, join } from "node:path"
import { errnoOf } from "../base/assert.ts"

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
  for (const name of names) (tryMove(root, name, join(directory, name)) ? moved : left).push(name)
  return { moved, left }
}

function tryMove(root: string, name: string, target: string): boolean {
  let parent: number | null = null
  try {
    mkdirSync(dirname(target), { recursive: true, mode: 0o700 })
    const parts = name.split("/")
    const last = parts.pop() ?? ""
    parent = openSteps(root, parts)
    return relocate(`/proc/self/fd/${parent}/${last}`, target)
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
      current = openSync(`/proc/self/fd/${parent}/${name}`, directoryOnly | constants.O_NOFOLLOW)
    } finally {
      closeSync(parent)
    }
  }
  return current
}

function relocate(source: string, target: string): boolean {
  try {
    renameSync(source, target)
  } catch (error) {
    const code = errnoOf(error)
    // A directory that moves gets a new `..`, for which it must be writable itself.
    if (code === "EACCES" || code === "EPERM") {
      chmodSync(source, 0o700)
      renameSync(source, target)
      return true
    }
    if (code !== "EXDEV") throw error
    cpSync(source, target, { recursive: true, dereference: false, verbatimSymlinks: true, filter: isCopied })
    rmSync(source, { recursive: true })
  }
  return true
}

/** A pipe, a socket or a device has no content that could be copied to another disk; it is only removed. */
function isCopied(path: string): boolean {
  const stat = lstatSync(path)
  return stat.isFile() || stat.isDirectory() || stat.isSymbolicLink()
}

const directoryOnly = constants.O_RDONLY | constants.O_DIRECTORY
