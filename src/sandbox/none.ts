import { writeSync } from "node:fs"
import { errnoOf } from "../base/assert.ts"
import { becomeSubreaper } from "../base/libc.ts"
import { ownChildren, type Spawned } from "../base/spawn.ts"
import type { ResourceLimits } from "../domain/command.ts"
import type { Confinement, Launch, ProcessTree, Sandbox } from "./contract.ts"
import { refuseLayers } from "./layers.ts"
import { type ControlGroup, type ControlGroups, findControlGroups } from "./process/cgroup.ts"
import { applyLimits, createGroup, type LimitsInForce, limitFileSize } from "./process/limits.ts"
import { descendantsOf, hasVariable } from "./process/proc-tree.ts"
import { trySignal } from "./process/process-handle.ts"
import { adoptedChildren, aliveFrom, endAll, executionTag, reapAdopted } from "./process/survivors.ts"
import { type Watchdog, watchProcesses } from "./process/watchdog.ts"

/**
 * No confinement, for people who ask for it. The end is still total: acode adopts every orphan of its commands, so
 * whatever a command started is below it or below acode, with the tag of its execution in its environment.
 */
export function createPlainSandbox(): Sandbox {
  const commands = openPlainCommands()
  let groups: ControlGroups | null = null
  return {
    kind: "none",
    prepare: async confinement => {
      refuseLayers(confinement, "a command without a sandbox")
      commands.adoptOrphans()
      const isLimited = isLinux && Object.values(confinement.limits).some(limit => limit !== null)
      if (isLimited) groups ??= findControlGroups()
      return launchPlain(confinement, commands, isLimited ? groups : null)
    },
  }
}

/** The commands that run without a namespace of their own, and the orphans that belong to none of them. */
export interface PlainCommands {
  readonly running: Set<PlainCommand>
  readonly strangers: Set<number>
  /** Makes acode the parent of every orphan from now on. */
  adoptOrphans(): void
}

export function openPlainCommands(): PlainCommands {
  const strangers = new Set<number>()
  let isFirst = isLinux
  return {
    running: new Set(),
    strangers,
    adoptOrphans: () => {
      if (!isFirst) return
      isFirst = false
      // A shell that replaced itself by acode leaves it background processes, which belong to no command.
      for (const pid of adoptedChildren()) strangers.add(pid)
      becomeSubreaper()
    },
  }
}

interface PlainCommand {
  readonly pid: number
  readonly tag: string | null
}

function launchPlain(
  confinement: Confinement,
  commands: PlainCommands,
  groups: ControlGroups | null,
): Launch {
  const { argv, environment, cwd, limits } = confinement
  return {
    spawn: {
      argv: groups === null ? argv : ["/bin/sh", "-c", gate, "sh", ...argv],
      env: environment,
      cwd,
      extra: groups === null ? [] : ["pipe"],
    },
    attach: async child => {
      const inForce = groups === null ? null : limitThenRelease(child, limits, groups)
      return plainTree(child, environment[executionTag] ?? null, commands, inForce)
    },
    cleanUp: async () => ({ quarantined: [], quarantine: null }),
  }
}

/** A script that waits for a line, so that the limits are set before the program starts, and then becomes it. */
const gate = 'read _ <&3; exec 3<&-; exec "$@"'

function limitThenRelease(child: Spawned, limits: ResourceLimits, groups: ControlGroups): LimitsInForce {
  const inForce = applyLimits(child.pid, limits, createGroup(limits, groups, 0), false)
  if (limits.fileBytesMax !== null) limitFileSize(child.pid, limits.fileBytesMax)
  try {
    writeSync(child.extra[0] ?? -1, "\n")
  } catch (error) {
    // It died at the gate; its exit says so.
    if (errnoOf(error) === null) throw error
  }
  return inForce
}

/** Returns the tree of a command without a namespace, by the tag in its environment and by adoption. */
export function plainTree(
  child: Spawned,
  tag: string | null,
  commands: PlainCommands,
  limits: LimitsInForce | null,
): ProcessTree {
  const command: PlainCommand = { pid: child.pid, tag }
  commands.running.add(command)
  const members = () => limits?.group.members() ?? []
  const everything = () => aliveFrom([...ownPid(child), ...members(), ...orphansOf(command, commands)])
  const watchdog = watchOver(child, limits)
  let end: { readonly peakBytes: number | null; readonly hit: ReturnType<ControlGroup["limitHit"]> } | null =
    null
  const finish = async () => {
    if (isLinux) await endAll(everything)
    else trySignal(-child.pid, sigkill)
    await child.exited
    // Once no other command runs, everything left behind belongs to the last one.
    commands.running.delete(command)
    if (isLinux && commands.running.size === 0) await endAll(() => aliveFrom(orphans(commands)))
    reapAdopted(orphans(commands))
    watchdog?.stop()
    end ??= {
      peakBytes: limits?.group.peakMemoryBytes() ?? null,
      hit: watchdog?.hasBitten() ? "processes" : (limits?.group.limitHit() ?? null),
    }
    limits?.group.remove()
  }
  return {
    kill: finish,
    terminate: () => trySignal(-child.pid, sigterm),
    settle: finish,
    maxRssBytes: () => end?.peakBytes ?? null,
    limitHit: () => end?.hit ?? null,
  }
}

function watchOver(child: Spawned, limits: LimitsInForce | null): Watchdog | null {
  const processesMax = limits?.watchProcessesMax ?? null
  if (processesMax === null) return null
  const count = () => descendantsOf(child.pid, processesMax + 1).length + 1
  return watchProcesses(processesMax, count, () => {
    for (const pid of aliveFrom([child.pid])) trySignal(pid, sigkill)
  })
}

/** Returns the child itself until its exit has been collected; afterwards its pid may belong to another process. */
function ownPid(child: Spawned): readonly number[] {
  return ownChildren.has(child.pid) ? [child.pid] : []
}

/** Alone, every orphan is this command's. With others running, the tag in its environment decides. */
function orphansOf(command: PlainCommand, commands: PlainCommands): readonly number[] {
  const found = orphans(commands)
  if (commands.running.size <= 1) return found
  const { tag } = command
  return tag === null ? [] : found.filter(pid => hasVariable(pid, executionTag, tag))
}

function orphans(commands: PlainCommands): readonly number[] {
  return adoptedChildren().filter(pid => !commands.strangers.has(pid))
}

const isLinux = process.platform === "linux"
const sigkill = 9
const sigterm = 15
