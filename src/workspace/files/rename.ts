import { FFIType, ptr, read } from "bun:ffi"
import { linkSync, lstatSync, renameSync, unlinkSync } from "node:fs"
import { errnoOf } from "../../base/assert.ts"
import { openLibc } from "../../base/libc.ts"
import { pathBytes, systemPath } from "../../base/path-bytes.ts"
import { errnoName } from "../failures.ts"

/** A name in an open directory: swapping a parent does not redirect a rename of it. */
export interface NameIn {
  readonly directory: { readonly fd: number; readonly at: string }
  readonly name: string
}

/** Returns the path of a name in the form that system calls take. */
export function pathOfName({ directory, name }: NameIn): string | Buffer {
  return systemPath(`${directory.at}/${name}`)
}

/**
 * Exchanges the entries of two names in one step. Returns false where the system or the file system does not offer
 * that.
 */
export function exchangeNames(one: NameIn, other: NameIn): boolean {
  const errno = renameAt(one, other, exchange)
  if (errno === null || unsupported.has(errno)) return false
  if (errno === "") return true
  throw Object.assign(new Error(errno), { code: errno })
}

/** Renames without ever replacing: throws EEXIST where the new name is taken. */
export function moveToFreeName(from: NameIn, to: NameIn): void {
  const errno = renameAt(from, to, noReplace)
  if (errno === "") return
  if (errno === null || unsupported.has(errno)) moveByLink(pathOfName(from), pathOfName(to))
  else throw Object.assign(new Error(errno), { code: errno })
}

/**
 * Moves by a link, which fails where a rename would replace. Symlinks, and files on file systems without links, are
 * renamed after a check.
 */
function moveByLink(from: string | Buffer, to: string | Buffer): void {
  try {
    if (lstatSync(from).isFile()) {
      linkSync(from, to)
      unlinkSync(from)
      return
    }
  } catch (error) {
    const code = errnoOf(error)
    if (code !== "EPERM" && code !== "ENOTSUP" && code !== "EOPNOTSUPP") throw error
  }
  if (lstatSync(to, { throwIfNoEntry: false }) !== undefined)
    throw Object.assign(new Error("EEXIST"), { code: "EEXIST" })
  renameSync(from, to)
}

/**
 * Takes a read lease on a file that is open for reading. The kernel grants it exactly when no process has the file open
 * for writing, mappings included, and keeps writers out until the descriptor is closed. Returns false where a writer
 * exists, or where the system has no leases.
 */
export function keepWritersOut(fd: number): boolean {
  const libc = loadLibc()
  if (libc === null) return false
  // The kernel notifies the holder of a lease about a writer by a signal; SIGIO, the default, would end this process.
  return libc.fcntl(fd, setSignal, harmlessSignal) === 0 && libc.fcntl(fd, setLease, readLease) === 0
}

/** Makes a FIFO. Returns false where the system call does not exist. */
export function makeFifo(at: NameIn, mode: number): boolean {
  const libc = loadLibc()
  if (libc === null) return false
  if (libc.mkfifoat(at.directory.fd, ptr(pathBytes(`${at.name}\0`)), mode) === 0) return true
  throw Object.assign(new Error(lastErrno(libc)), { code: lastErrno(libc) })
}

const noReplace = 1
const exchange = 2
const unsupported: ReadonlySet<string> = new Set(["EINVAL", "ENOSYS", "EOPNOTSUPP"])
const setSignal = 10
const setLease = 1024
const readLease = 0
/** SIGURG, which does nothing to a process that does not wait for it. */
const harmlessSignal = 23

/** Returns the name of the error, empty on success, null where the call does not exist. */
function renameAt(from: NameIn, to: NameIn, flags: number): string | null {
  const libc = loadLibc()
  if (libc === null) return null
  const [old, next] = [pathBytes(`${from.name}\0`), pathBytes(`${to.name}\0`)]
  const result = libc.renameat2(from.directory.fd, ptr(old), to.directory.fd, ptr(next), flags)
  return result === 0 ? "" : lastErrno(libc)
}

type Libc = ReturnType<typeof load>

let loaded: Libc | null | undefined

function loadLibc(): Libc | null {
  if (loaded === undefined) loaded = process.platform === "linux" ? loadOrNull() : null
  return loaded
}

function loadOrNull(): Libc | null {
  try {
    return load()
  } catch {
    // Another C library, or an older one: callers continue without it.
    return null
  }
}

function load() {
  const { i32, u32, ptr: pointer } = FFIType
  return openLibc({
    renameat2: { args: [i32, pointer, i32, pointer, u32], returns: i32 },
    fcntl: { args: [i32, i32, i32], returns: i32 },
    mkfifoat: { args: [i32, pointer, u32], returns: i32 },
    __errno_location: { args: [], returns: pointer },
  }).symbols
}

function lastErrno({ __errno_location }: Libc): string {
  const location = __errno_location()
  return errnoName(location === null ? 0 : read.i32(location, 0))
}
