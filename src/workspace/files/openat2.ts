import { FFIType, ptr, read } from "bun:ffi"
import { closeSync, constants, lstatSync, openSync, readlinkSync } from "node:fs"
import { errnoOf } from "../../base/assert.ts"
import { openLibc } from "../../base/libc.ts"
import { pathBytes, pathFromBytes, systemPath } from "../../base/path-bytes.ts"
import { outsideWorkspace } from "../failures.ts"

/** Reasons why the kernel did not open a path. `escape` is the one that matters: the path led out of the directory. */
export type OpenRefusal = "escape" | "missing" | "notDirectory" | "denied" | "other"

export type OpenedBeneath =
  | { readonly fd: number }
  | { readonly refusal: OpenRefusal; readonly errno: number }

/**
 * Opens `relative` below an open directory so that no symlink, `..` or magic link can lead out of it. The kernel
 * resolves and checks in one step: a realpath check followed by an open loses that race. Returns null where the kernel
 * does not offer it.
 */
export function openBeneath(
  directoryFd: number,
  relative: string,
  flags: number,
  mode: number,
  symlinks: SymlinkRule = "inside",
): OpenedBeneath | null {
  if (!isSupported()) return null
  // EAGAIN: a rename elsewhere kept the kernel from proving that a `..` stays inside. The remedy is to try again.
  for (let attempt = 0; ; attempt++) {
    const opened = call(directoryFd, relative, flags, mode, symlinks)
    if ("fd" in opened || opened.errno !== tryAgain || attempt === attemptsMax) return opened
  }
}

/** Rule for symlinks: follow those that stay inside, or none at all. */
export type SymlinkRule = "inside" | "never"

const resolveBeneath = 0x08
const resolveNoMagicLinks = 0x02
const resolveNoSymlinks = 0x04
const syscallNumber = 437
const tryAgain = 11
const attemptsMax = 100

function call(
  directoryFd: number,
  relative: string,
  flags: number,
  mode: number,
  symlinks: SymlinkRule,
): OpenedBeneath {
  const path = pathBytes(`${relative}\0`)
  // Three numbers of 64 bits, of which only the lower halves are ever set.
  how[0] = flags | closeOnExec
  how[2] = mode
  how[4] = resolveBeneath | resolveNoMagicLinks | (symlinks === "never" ? resolveNoSymlinks : 0)
  const { syscall, __errno_location } = libc().symbols
  const fd = Number(syscall(syscallNumber, directoryFd, ptr(path), ptr(how), how.byteLength))
  if (fd >= 0) return { fd }
  const location = __errno_location()
  const errno = location === null ? 0 : read.i32(location, 0)
  return { refusal: refusals[errno] ?? "other", errno }
}

const closeOnExec = 0o2000000
const how = new Uint32Array(6)

const refusals: Readonly<Record<number, OpenRefusal>> = {
  2: "missing",
  13: "denied",
  18: "escape",
  20: "notDirectory",
  40: "escape",
}

let supported: boolean | null = null

/** Old kernels answer ENOSYS and strict containers EPERM, so the only reliable check is to open something. */
function isSupported(): boolean {
  if (supported === null) supported = process.platform === "linux" && opensRoot()
  return supported
}

function opensRoot(): boolean {
  const directory = openSync("/", constants.O_RDONLY | constants.O_DIRECTORY)
  try {
    const opened = call(directory, ".", constants.O_RDONLY | constants.O_DIRECTORY, 0, "inside")
    if (!("fd" in opened)) return false
    closeSync(opened.fd)
    return true
  } finally {
    closeSync(directory)
  }
}

let loaded: ReturnType<typeof load> | null = null

function libc(): ReturnType<typeof load> {
  loaded ??= load()
  return loaded
}

function load() {
  return openLibc({
    syscall: {
      args: [FFIType.i64, FFIType.i64, FFIType.ptr, FFIType.ptr, FFIType.u64],
      returns: FFIType.i64,
    },
    __errno_location: { args: [], returns: FFIType.ptr },
  })
}

export interface ResolvedPath {
  /** The absolute path, without symlinks as far as it exists. */
  readonly real: string
  readonly exists: boolean
  /** The number of symlinks that were followed. */
  readonly symlinks: number
}

/** The most symlinks to follow, as in the kernel. */
const symlinksMax = 40

/**
 * Resolves a path without the kernel, also beyond its existing part: a symlink to a missing file outside leads outside,
 * and the answer "missing" would reveal which files exist there.
 */
export function resolvePath(root: string, relative: string): ResolvedPath {
  let real = root
  let exists = true
  let symlinks = 0
  const names = namesOf(relative).reverse()
  for (let name = names.pop(); name !== undefined; name = names.pop()) {
    if (name === "..") {
      real = real.slice(0, Math.max(1, real.lastIndexOf("/")))
      continue
    }
    const next = real === "/" ? `/${name}` : `${real}/${name}`
    const target = exists ? symlinkTarget(next) : null
    if (typeof target === "string") {
      symlinks += 1
      if (symlinks > symlinksMax) throw outsideWorkspace(relative)
      if (target.startsWith("/")) real = "/"
      names.push(...namesOf(target).reverse())
      continue
    }
    real = next
    if (target === missing) exists = false
  }
  return { real, exists, symlinks }
}

const missing = Symbol("missing")

function namesOf(path: string): string[] {
  return path.split("/").filter(name => name !== "" && name !== ".")
}

/** Returns null for anything that exists and is not a symlink. */
function symlinkTarget(path: string): string | typeof missing | null {
  try {
    const stat = lstatSync(systemPath(path), { throwIfNoEntry: false })
    if (stat === undefined) return missing
    return stat.isSymbolicLink()
      ? pathFromBytes(readlinkSync(systemPath(path), { encoding: "buffer" }))
      : null
  } catch (error) {
    const code = errnoOf(error)
    // A path that cannot be inspected counts as missing: it is not followed any further.
    if (code !== null) return missing
    throw error
  }
}
