import { readSync, writeSync } from "node:fs"
import { errnoOf } from "../../base/assert.ts"
import { type Reaped, reap } from "../../base/libc.ts"
import { type Exit, ownChildren, type Spawned } from "../../base/spawn.ts"
import type { ResourceLimits } from "../../domain/command.ts"
import { Failure } from "../../domain/failure.ts"
import type { ConfinedTree } from "../confined.ts"
import type { ControlGroup, ControlGroups } from "../process/cgroup.ts"
import {
  applyLimits,
  canLimitProcesses,
  createGroup,
  defaultProcessesMax,
  type LimitsInForce,
  limitFileSize,
  limitProcesses,
} from "../process/limits.ts"
import { descendantsOf, estimateNamespace, peakMemoryOf } from "../process/proc-tree.ts"
import {
  openProcess,
  type ProcessHandle,
  statFields,
  trySignal,
  untilGone,
} from "../process/process-handle.ts"
import { type Watchdog, watchProcesses } from "../process/watchdog.ts"
import { dismissGuard, gateClosed } from "./guard.ts"

export interface TreeDeps {
  readonly child: Spawned
  /** The file in which the guard and bubblewrap write their pids. */
  readonly status: number
  /** Our end of the pipe the launch waits at before bubblewrap starts. */
  readonly gate: number
  /** Our end of the pipe bubblewrap waits at before the program starts, where there is one. */
  readonly block: number | null
  readonly limits: ResourceLimits
  readonly groups: ControlGroups
  readonly onSetupFailed: () => void
}

/** Bubblewrap itself, its guard, and the first process of the namespace. */
const ownProcesses = 3

/** Returns whether bubblewrap has to wait, because a limit must be set on a process inside the namespace. */
export function needsBlock({ fileBytesMax, processesMax }: ResourceLimits, groups: ControlGroups): boolean {
  if (fileBytesMax !== null) return true
  return processesMax !== null && !groups.controls.has("processes") && canLimitProcesses()
}

/**
 * Takes over a launch that has just been started and waits at its gate: limits first, then bubblewrap. Most limits
 * are inherited from there on, without a wait for the namespace.
 */
export async function confinedTree(deps: TreeDeps): Promise<ConfinedTree> {
  const { child, limits } = deps
  const status = watchStatus(deps.status, child)
  const inForce = applyLimits(child.pid, limits, createGroup(limits, deps.groups, ownProcesses), true)
  release(deps.gate, inForce.group.doors)
  const isHeld = deps.block === null ? false : await limitInside(deps.block, status, limits)
  return treeOf(deps, status, isHeld ? { ...inForce, watchProcessesMax: null } : inForce)
}

/** Sets what can only be set inside the user namespace, then lets the program start. */
async function limitInside(
  block: number,
  status: LaunchStatus,
  { fileBytesMax, processesMax }: ResourceLimits,
): Promise<boolean> {
  const inner = await firstProcess(status)
  if (inner === null) return false
  if (fileBytesMax !== null) limitFileSize(inner.pid, fileBytesMax)
  const isHeld = processesMax !== null && limitProcesses(inner.pid, processesMax)
  release(block, [])
  return isHeld
}

function treeOf(deps: TreeDeps, status: LaunchStatus, limits: LimitsInForce): ConfinedTree {
  const { child } = deps
  const running: RunningTree = {
    child,
    status,
    group: limits.group,
    watchdog: watchOver(deps, limits, status),
  }
  const end: EndOfTree = { exit: null, killed: false, guardGone: null, hit: null, ...noUsage }
  return {
    kill: async () => {
      if (!status.hasExited()) {
        end.killed = true
        sample(status, end)
        killAtOnce(child, status)
      }
      await finish(running, end)
      // After a kill nothing is left, not even the guard.
      await end.guardGone
    },
    // The first process leads the group its command is in, and ignores what it has no handler for.
    terminate: () => {
      const inner = status.hasExited() ? null : status.inner()
      if (inner !== null && !inner.isGone()) trySignal(-inner.pid, sigterm)
    },
    settle: () => finish(running, end),
    maxRssBytes: () => end.peakBytes ?? end.reaped?.maxRssBytes ?? end.sampledBytes,
    cpuMs: () => (end.reaped === null ? child.cpuMs() : end.reaped.cpuMs + (child.cpuMs() ?? 0)),
    limitHit: () => end.hit,
    startFailure: () => {
      if (!neverStarted(running, end)) return null
      deps.onSetupFailed()
      return setupFailure()
    },
    dispose: async () => {
      // The guard was in the group, which can be removed only when it is empty. Otherwise its death is not awaited.
      if (limits.group.holdsProcesses || limits.group.holdsMemory) await end.guardGone
      limits.group.remove()
      status.inner()?.close()
    },
  }
}

interface RunningTree {
  readonly child: Spawned
  readonly status: LaunchStatus
  readonly group: ControlGroup
  readonly watchdog: Watchdog | null
}

interface EndOfTree {
  exit: Exit | null
  killed: boolean
  guardGone: Promise<void> | null
  hit: "memory" | "processes" | null
  reaped: Reaped | null
  sampledBytes: number | null
  peakBytes: number | null
}

