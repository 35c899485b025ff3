import {
  chmodSync,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  rmdirSync,
} from "node:fs"
import { join } from "node:path"
import { setImmediate as nextTurn } from "node:timers/promises"
import { errnoOf } from "../../base/assert.ts"
import { tryLock } from "../../base/libc.ts"
import { Failure } from "../../domain/failure.ts"

/**
 * Empty directories that stand in the workspace for protected directories that do not exist, so that a mount has a
 * place. Only directories: git does not see an empty one, while an empty file would show up as untracked and could be
 * committed.
 *
 * One is known by being empty and sticky, which it is from the moment it is made; no such directory exists for any
 * other reason. Each acode that uses one holds a shared lock on it, and the last to leave removes it. Locks go with
 * their process, so what a killed acode leaves behind is taken over by the next one, and removed with its own.
 */
export interface Placeholders {
  release(): void
}

/** Holds one for each of `names` that is missing, and removes what a killed acode left for any of `unwanted`. */
export async function holdPlaceholders(
  root: string,
  names: readonly string[],
  unwanted: readonly string[],
): Promise<Placeholders> {
  const held: Held[] = []
  const release = () => {
    for (const placeholder of held.splice(0)) leave(placeholder)
  }
  try {
    for (const name of [...names, ...unwanted]) {
      const placeholder = await hold(join(root, name), names.includes(name))
      if (placeholder !== null) held.push(placeholder)
    }
    for (const placeholder of held.filter(({ path }) => unwanted.some(name => path === join(root, name)))) {
      held.splice(held.indexOf(placeholder), 1)
      leave(placeholder)
    }
    return { release }
  } catch (error) {
    release()
    throw error
  }
}

/** Returns whether a placeholder is at a path, ours or another's. */
export function isPlaceholder(path: string): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false })
  return found?.isDirectory() === true && isMarked(found.mode) && isEmpty(path)
}

interface Held {
  readonly path: string
  readonly fd: number
}

/** Null when something real is there, or nothing and none is to be made. */
async function hold(path: string, mayMake: boolean): Promise<Held | null> {
  for (let tries = 0; tries < triesMax; tries++) {
    if (mayMake) makeMissing(path)
    const fd = openDirectory(path)
    if (fd === null) return null
    if (!isMarked(fstatSync(fd).mode) || !isEmpty(path)) {
      closeSync(fd)
      return null
    }
    if (tryLock(fd, "shared") && isStillAt(path, fd)) return { path, fd }
    // Its last user is just removing it.
    closeSync(fd)
    await nextTurn()
  }
  throw cannotHold(path)
}

function leave({ path, fd }: Held): void {
  try {
    if (tryLock(fd, "exclusive") && isStillAt(path, fd)) removeOrKeep(path)
  } finally {
    closeSync(fd)
  }
}

function removeOrKeep(path: string): void {
  try {
    rmdirSync(path)
  } catch {
    // It has content now: then it is an ordinary directory of another process.
    chmodSync(path, ordinary)
  }
}

function makeMissing(path: string): void {
  try {
    mkdirSync(path, { mode: marked })
  } catch (error) {
    if (errnoOf(error) !== "EEXIST") throw error
  }
}

/** Opens a directory; null for anything else, links included. */
function openDirectory(path: string): number | null {
  try {
    return openSync(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW)
  } catch {
    // A file, a link, or a directory we may not read: something real in any case.
    return null
  }
}

function isStillAt(path: string, fd: number): boolean {
  const [there, held] = [lstatSync(path, { throwIfNoEntry: false }), fstatSync(fd)]
  return there?.ino === held.ino && there.dev === held.dev
}

function isEmpty(path: string): boolean {
  try {
    return readdirSync(path).length === 0
  } catch {
    // Gone, or not ours to read: no placeholder.
    return false
  }
}

function isMarked(mode: number): boolean {
  return (mode & sticky) !== 0
}

function cannotHold(path: string): Failure {
  return new Failure({
    kind: "unavailable",
    code: "ACODE-EXE-010",
    message: "the place of a protected directory could not be held",
    where: path,
    hint: "try again; other commands are starting and ending in this workspace",
  })
}

const sticky = 0o1000
const ordinary = 0o755
const marked = sticky | ordinary
const triesMax = 1_000
