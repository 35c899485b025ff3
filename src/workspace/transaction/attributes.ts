import { FFIType, ptr, read } from "bun:ffi"
import { chmodSync, lstatSync } from "node:fs"
import { openLibc } from "../../base/libc.ts"
import { pathBytes, systemPath } from "../../base/path-bytes.ts"
import { errnoName } from "../failures.ts"

/** The marks that an overlay leaves in a layer, and the few other calls that only transactions need. Linux only. */

const markPrefix = "user.overlay."

/** Reports whether an entry of a layer has an overlay mark. Symlinks and special files cannot have one. */
export function hasMark(at: string, mark: "opaque" | "origin"): boolean {
  // Reading a value needs permission to read the entry; the list of names does not.
  return attributeNames(nul(at)).includes(`${markPrefix}${mark}`)
}

/** Removes all overlay marks of an entry, so that none of them reaches the workspace. */
export function removeMarks(at: string): void {
  const path = nul(at)
  const marks = attributeNames(path).filter(name => name.startsWith(markPrefix))
  if (marks.length === 0 || marks.every(name => libc().lremovexattr(path, nul(name)) === 0)) return
  if (lastErrno() !== "EACCES") throw systemError()
  // Only who may write an entry may change its attributes; the owner may allow that.
  const mode = lstatSync(systemPath(at)).mode & 0o7777
  chmodSync(systemPath(at), mode | 0o200)
  try {
    for (const name of attributeNames(path).filter(each => each.startsWith(markPrefix)))
      if (libc().lremovexattr(path, nul(name)) !== 0) throw systemError()
  } finally {
    chmodSync(systemPath(at), mode)
  }
}

/** Returns the attributes of an entry that are not marks, each as its name and value in one text. */
export function ownAttributes(at: string): readonly string[] {
  const path = nul(at)
  const names = attributeNames(path).filter(name => !name.startsWith(markPrefix))
  return names.map(name => `${name}=${attributeValue(path, name)}`).sort()
}

function attributeNames(path: Buffer): readonly string[] {
  for (let size = 1024; ; size *= 4) {
    const list = Buffer.alloc(size)
    const length = Number(libc().llistxattr(path, list, BigInt(size)))
    if (length >= 0) return list.toString("latin1", 0, length).split("\0").slice(0, -1)
    if (lastErrno() === "EOPNOTSUPP") return []
    if (lastErrno() !== "ERANGE" || size > attributesMax) throw systemError()
  }
}

function attributeValue(path: Buffer, name: string): string {
  const value = Buffer.alloc(attributesMax)
  const length = Number(libc().lgetxattr(path, nul(name), value, BigInt(value.length)))
  // Without permission to read it there is no value to compare, and its absence is a difference as well.
  return length < 0 ? lastErrno() : value.toString("hex", 0, length)
}

/** The largest list and value that the kernel allows. */
const attributesMax = 64 * 1024

/** Writes everything of the file system that holds `fd` to the disk. */
export function syncFileSystem(fd: number): void {
  if (libc().syncfs(fd) !== 0) throw systemError()
}

/**
 * Returns the wall time minus the time since the boot, in nanoseconds. It falls when the wall clock is set back, and
 * changes by at most a thousandth of the elapsed time otherwise.
 */
export function clockOffsetNs(): bigint {
  return clockNs(clocks.realtime) - clockNs(clocks.boottime)
}

/** Returns the time since the boot in nanoseconds, sleep included. */
export function bootTimeNs(): bigint {
  return clockNs(clocks.boottime)
}

function clockNs(clock: number): bigint {
  const time = new BigInt64Array(2)
  if (libc().clock_gettime(clock, ptr(time)) !== 0) throw systemError()
  return (time[0] ?? 0n) * 1_000_000_000n + (time[1] ?? 0n)
}

const clocks = { realtime: 0, boottime: 7 } as const

function nul(text: string): Buffer {
  return pathBytes(`${text}\0`)
}

function systemError(): Error {
  const code = lastErrno()
  return Object.assign(new Error(code), { code })
}

function lastErrno(): string {
  const location = libc().__errno_location()
  return errnoName(location === null ? 0 : read.i32(location, 0))
}

let loaded: ReturnType<typeof load> | null = null

function libc() {
  loaded ??= load()
  return loaded.symbols
}

function load() {
  const { i32, i64, u64, ptr: pointer } = FFIType
  return openLibc({
    lgetxattr: { args: [pointer, pointer, pointer, u64], returns: i64 },
    llistxattr: { args: [pointer, pointer, u64], returns: i64 },
    lremovexattr: { args: [pointer, pointer], returns: i32 },
    syncfs: { args: [i32], returns: i32 },
    clock_gettime: { args: [i32, pointer], returns: i32 },
    __errno_location: { args: [], returns: pointer },
  })
}
