import { dlopen, type FFIFunction, FFIType, type Library, ptr } from "bun:ffi"
import { accessSync, closeSync, constants, writeSync } from "node:fs"

/** The calls of the system that the runtime does not offer. Everything here is Linux only. */

/** Creates a file that exists only in memory, with its read position at the start. The caller closes it. */
export function openMemoryFile(name: string, content: Uint8Array): number {
  return filled(libc().memfd_create(ptr(Buffer.from(`${name}\0`)), closeOnExec), content)
}

function filled(fd: number, content: Uint8Array): number {
  if (fd < 0) throw new Error("memfd_create failed: too many open files?")
  try {
    // Positional writes: the child shares the file position and must find it at zero.
    for (let done = 0; done < content.length; )
      done += writeSync(fd, content, done, content.length - done, done)
  } catch (error) {
    closeSync(fd)
    throw error
  }
  return fd
}

/**
 * Creates a file in memory from which a program is to be started. Kernels before 6.3 lack the flag for this and do
 * not need it.
 */
export function openProgramFile(name: string, content: Uint8Array): number {
  const text = ptr(Buffer.from(`${name}\0`))
  const allowed = libc().memfd_create(text, closeOnExec | mayBeExecuted)
  const fd = filled(allowed < 0 ? libc().memfd_create(text, closeOnExec) : allowed, content)
  try {
    accessSync(`/proc/self/fd/${fd}`, constants.X_OK)
  } catch (error) {
    closeSync(fd)
    const why = "this system starts no program from memory (sysctl vm.memfd_noexec is 2)"
    throw new Error(why, { cause: error })
  }
  return fd
}

/** Creates a pipe. Both ends are closed when a program is started. */
export function openPipe(): { readonly read: number; readonly write: number } {
  const ends = new Int32Array(2)
  if (libc().pipe2(ptr(ends), closeOnExecFlag) !== 0)
    throw Object.assign(new Error("cannot create a pipe: too many open files"), { code: "EMFILE" })
  return { read: ends[0] ?? -1, write: ends[1] ?? -1 }
}

/** Creates two sockets that are connected to each other. */
export function openSocketPair(): readonly [ours: number, theirs: number] {
  const ends = new Int32Array(2)
  const type = sequencedPackets | closeOnExecFlag
  if (libc().socketpair(unixFamily, type, 0, ptr(ends)) !== 0)
    throw new Error("socketpair failed: too many open files?")
  return [ends[0] ?? -1, ends[1] ?? -1]
}

/** One message: its text, and the descriptors that came with it, which the receiver has to close. */
export interface ReceivedMessage {
  readonly bytes: Uint8Array
  readonly descriptors: readonly number[]
}

/**
 * Receives the next message without waiting. Returns `closed` if the other end is closed, null if no message
 * yet.
 */
export function receiveMessage(socket: number): ReceivedMessage | "closed" | null {
  const bytes = new Uint8Array(256)
  const control = new Int32Array(controlBytes / 4)
  const vector = new BigUint64Array([BigInt(ptr(bytes)), BigInt(bytes.length)])
  const message = new BigUint64Array(7)
  message.set([0n, 0n, BigInt(ptr(vector)), 1n, BigInt(ptr(control)), BigInt(controlBytes)])
  const length = Number(libc().recvmsg(socket, ptr(message), doNotWait | closeDescriptorsOnExec))
  if (length === 0) return "closed"
  if (length < 0) return null
  // struct cmsghdr: a length of 8 bytes, the level, the type, then the descriptors.
  const hasDescriptors = Number(message[5] ?? 0n) >= 16 && control[2] === socketLevel && control[3] === rights
  const end = hasDescriptors ? (control[0] ?? 0) / 4 : 4
  return { bytes: bytes.slice(0, length), descriptors: [...control.subarray(4, end)] }
}

/**
 * Opens a descriptor that refers to this process even if its number is reused. Returns null if the process does not
 * exist.
 */
export function openPidfd(pid: number): number | null {
  const fd = Number(libc().syscall(callNumbers.pidfdOpen, pid, 0, 0, 0))
  return fd < 0 ? null : fd
}

export function signalPidfd(pidfd: number, signal: number): void {
  libc().syscall(callNumbers.pidfdSendSignal, pidfd, signal, 0, 0)
}

/**
 * Returns whether a descriptor is readable. A pidfd is readable once the process has ended with its last thread, even
 * if no parent has waited for it. Blocks the whole program for up to `waitMs`.
 */