const noUsage = { reaped: null, sampledBytes: null, peakBytes: null }

async function finish({ child, status, group, watchdog }: RunningTree, end: EndOfTree): Promise<void> {
  status.inner()?.signal(sigkill)
  end.exit ??= await child.exited
  status.seal()
  // The first process dies last: when it is gone nothing of the namespace is left, however it hid.
  const inner = status.inner()
  inner?.signal(sigkill)
  if (inner !== null) await untilGone(inner)
  if (inner !== null && !ownChildren.has(inner.pid)) end.reaped ??= reap(inner.pid)
  watchdog?.stop()
  end.peakBytes ??= group.peakMemoryBytes()
  end.hit ??= watchdog?.hasBitten() ? "processes" : group.limitHit()
  end.guardGone ??= dismissGuard(status.guardPid())
}

function sample(status: LaunchStatus, end: EndOfTree): void {
  const inner = status.inner()
  if (inner !== null) end.sampledBytes = peakMemoryOf(descendantsOf(inner.pid, sampledMax))
}

/** Kills the process group of bubblewrap, which holds everything until the namespace has a first process. */
function killAtOnce(child: Spawned, status: LaunchStatus): void {
  if (status.inner() === null) trySignal(-child.pid, sigkill)
  status.inner()?.signal(sigkill)
}

/** Watches the default number of processes where the kernel's own limit does not hold. */
function watchOver(
  { child, limits }: TreeDeps,
  inForce: LimitsInForce,
  status: LaunchStatus,
): Watchdog | null {
  const isDefault = limits.processesMax === null
  if (isDefault && canLimitProcesses()) void limitProcessesSoon(status, defaultProcessesMax)
  const watchedMax = !isDefault ? inForce.watchProcessesMax : canLimitProcesses() ? null : defaultProcessesMax
  if (watchedMax === null) return null
  return watchProcesses(
    watchedMax,
    (before, now) => estimateNamespace(status.inner()?.pid ?? 0, before, now),
    () => killAtOnce(child, status),
  )
}

/** The exit codes of bubblewrap and of the shell before it, when they could not do their work. */
const ownFailures: readonly (number | null)[] = [1, gateClosed, 126, 127]

function neverStarted({ status, watchdog }: RunningTree, end: EndOfTree): boolean {
  const failed = end.exit !== null && ownFailures.includes(end.exit.exitCode)
  return failed && !end.killed && watchdog?.hasBitten() !== true && !status.hasStarted()
}

function setupFailure(): Failure {
  return new Failure({
    kind: "confinement",
    code: "ACODE-EXE-010",
    message: "bubblewrap could not start the program in a sandbox; its own words are on standard error",
    hint: "run `acode doctor` to see what this machine allows, or use --sandbox none if you trust the command",
  })
}

/** Opens a gate; the process that waited there may be dead by now, and then there is nothing to release. */
function release(fd: number, doors: readonly string[]): void {
  try {
    writeSync(fd, `${doors.map(door => `${door}\n`).join("")}\n`)
  } catch (error) {
    if (errnoOf(error) === null) throw error
  }
}

const sigkill = 9
const sigterm = 15
const sampledMax = 64

/**
 * Sets the default limit of processes on the namespace as soon as it has a first process, without holding its start
 * up. Making the mounts takes longer than that, so the program usually starts under the limit; what was
 * faster is put under it too.
 */
async function limitProcessesSoon(status: LaunchStatus, processesMax: number): Promise<void> {
  const inner = await firstProcess(status)
  if (inner === null) return
  const limited = new Set<number>()
  for (let round = 0; round < roundsMax; round++) {
    const found = [inner.pid, ...descendantsOf(inner.pid, processesMax)].filter(pid => !limited.has(pid))
    if (found.length === 0 || inner.isGone()) return
    for (const pid of found) {
      limitProcesses(pid, processesMax)
      limited.add(pid)
    }
  }
}

const roundsMax = 50

/** The status file of a launch so far: the pid of its guard, then bubblewrap's own lines of JSON. */
interface LaunchStatus {
  guardPid(): number | null
  /** The first process of the namespace; null while it is not known, and when it is gone without a trace. */
  inner(): ProcessHandle | null
  /** Returns whether the program started: only then bubblewrap writes its exit code. */
  hasStarted(): boolean
  hasExited(): boolean
  /** Bubblewrap has ended: nothing more will be written, and the file may be closed. */
  seal(): void
}

function watchStatus(fd: number, child: Spawned): LaunchStatus {
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
async function firstProcess(status: LaunchStatus): Promise<ProcessHandle | null> {
  for (let waitedMs = 0; waitedMs < setupWithinMs; waitedMs++) {
    const exited = status.hasExited()
    const inner = status.inner()
    if (inner !== null || exited) return inner
    await Bun.sleep(1)
  }
  return null
}

/**
 * Opens a process by its pid, if it is the one that was meant: it is bubblewrap's child, or ours once bubblewrap has
 * exited. The parent is checked after the opening, so that a pid reused in between is noticed.
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
