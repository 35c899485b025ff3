import { writeSync } from "node:fs"
import { constants } from "node:os"
import { errnoOf } from "../../base/assert.ts"
import { receiveMessage } from "../../base/libc.ts"
import type { Exit, Spawned } from "../../base/spawn.ts"
import type { ResourceLimits } from "../../domain/command.ts"
import { Failure } from "../../domain/failure.ts"
import type { ConfinedTree } from "../confined.ts"
import type { ControlGroup } from "../process/cgroup.ts"
import { applyLimits, canLimitProcesses, defaultProcessesMax } from "../process/limits.ts"
import { descendantsOf, estimateNamespace, peakMemoryOf } from "../process/proc-tree.ts"
import {
  openProcess,
  type ProcessHandle,
  statFields,
  trySignal,
  untilGone,
} from "../process/process-handle.ts"
import { type Watchdog, watchProcesses } from "../process/watchdog.ts"
import type { Call, CallList } from "./call-list.ts"
import { recordTags } from "./confinement-calls.ts"

export interface LauncherDeps {
  readonly child: Spawned
  /** The calls that the launcher executes: a failure names one of them. */
  readonly list: CallList
  /** Our end of the socket on which the launcher reports. */
  readonly status: number
  /** Our end of the pipe at which the launcher waits. */
  readonly gate: number
  readonly limits: ResourceLimits
  readonly group: ControlGroup
  readonly onSetupFailed: () => void
}

export interface LauncherTree extends ConfinedTree {
  /** The call that failed, if one did. */
  failure(): { readonly call: Call | null; readonly errno: number } | null
}

/** Takes over a launcher that has just been started and waits at its gate: limits first, then the confinement. */
export function launcherTree(deps: LauncherDeps): LauncherTree {
  const { child, limits, group, list } = deps
  const reports = readReports(deps.status, child)
  const inForce = applyLimits(child.pid, limits, group, true)
  const watchdog = watchOver(limits, inForce.watchProcessesMax, reports, child)
  openGate(deps.gate)
  const failure = () => {
    const { failed } = reports.read()
    return failed === null ? null : { call: list.calls[failed.index] ?? null, errno: failed.errno }
  }
  const end: EndOfTree = { exit: null, killed: false, hit: null, sampledBytes: null, peakBytes: null }
  const finish = async () => {
    reports.inner()?.signal(sigkill)
    end.exit ??= await child.exited
    // Named by now, if it was made. When it is gone nothing of the namespace is left, however it hid.
    const inner = reports.inner()
    inner?.signal(sigkill)
    if (inner !== null) await untilGone(inner)
    watchdog?.stop()
    end.peakBytes ??= group.peakMemoryBytes()
    end.hit ??= watchdog?.hasBitten() ? "processes" : group.limitHit()
  }
  return {
    kill: async () => {
      if (end.exit === null) {
        end.killed = true
        const inner = reports.inner()
        if (inner !== null) end.sampledBytes = peakMemoryOf(descendantsOf(inner.pid, sampledMax))
        killAtOnce(child, reports)
      }
      await finish()
    },
    // The first process leads the group its command is in, and ignores what it has no handler for.
    terminate: () => {
      const inner = end.exit === null ? reports.inner() : null
      if (inner !== null && !inner.isGone()) trySignal(-inner.pid, sigterm)
    },
    settle: finish,
    maxRssBytes: () => end.peakBytes ?? reports.read().usage?.maxRssBytes ?? end.sampledBytes,
    cpuMs: () => reports.read().usage?.cpuMs ?? child.cpuMs(),
    limitHit: () => end.hit,
    startFailure: () => {
      const failed = failure()
      const isOver = reports.read().started || end.killed || end.exit?.exitCode !== refused
      if (failed === null && isOver) return null
      if (failed?.call?.name !== "execve") deps.onSetupFailed()
      return setupFailure(failed?.call?.what ?? "start", failed?.errno ?? 0)
    },
    failure,
    dispose: async () => {
      group.remove()
      reports.inner()?.close()
    },
  }
}

