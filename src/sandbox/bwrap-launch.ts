import { closeSync } from "node:fs"
import type { Spawned } from "../base/spawn.ts"
import { Failure } from "../domain/failure.ts"
import type { BwrapSettings } from "./bwrap-settings.ts"
import { type ConfinedTree, confinedTree, needsBlock } from "./bwrap-tree.ts"
import type { ControlGroups } from "./cgroup.ts"
import type { CleanUpReport, Confinement, Launch } from "./contract.ts"
import { guarded } from "./guard.ts"
import { becomeSubreaper, openMemoryFile } from "./libc.ts"
import { defaultScratchBytesMax } from "./limits.ts"
import type { Mount } from "./mounts.ts"
import { encodeArguments, profileArguments } from "./profile.ts"
import type { ProtectedTree } from "./protected-tree.ts"
import { proxyLimits } from "./proxy/contract.ts"
import type { Door, DoorDescriptors } from "./proxy/door.ts"
import { buildSeccompFilter, filterArchitecture } from "./seccomp.ts"
import { executionTag } from "./survivors.ts"

export interface PreparedLaunch {
  readonly settings: BwrapSettings
  readonly confinement: Confinement
  readonly groups: ControlGroups
  readonly mounts: readonly Mount[]
  readonly maskFile: string
  readonly tree: ProtectedTree
  readonly filter: () => Uint8Array<ArrayBuffer>
}

/** The numbers under which the child finds what is handed over, after its three standard ones. */
const descriptors = { arguments: 3, seccomp: 4, status: 5, lifeline: 6, block: 7 } as const

export async function launchConfined(prepared: PreparedLaunch): Promise<Launch> {
  const { settings, confinement, groups } = prepared
  const blocks = needsBlock(confinement.limits, groups)
  const door = await openDoor(prepared, blocks)
  const files = await filesOrNone(() => openFiles(prepared, blocks, door), door)
  let tree: ConfinedTree | null = null
  let report: Promise<CleanUpReport> | null = null
  return {
    signalsAsExitCodes: true,
    protectedNames: prepared.tree.names,
    spawn: {
      argv: guarded({ ...descriptors, others: [3, 4, ...othersOf(blocks, door)] }, [
        settings.program,
        ...["--args", String(descriptors.arguments), "--"],
        ...(door === null ? [] : [door.starter]),
        ...confinement.argv,
      ]),
      // Nothing but what the next acode finds it by: inside, `/proc/1/environ` is the environment of bubblewrap itself.
      env: tagOf(confinement.environment),
      cwd: "/",
      extra: [
        ...[files.arguments, files.seccomp, files.status, "pipe" as const],
        ...(blocks ? ["pipe" as const] : []),
        ...(door === null ? [] : [door.image, door.channel]),
      ],
    },
    attach: async child => {
      door?.open(child)
      tree = await confinedTree({
        child,
        status: files.status,
        gate: ourEnd(child, descriptors.lifeline),
        block: blocks ? ourEnd(child, descriptors.block) : null,
        limits: confinement.limits,
        groups,
        onSetupFailed: settings.onSetupFailed,
      })
      const confined = tree
      prepared.tree.watch(() => void confined.kill())
      return {
        ...confined,
        startFailure: () => confined.startFailure?.() ?? door?.startFailure() ?? null,
        limitHit: () => (prepared.tree.wasStopped() ? "repositories" : confined.limitHit()),
      }
    },
    cleanUp: async () => {
      report ??= cleanUp(prepared, tree, door).finally(files.close)
      return await report
    },
  }
}

async function filesOrNone<Files>(open: () => Files, door: Door | null): Promise<Files> {
  try {
    return open()
  } catch (error) {
    await door?.close()
    throw error
  }
}

function othersOf(blocks: boolean, door: Door | null): readonly number[] {
  const block = blocks ? [descriptors.block] : []
  return door === null ? block : [...block, ...Object.values(doorNumbers(blocks))]
}

/** The last ones: most commands have no door. */
function doorNumbers(blocks: boolean): DoorDescriptors {
  const first = blocks ? descriptors.block + 1 : descriptors.block
  return { image: first, channel: first + 1 }
}

/** Loaded only when there is a list of hosts: no other command needs a proxy. */
async function openDoor(
  { settings: { resolveHost, clock }, confinement: { connections } }: PreparedLaunch,
  blocks: boolean,
): Promise<Door | null> {
  if (connections === undefined) return null
  const architecture = filterArchitecture(process.arch)
  if (architecture === null) throw noFilter()
  const { createDoor } = await import("./proxy/door.ts")
  const settings = { rules: connections, resolveHost, clock, limits: proxyLimits }
  return createDoor(settings, architecture, doorNumbers(blocks))
}

function tagOf({ [executionTag]: id }: Confinement["environment"]): Readonly<Record<string, string>> {
  return id === undefined ? {} : { [executionTag]: id }
}

function ourEnd(child: Spawned, descriptor: number): number {
  return child.extra[descriptor - firstExtra] ?? -1
}

const firstExtra = 3

function openFiles(prepared: PreparedLaunch, blocks: boolean, door: Door | null) {
  const { settings, confinement } = prepared
  const filter = prepared.filter()
  // Orphans of the sandbox become our children, so that their exit can be collected and their usage is known.
  becomeSubreaper()
  const profile = profileArguments({
    mounts: prepared.mounts,
    environment: { ...confinement.environment, ...door?.environment },
    cwd: confinement.cwd,
    network: confinement.network,
    disableUserNamespaces: settings.disableUserNamespaces,
    scratchBytesMax: settings.limitsScratch ? defaultScratchBytesMax() : null,
    maskFile: prepared.maskFile,
    descriptors: { ...descriptors, block: blocks ? descriptors.block : null },
  })
  const open = new Set<number>()
  const keep = (fd: number) => {
    open.add(fd)
    return fd
  }
  return {
    seccomp: keep(openMemoryFile("seccomp", filter)),
    arguments: keep(openMemoryFile("arguments", encodeArguments(profile))),
    // A file and not a pipe: bubblewrap would die of writing to a pipe that acode's own death has closed.
    status: keep(openMemoryFile("status", new Uint8Array())),
    close: () => {
      for (const fd of open) closeSync(fd)
      open.clear()
    },
  }
}

/** The system calls a confined program may make; the same for every command of a sandbox. */
export function callFilter({ unixSockets }: BwrapSettings): Uint8Array<ArrayBuffer> {
  const architecture = filterArchitecture(process.arch)
  if (architecture === null) throw noFilter()
  return buildSeccompFilter({ architecture, unixSockets })
}

async function cleanUp(
  prepared: PreparedLaunch,
  tree: ConfinedTree | null,
  door: Door | null,
): Promise<CleanUpReport> {
  const connections = await door?.close()
  const report = await cleanUpFiles(prepared, tree)
  return connections === undefined ? report : { ...report, connections }
}

async function cleanUpFiles(
  { tree: files }: PreparedLaunch,
  tree: ConfinedTree | null,
): Promise<CleanUpReport> {
  const report = await files.end(tree !== null)
  try {
    await tree?.dispose()
    return report
  } catch {
    // Never throws, by contract. What was not given back goes with this process.
    return report
  }
}

function noFilter(): Failure {
  return new Failure({
    kind: "confinement",
    code: "ACODE-EXE-010",
    message: `there is no system call filter for ${process.arch}`,
    hint: "use --sandbox none if you trust the command",
  })
}
