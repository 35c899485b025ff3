import { closeSync, lstatSync } from "node:fs"
import { openMemoryFile, openSocketPair } from "../../base/libc.ts"
import type { Spawned } from "../../base/spawn.ts"
import {
  type ConfinedTree,
  cleanUpLaunch,
  createConfinedSandbox,
  openDoor,
  type PreparedLaunch,
  tagOf,
  watchedTree,
} from "../confined.ts"
import type { CleanUpReport, Launch, Sandbox } from "../contract.ts"
import type { ControlGroup } from "../process/cgroup.ts"
import {
  canLimitProcesses,
  createGroup,
  defaultProcessesMax,
  defaultScratchBytesMax,
} from "../process/limits.ts"
import type { Door } from "../proxy/door.ts"
import type { ConfinedSettings } from "../settings.ts"
import { encodeCallList } from "./call-list.ts"
import { confinementCalls, type NativeProfile } from "./confinement-calls.ts"
import type { Launcher } from "./launchers.ts"
import { type LauncherDeps, launcherTree } from "./tree.ts"

export interface NativeSettings extends ConfinedSettings {
  readonly launcher: Launcher
  /** False where the kernel refuses a fresh `/proc`: then the one of the host is shown. */
  readonly freshProc: boolean
}

/** A sandbox that needs nothing installed: a launcher of acode's own makes the system calls. */
export function createNativeSandbox(settings: NativeSettings): Sandbox {
  return createConfinedSandbox(settings, {
    kind: settings.launcher.kind,
    check: () => undefined,
    launch: prepared => launchNative(prepared, settings),
  })
}

/** The numbers of the descriptors that the child inherits, after its three standard ones. */
const descriptors = { list: 3, image: 4, status: 5, lifeline: 6 } as const
const doorNumbers = { image: 7, channel: 8 } as const

async function launchNative(prepared: PreparedLaunch, settings: NativeSettings): Promise<Launch> {
  const { confinement, groups } = prepared
  const door = await openDoor(prepared, doorNumbers)
  const group = createGroup(confinement.limits, groups, ownProcesses)
  let tree: ConfinedTree | null = null
  let report: Promise<CleanUpReport> | null = null
  let start: LauncherStart | null = null
  const cleanUp = async () => {
    report ??= cleanUpLaunch(prepared, tree, door).finally(() => {
      if (tree === null) group.remove()
      start?.close()
    })
    return await report
  }
  try {
    const list = confinementCalls(profileOf(prepared, settings, group, door))
    const started = startOf(settings.launcher, encodeCallList(list, prepared.architecture))
    start = started
    return {
      signalsAsExitCodes: true,
      protectedNames: prepared.tree.names,
      spawn: {
        // With the id of the execution, for a person who lists the processes of the machine.
        argv: [...started.argv, ...Object.values(tagOf(confinement.environment))],
        env: tagOf(confinement.environment),
        cwd: "/",
        extra: [...started.extra, ...(door === null ? [] : [door.image, door.channel])],
      },
      attach: async child => {
        door?.open(child)
        const { limits } = confinement
        tree = launcherTree({ ...started.attach(child), list, limits, group, ...settings })
        return watchedTree(prepared, tree, door)
      },
      cleanUp,
    }
  } catch (error) {
    await door?.close()
    group.remove()
    start?.close()
    throw error
  }
}

/** The outer process, and the first one of the namespace. */
const ownProcesses = 2

function profileOf(
  { confinement, mounts, maskFile, filter }: PreparedLaunch,
  { freshProc }: NativeSettings,
  group: ControlGroup,
  door: Door | null,
): NativeProfile {
  const { limits, environment } = confinement
  return {
    ...confinement,
    mounts,
    maskFile,
    freshProc,
    argv: door === null ? confinement.argv : [door.starter, ...confinement.argv],
    environment: { ...environment, ...door?.environment },
    limits: {
      processesMax: canLimitProcesses() ? (limits.processesMax ?? defaultProcessesMax) : null,
      fileBytesMax: limits.fileBytesMax,
    },
    filter: filter(),
    groupDoors: group.doors,
    ...hostProfile(),
    descriptors: { ...descriptors, kept: door === null ? [] : Object.values(doorNumbers) },
  }
}

/** The part of a profile that is the same for every command. */
export function hostProfile() {
  return {
    scratchBytesMax: defaultScratchBytesMax(),
    user: { uid: process.geteuid?.() ?? 0, gid: process.getegid?.() ?? 0 },
    descriptors: { ...descriptors, kept: [] },
    kindAt: (path: string) => {
      const found = lstatSync(path, { throwIfNoEntry: false })
      return found === undefined ? null : found.isDirectory() ? ("directory" as const) : ("other" as const)
    },
  }
}

interface LauncherStart {
  readonly argv: readonly string[]
  /** Descriptors 3 and up. */
  readonly extra: readonly (number | "pipe")[]
  /** Hands over, after the spawn, what is the child's, and returns what is ours. */
  attach(child: Spawned): Pick<LauncherDeps, "child" | "status" | "gate">
  close(): void
}

/** Opens what a launcher needs for an encoded list. */
export function startOf(launcher: Launcher, encoded: Uint8Array): LauncherStart {
  const image = launcher.image()
  const open = new Set<number>()
  const close = (...fds: readonly number[]) => {
    for (const fd of fds) if (open.delete(fd)) closeSync(fd)
  }
  const list = openMemoryFile("calls", encoded)
  open.add(list)
  try {
    const [status, theirs] = openSocketPair()
    open.add(status).add(theirs)
    return {
      argv: launcher.argv(descriptors.image),
      extra: [list, image, theirs, "pipe"],
      attach: child => {
        // With our copy open, the socket would not end with the launcher.
        close(theirs, list)
        return { child, status, gate: child.extra[descriptors.lifeline - descriptors.list] ?? -1 }
      },
      close: () => close(...open),
    }
  } catch (error) {
    close(...open)
    throw error
  }
}