interface EndOfTree {
  exit: Exit | null
  killed: boolean
  hit: "memory" | "processes" | null
  sampledBytes: number | null
  peakBytes: number | null
}

/** Kills the process group of the launcher, which holds everything until the namespace has a first process. */
function killAtOnce(child: Spawned, reports: Reports): void {
  if (reports.inner() === null) trySignal(-child.pid, sigkill)
  reports.inner()?.signal(sigkill)
}

/** Watches the number of processes where neither a group nor the kernel's own limit holds it. */
function watchOver(
  { processesMax }: ResourceLimits,
  ungroupedMax: number | null,
  reports: Reports,
  child: Spawned,
): Watchdog | null {
  const watchedMax = processesMax === null ? defaultProcessesMax : ungroupedMax
  if (watchedMax === null || canLimitProcesses()) return null
  return watchProcesses(
    watchedMax,
    (before, now) => estimateNamespace(reports.inner()?.pid ?? 0, before, now),
    () => killAtOnce(child, reports),
  )
}

export function openGate(gate: number): void {
  try {
    writeSync(gate, "\n")
  } catch (error) {
    // It is dead by now, and its exit says so.
    if (errnoOf(error) === null) throw error
  }
}

interface Usage {
  readonly cpuMs: number
  readonly maxRssBytes: number
}

/** The reports of the launcher so far. */
interface Reported {
  started: boolean
  innerPid: number | null
  failed: { readonly index: number; readonly errno: number } | null
  usage: Usage | null
}

interface Reports {
  read(): Reported
  /** The first process of the namespace; null while it is not known, and when it is gone without a trace. */
  inner(): ProcessHandle | null
}

export function readReports(status: number, child: Spawned): Reports {
  const reported: Reported = { started: false, innerPid: null, failed: null, usage: null }
  let inner: ProcessHandle | null = null
  let isOver = false
  const read = () => {
    while (!isOver) {
      const message = receiveMessage(status)
      if (message === null) break
      if (message === "closed") isOver = true
      else take(reported, message.bytes)
    }
    return reported
  }
  return {
    read,
    inner: () => {
      if (inner !== null) return inner
      const { innerPid } = read()
      if (innerPid !== null) inner = openChild(innerPid, child.pid)
      return inner
    },
  }
}

function take(reported: Reported, bytes: Uint8Array): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const number = (offset: number) => view.getInt32(offset, true)
  const wide = (offset: number) => Number(view.getBigInt64(offset, true))
  const tag = bytes.length < 16 ? null : number(0)
  if (tag === recordTags.started) {
    reported.started = true
    reported.innerPid = number(4)
  } else if (tag === recordTags.failed) reported.failed ??= { index: number(4), errno: number(8) }
  else if (tag === recordTags.ended)
    reported.usage = {
      cpuMs: (wide(8) + wide(24)) * 1000 + (wide(16) + wide(32)) / 1000,
      maxRssBytes: wide(40) * 1024,
    }
}

/**
 * Opens a process by its pid, if it is the one that was meant: it is the launcher's child. The parent is checked after
 * the opening, so that a pid reused in between is noticed.
 */
function openChild(pid: number, parentPid: number): ProcessHandle | null {
  const handle = openProcess(pid)
  const parent = Number(statFields(pid)?.[1])
  if (parent === parentPid || parent === process.pid) return handle
  handle?.close()
  return null
}

/** Returns the name of an error of the system, such as ENOENT. */
export function errorName(errno: number): string {
  return Object.entries(constants.errno).find(([, value]) => value === errno)?.[0] ?? `error ${errno}`
}

export function setupFailure(what: string, errno: number): Failure {
  const why = errno === 0 ? "" : ` (${errorName(errno)})`
  return new Failure({
    kind: "confinement",
    code: "ACODE-EXE-010",
    message: `the launcher could not ${what}${why}, so the program was not started`,
    hint: "run `acode doctor` to see what this machine allows, or use --sandbox none if you trust the command",
  })
}

/** The exit code of a launcher that could not do its work. */
const refused = 125
const sigkill = 9
const sigterm = 15
const sampledMax = 64
