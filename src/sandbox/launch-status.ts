import { readSync } from "node:fs"
import type { Spawned } from "../base/spawn.ts"
import { openProcess, type ProcessHandle, statFields } from "./process-handle.ts"

/** What the launch has written about itself so far: the pid of its guard, then bubblewrap's own lines of JSON. */
export interface LaunchStatus {
  guardPid(): number | null
  /** The first process of the namespace; null while it is not known, and when it is gone without a trace. */
  inner(): ProcessHandle | null
  /** Bubblewrap tells the exit code of the program only if it came to start it. */
  hasStarted(): boolean
  hasExited(): boolean
  /** Bubblewrap has ended: nothing more will be written, and the file may be closed. */
  seal(): void
}

export function watchStatus(fd: number, child: Spawned): LaunchStatus {
  const text = textOf(fd)
  let inner: ProcessHandle | null = null
  let exited = false
  void child.exited.then(() => {
    exited = true
  })
  return {
    guardPid: () => numberIn(/^(\d+)\n/.exec(text.read())),
    inner: () => {
      const pid = inner === null ? numberIn(/"child-pid": (\d+)[^}]*}/.exec(text.read())) : null
      if (pid !== null) inner = openChild(pid, child.pid)
      return inner
    },
    hasStarted: () => text.read().includes('"exit-code"'),
    hasExited: () => exited,
    seal: text.seal,
  }
}

/** Waits for the first process; null when bubblewrap ended without making one. */
export async function firstProcess(status: LaunchStatus): Promise<ProcessHandle | null> {
  for (let waitedMs = 0; waitedMs < setupWithinMs; waitedMs++) {
    const exited = status.hasExited()
    const inner = status.inner()
    if (inner !== null || exited) return inner
    await Bun.sleep(1)
  }
  return null
}

/**
 * A process by its number, if it is the one that was meant: it is bubblewrap's child, or ours once bubblewrap has
 * ended. The look comes after the opening, so that a number that was given to somebody else in between is noticed.
 */
function openChild(pid: number, parentPid: number): ProcessHandle | null {
  const handle = openProcess(pid)
  const parent = Number(statFields(pid)?.[1])
  if (parent === parentPid || parent === process.pid) return handle
  handle?.close()
  return null
}

function textOf(fd: number) {
  const buffer = Buffer.alloc(4096)
  let text = ""
  let isFinal = false
  const read = () => {
    if (!isFinal) text = buffer.toString("latin1", 0, readSync(fd, buffer, 0, buffer.length, 0))
    return text
  }
  const seal = () => {
    read()
    isFinal = true
  }
  return { read, seal }
}

function numberIn(match: RegExpExecArray | null): number | null {
  return match?.[1] === undefined ? null : Number(match[1])
}

const setupWithinMs = 10_000
