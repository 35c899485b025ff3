import { closeSync, constants, fstatSync, lstatSync, openSync, readlinkSync, type Stats } from "node:fs"
import { pathFromBytes, systemPath } from "../../base/path-bytes.ts"
import { isPlainPath } from "../../base/plain-path.ts"
import { errnoName, fileFailure, outsideWorkspace, systemFailure } from "../failures.ts"
import { openBeneath, resolvePath, type SymlinkRule } from "./openat2.ts"

/**
 * A file or directory of the workspace held by a descriptor: `at` stays the same file, even if its name changes. It is
 * not opened for reading or writing yet, so pinning a FIFO or a device does not disturb it.
 */
export interface Pinned extends Disposable {
  readonly fd: number
  /** A path that leads to exactly this inode; below a directory, `at/name` cannot leave it. */
  readonly at: string
  /** The real path, symlinks resolved; `.` for the root. */
  readonly relative: string
  readonly stat: Stats
}

/** The open root that everything is pinned below. */
export interface PinRoot {
  readonly path: string
  readonly fd: number
}

/** Pins an existing path. Returns null when it does not exist; throws a Failure when it leads out of the root. */
export function pin(root: PinRoot, relative: string, symlinks: SymlinkRule = "inside"): Pinned | null {
  // A path without anything to resolve is its own real path if the kernel meets no symlink.
  const direct = isPlainPath(relative) ? openBeneath(root.fd, relative, pathOnly, 0, "never") : null
  if (direct !== null && "fd" in direct) return described(direct.fd, () => relative)
  const opened = openBeneath(root.fd, relative, pathOnly, 0, symlinks)
  if (opened === null) return pinByRealPath(root, relative, symlinks)
  if ("fd" in opened) return resolved(root, opened.fd, relative)
  if (opened.refusal === "missing" || opened.refusal === "notDirectory") return null
  if (opened.refusal === "escape" && symlinks === "inside") return pinThroughAbsolute(root, relative)
  throw refusal(opened.errno, relative)
}

/**
 * Pins a path with absolute symlinks, all of which the kernel rejects, also one that leads back inside. The path is
 * resolved by name, and the result is pinned without following any symlink, so that a swap after the check leads
 * nowhere else.
 */
function pinThroughAbsolute(root: PinRoot, relative: string): Pinned | null {
  const { real, exists } = resolvePath(root.path, relative)
  const inside = insideRoot(root, real, relative)
  return exists ? pin(root, inside, "never") : null
}

/** Pins a name directly below a pinned directory; symlinks are not followed. */
export function pinChild(root: PinRoot, directory: Pinned, name: string): Pinned | null {
  const opened = openBeneath(directory.fd, name, pathOnly, 0, "never")
  const relative = joinRelative(directory.relative, name)
  if (opened === null) return pinByRealPath(root, relative, "never")
  if ("fd" in opened) return resolved(root, opened.fd, relative)
  if (opened.refusal === "missing" || opened.refusal === "notDirectory") return null
  throw refusal(opened.errno, relative)
}

export function joinRelative(directory: string, name: string): string {
  return directory === "." ? name : `${directory}/${name}`
}

/** Returns a name below a pinned directory in the form that system calls take. */
export function entryPath(directory: Pinned, name: string): string | Buffer {
  return systemPath(`${directory.at}/${name}`)
}

export function isSameFile(a: Stats, b: Stats): boolean {
  return a.ino === b.ino && a.dev === b.dev
}

/** O_PATH: a descriptor that names a file and can neither read nor write it. */
const pathOnly = 0o10000000

/** Describes a descriptor by the real path that the kernel reports for it. */
function resolved(root: PinRoot, fd: number, typed: string): Pinned {
  return described(fd, stat => relativeOfDescriptor(root, fd, stat, typed))
}

function described(fd: number, relativeOf: (stat: Stats) => string): Pinned {
  try {
    const stat = fstatSync(fd)
    const relative = relativeOf(stat)
    return { fd, at: `/proc/self/fd/${fd}`, relative, stat, [Symbol.dispose]: () => closeSync(fd) }
  } catch (error) {
    closeSync(fd)
    throw error
  }
}

function relativeOfDescriptor(root: PinRoot, fd: number, stat: Stats, typed: string): string {
  const absolute = pathFromBytes(readlinkSync(`/proc/self/fd/${fd}`, { encoding: "buffer" }))
  // The kernel marks the path of a removed file; a file may also have such a name.
  if (absolute.endsWith(" (deleted)")) {
    const now = lstatSync(systemPath(absolute), { throwIfNoEntry: false })
    if (now === undefined || !isSameFile(now, stat))
      throw fileFailure("changed", typed, "was removed while it was being opened")
  }
  return insideRoot(root, absolute, typed)
}

function insideRoot(root: PinRoot, absolute: string, typed: string): string {
  if (absolute === root.path) return "."
  const prefix = root.path === "/" ? "/" : `${root.path}/`
  if (!absolute.startsWith(prefix)) throw outsideWorkspace(typed)
  return absolute.slice(prefix.length)
}

function refusal(errno: number, relative: string): unknown {
  const name = errnoName(errno)
  if (name === "EXDEV" || name === "ELOOP") return outsideWorkspace(relative)
  return systemFailure(Object.assign(new Error(name), { code: name }), relative)
}

/**
 * Pins a path on kernels without openat2: the real path is checked, then opened without following a last symlink. This
 * loses a race that openat2 wins, so it is only the fallback.
 */
export function pinByRealPath(root: PinRoot, relative: string, symlinks: SymlinkRule): Pinned | null {
  const { real, exists, symlinks: followed } = resolvePath(root.path, relative)
  const found = insideRoot(root, real, relative)
  if (symlinks === "never" && followed > 0) throw outsideWorkspace(relative)
  if (!exists) return null
  const stat = lstatSync(systemPath(real))
  if (relative.endsWith("/") && !stat.isDirectory()) return null
  const opensSafely = stat.isFile() || stat.isDirectory()
  const fd = opensSafely ? openSync(systemPath(real), constants.O_RDONLY | constants.O_NOFOLLOW) : -1
  return { fd, at: real, relative: found, stat, [Symbol.dispose]: () => (fd < 0 ? undefined : closeSync(fd)) }
}