export function isReadable(fd: number, waitMs: number): boolean {
  const request = new Int32Array([fd, pollIn])
  return libc().poll(ptr(request), 1n, waitMs) > 0
}

export const resources = { cpu: 0, fileSize: 1, data: 2, core: 4, processes: 6, openFiles: 7 } as const
export type Resource = keyof typeof resources

/** Sets the soft and the hard limit of another process. Returns false if the system refuses. */
export function setLimit(pid: number, resource: Resource, soft: number, hard: number): boolean {
  const limit = new BigUint64Array([BigInt(soft), BigInt(hard)])
  return libc().prlimit(pid, resources[resource], ptr(limit), null) === 0
}

/** Returns the hard limit of a process; infinity if there is none. */
export function hardLimit(pid: number, resource: Resource): number {
  const limit = new BigUint64Array(2)
  if (libc().prlimit(pid, resources[resource], null, ptr(limit)) !== 0) return Number.POSITIVE_INFINITY
  const hard = limit[1] ?? infinity
  return hard === infinity ? Number.POSITIVE_INFINITY : Number(hard)
}

/** Makes this process the parent of every orphan below it, so that no process escapes to the init of the system. */
export function becomeSubreaper(): void {
  libc().prctl(setChildSubreaper, 1n, 0n, 0n, 0n)
}

export interface Reaped {
  readonly cpuMs: number
  readonly maxRssBytes: number
}

/**
 * Removes an adopted child that has ended from the process table and returns how it ended. Returns null if the
 * process is not a child of ours or still runs.
 */
export function reap(pid: number): Reaped | null {
  const status = new Int32Array(1)
  const usage = new BigInt64Array(18)
  if (libc().wait4(pid, ptr(status), waitNoHang, ptr(usage)) !== pid) return null
  const field = (index: number) => Number(usage[index] ?? 0n)
  return {
    cpuMs: (field(0) + field(2)) * 1000 + (field(1) + field(3)) / 1000,
    maxRssBytes: field(4) * 1024,
  }
}

/** Returns the version of Landlock in this kernel; 0 where there is none. */
export function landlockVersion(): number {
  return Math.max(0, Number(libc().syscall(callNumbers.landlockCreateRuleset, 0, 0, 1, 0)))
}

/** Takes a lock without waiting, or changes the one that is held. Closing the descriptor releases it. */
export function tryLock(fd: number, kind: "shared" | "exclusive"): boolean {
  return libc().flock(fd, (kind === "shared" ? lockShared : lockExclusive) | lockNonBlocking) === 0
}

// These calls have the same numbers on every architecture.
const callNumbers = { pidfdSendSignal: 424n, pidfdOpen: 434n, landlockCreateRuleset: 444n } as const
const closeOnExec = 1
const mayBeExecuted = 0x10
const unixFamily = 1
const sequencedPackets = 5
/** The value of O_CLOEXEC and of SOCK_CLOEXEC. */
const closeOnExecFlag = 0o2000000
const doNotWait = 0x40
const closeDescriptorsOnExec = 0x40000000
const socketLevel = 1
const rights = 1
const controlBytes = 512
const pollIn = 1
const waitNoHang = 1
const setChildSubreaper = 36
const lockShared = 1
const lockExclusive = 2
const lockNonBlocking = 4
const infinity = 0xffff_ffff_ffff_ffffn

let loaded: ReturnType<typeof loadLibc> | null = null

function libc(): ReturnType<typeof loadLibc>["symbols"] {
  loaded ??= loadLibc()
  return loaded.symbols
}

function loadLibc() {
  const { i32, i64, u64, ptr: pointer } = FFIType
  return openLibc({
    pipe2: { args: [pointer, i32], returns: i32 },
    socketpair: { args: [i32, i32, i32, pointer], returns: i32 },
    recvmsg: { args: [i32, pointer, i32], returns: i64 },
    memfd_create: { args: [pointer, i32], returns: i32 },
    syscall: { args: [i64, i64, i64, i64, i64], returns: i64 },
    poll: { args: [pointer, u64, i32], returns: i32 },
    prlimit: { args: [i32, i32, pointer, pointer], returns: i32 },
    prctl: { args: [i32, u64, u64, u64, u64], returns: i32 },
    wait4: { args: [i32, pointer, i32, pointer], returns: i32 },
    flock: { args: [i32, i32], returns: i32 },
  })
}

/** Loads functions of the C library for a caller that needs no other ones. Throws where the library is another one. */
export function openLibc<Functions extends Record<string, FFIFunction>>(
  functions: Functions,
): Library<Functions> {
  return dlopen("libc.so.6", functions)
}
