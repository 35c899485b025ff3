import { readSync, writeSync } from "node:fs"
import { errnoOf } from "../base/assert.ts"
import type { Exit, Spawned } from "../base/spawn.ts"
import type { ResourceLimits } from "../domain/command.ts"
import { Failure } from "../domain/failure.ts"
import type { ControlGroups } from "./cgroup.ts"
import type { ProcessTree } from "./contract.ts"
import { dismissGuard, guardPid } from "./guard.ts"
import { type Reaped, reap } from "./libc.ts"
import { applyLimits, defaultProcessesMax, type LimitsInForce } from "./limits.ts"
import { descendantsOf, peakMemoryOf } from "./proc-tree.ts"
import { openProcess, type ProcessHandle, trySignal, untilGone } from "./process-handle.ts"
import { type Watchdog, watchProcesses } from "./watchdog.ts"

export interface TreeParts {
  readonly child: Spawned
  /** Where bubblewrap writes what it does; a file of ours. */
  readonly status: number
  /** Our end of the pipe it waits at before it starts the program. */
  readonly block: number
  readonly limits: ResourceLimits
  readonly groups: ControlGroups
  readonly onSetupFailed: () => void
}

/**
 * Takes over a bubblewrap that has just been started: waits for the pid of the namespace's first process, puts the
 * limits on it, and only then lets it go on to the program.
 */
export async function confinedTree(parts: TreeParts): Promise<ProcessTree> {
  const { child } = parts
  const status = statusReader(parts.status)
  const pid = await firstPid(status, child)
  const inner = pid === null ? null : openProcess(pid)
  if (inner === null) {
    trySignal(child.pid, sigkill)
    await child.exited
    dismissGuard(guardPid(status.read()))
    parts.onSetupFailed()
    throw setupFailure()
  }
  const limits = applyLimits(
    inner.pid,
    { ...parts.limits, processesMax: parts.limits.processesMax ?? defaultProcessesMax },
    parts.groups,
  )
  release(parts.block)
  return treeOf(parts, status, inner, limits)
}

function treeOf(
  parts: TreeParts,
  status: StatusReader,
  inner: ProcessHandle,
  limits: LimitsInForce,
): ProcessTree {
  const { child } = parts
  const watchdog =
    limits.watchProcessesMax === null
      ? null
      : watchProcesses(inner.pid, limits.watchProcessesMax, () => inner.signal(sigkill))
  const end: EndOfTree = {
    exit: null,
    killed: false,
    reaped: null,
    sampledBytes: null,
    peakBytes: null,
    hit: null,
  }
  const finish = async () => {
    // The first process dies last: when it is gone nothing of the namespace is left, however it hid.
    inner.signal(sigkill)
    await untilGone(inner)
    end.exit ??= await child.exited
    end.reaped ??= reap(inner.pid)
    end.peakBytes ??= limits.group.peakMemoryBytes()
    end.hit ??= watchdog?.hasBitten() ? "processes" : limits.group.limitHit()
    watchdog?.stop()
    dismissGuard(guardPid(status.read()))
    limits.group.remove()
    inner.close()
  }
  return {
    kill: async () => {
      if (end.exit === null && !inner.isGone()) {
        end.killed = true
        end.sampledBytes = peakMemoryOf(descendantsOf(inner.pid, sampledMax))
      }
      await finish()
    },
    // The first process leads the group its command is in, and ignores what it has no handler for.
    terminate: () => {
      if (!inner.isGone()) trySignal(-inner.pid, sigterm)
    },
    settle: finish,
    maxRssBytes: () => end.peakBytes ?? end.reaped?.maxRssBytes ?? end.sampledBytes,
    cpuMs: () => (end.reaped === null ? child.cpuMs() : end.reaped.cpuMs + (child.cpuMs() ?? 0)),
    limitHit: () => end.hit,
    startFailure: () => {
      if (!neverStarted(end, status, watchdog)) return null
      parts.onSetupFailed()
      return setupFailure()
    },
  }
}

interface EndOfTree {
  exit: Exit | null
  killed: boolean
  reaped: Reaped | null
  sampledBytes: number | null
  peakBytes: number | null
  hit: "memory" | "processes" | null
}

/** Bubblewrap tells the exit code of the program only if it came to start it, and exits with 1 if it did not. */
function neverStarted(end: EndOfTree, status: StatusReader, watchdog: Watchdog | null): boolean {
  const ended = end.exit !== null && end.exit.exitCode === 1
  return ended && !end.killed && watchdog?.hasBitten() !== true && !status.read().includes('"exit-code"')
}

function setupFailure(): Failure {
  return new Failure({
    kind: "confinement",
    code: "ACODE-EXE-010",
    message: "bubblewrap could not start the program in a sandbox; its own words are on standard error",
    hint: "run `acode doctor` to see what this machine allows, or use --sandbox none if you trust the command",
  })
}

interface StatusReader {
  /** All that has been written so far, also after the file has been given up. */
  read(): string
}

function statusReader(fd: number): StatusReader {
  const buffer = Buffer.alloc(4096)
  let text = ""
  return {
    read: () => {
      try {
        text = buffer.toString("latin1", 0, readSync(fd, buffer, 0, buffer.length, 0))
      } catch (error) {
        // Given up by now: what was read last stands.
        if (errnoOf(error) === null) throw error
      }
      return text
    },
  }
}

/** The host's number for pid 1 of the namespace; null when bubblewrap ended without making one. */
async function firstPid(status: StatusReader, child: Spawned): Promise<number | null> {
  let exited = false
  void child.exited.then(() => {
    exited = true
  })
  for (let waitedMs = 0; waitedMs < setupWithinMs; waitedMs++) {
    const last = exited
    const pid = /"child-pid": (\d+)[^}]*}/.exec(status.read())?.[1]
    if (pid !== undefined) return Number(pid)
    if (last) return null
    await Bun.sleep(1)
  }
  return null
}

/** Lets the program start; bubblewrap may be dead by now, and then there is nothing to let go. */
function release(fd: number): void {
  try {
    writeSync(fd, "go")
  } catch (error) {
    if (errnoOf(error) === null) throw error
  }
}

const sigkill = 9
const sigterm = 15
const sampledMax = 64
const setupWithinMs = 10_000
