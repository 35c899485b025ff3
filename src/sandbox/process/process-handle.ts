import { closeSync, readFileSync } from "node:fs"
import { setImmediate as nextTurn } from "node:timers/promises"
import { isReadable, openPidfd, signalPidfd } from "../../base/libc.ts"

/** One process, and never another one that was given its number later. */
export interface ProcessHandle {
  readonly pid: number
  signal(signal: number): void
  /** True once the process and everything its death takes along has ended. For pid 1 of a namespace: all of it. */
  isGone(): boolean
  /** The same after waiting for it, for a moment in which nothing else happens. */
  isGoneSoon(): boolean
  close(): void
}

/** Opens a process; null when it no longer exists. */
export function openProcess(pid: number): ProcessHandle | null {
  const pidfd = openPidfd(pid)
  if (pidfd !== null) return pidfdHandle(pid, pidfd)
  const startTime = startTimeOf(pid)
  return startTime === null ? null : procHandle(pid, startTime)
}

/**
 * Resolves when the process is gone. The usual case is a namespace that needs a fraction of a millisecond to die, less
 * than a timer would take: so it is waited for outright at first, with turns for everybody else in between.
 */
export async function untilGone(process: ProcessHandle): Promise<void> {
  for (let turn = 0; turn < eagerTurns; turn++) {
    if (process.isGoneSoon()) return
    await nextTurn()
  }
  for (let waitedMs = 0; waitedMs < goneWithinMs; waitedMs++) {
    if (process.isGone()) return
    await Bun.sleep(1)
  }
  throw new Error(`process ${process.pid} does not end although it was killed`)
}

/** Returns the start time in clock ticks since boot, which with the pid names one process; null for the dead. */
export function startTimeOf(pid: number): string | null {
  const fields = statFields(pid)
  const state = fields?.[0]
  return fields === null || state === "Z" || state === "X" ? null : (fields[19] ?? null)
}

/** The fields of `/proc/<pid>/stat` from the state on; the name before them may hold spaces and brackets. */
export function statFields(pid: number): readonly string[] | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1")
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")
  } catch {
    // The process is gone, which is an answer.
    return null
  }
}

function pidfdHandle(pid: number, pidfd: number): ProcessHandle {
  let open = true
  let gone = false
  const look = (waitMs: number) => {
    gone ||= !open || isReadable(pidfd, waitMs)
    return gone
  }
  return {
    pid,
    signal: signal => {
      if (open) signalPidfd(pidfd, signal)
    },
    isGone: () => look(0),
    isGoneSoon: () => look(momentMs),
    close: () => {
      if (open) closeSync(pidfd)
      open = false
    },
  }
}

/** Returns a handle for kernels before 5.3: a pid could be reused between the check and the signal. */
function procHandle(pid: number, startTime: string): ProcessHandle {
  const isGone = () => startTimeOf(pid) !== startTime
  return {
    pid,
    signal: signal => {
      if (!isGone()) trySignal(pid, signal)
    },
    isGone,
    isGoneSoon: isGone,
    close: () => undefined,
  }
}

/** Signals a process that may have exited already, which is not an error. */
export function trySignal(pid: number, signal: number): void {
  try {
    process.kill(pid, signal)
  } catch {
    // ESRCH: it is gone. EPERM: it is not ours, and then it is not what we meant to end.
  }
}

const momentMs = 1
const eagerTurns = 16
const goneWithinMs = 30_000
