import { closeSync } from "node:fs"
import { unreachable } from "../../base/assert.ts"
import { becomeSubreaper, openMemoryFile } from "../../base/libc.ts"
import type { Spawned } from "../../base/spawn.ts"
import type { NetworkChoice } from "../../domain/command.ts"
import {
  type ConfinedTree,
  cleanUpLaunch,
  openDoor,
  type PreparedLaunch,
  tagOf,
  watchedTree,
} from "../confined.ts"
import type { CleanUpReport, Launch } from "../contract.ts"
import { defaultScratchBytesMax } from "../process/limits.ts"
import type { Door, DoorDescriptors } from "../proxy/door.ts"
import type { BwrapSettings } from "../settings.ts"
import type { Mount } from "../view/mounts.ts"
import { guardedArgv } from "./guard.ts"
import { confinedTree, needsBlock } from "./tree.ts"

/** The numbers of the descriptors that the child inherits, after its three standard ones. */
const descriptors = { arguments: 3, seccomp: 4, status: 5, lifeline: 6, block: 7 } as const

export async function launchConfined(prepared: PreparedLaunch, settings: BwrapSettings): Promise<Launch> {
  const { confinement, groups } = prepared
  const blocks = needsBlock(confinement.limits, groups)
  const door = await openDoor(prepared, doorNumbers(blocks))
  const files = await filesOrNone(() => openFiles(prepared, settings, blocks, door), door)
  let tree: ConfinedTree | null = null
  let report: Promise<CleanUpReport> | null = null
  return {
    signalsAsExitCodes: true,
    protectedNames: prepared.tree.names,
    spawn: {
      argv: guardedArgv({ ...descriptors, others: [3, 4, ...othersOf(blocks, door)] }, [
        settings.program,
        ...["--args", String(descriptors.arguments), "--"],
        ...(door === null ? [] : [door.starter]),
        ...confinement.argv,
      ]),
      // Inside, `/proc/1/environ` is the environment of bubblewrap itself.
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
      return watchedTree(prepared, tree, door)
    },
    cleanUp: async () => {
      report ??= cleanUpLaunch(prepared, tree, door).finally(files.close)
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

function ourEnd(child: Spawned, descriptor: number): number {
  return child.extra[descriptor - firstExtra] ?? -1
}

const firstExtra = 3

function openFiles(prepared: PreparedLaunch, settings: BwrapSettings, blocks: boolean, door: Door | null) {
  const { confinement } = prepared
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

/** The settings of one bubblewrap process, as data. */
export interface Profile {
  readonly mounts: readonly Mount[]
  readonly environment: Readonly<Record<string, string>>
  readonly cwd: string
  readonly network: NetworkChoice
  /** Bubblewrap before 0.8 cannot forbid nested user namespaces; the filter does it then alone. */
  readonly disableUserNamespaces: boolean
  /** The size limit of each tmpfs; null for a bubblewrap before 0.7, which cannot limit it. */
  readonly scratchBytesMax: number | null
  /** An empty file without permissions; bound over files that are hidden. */
  readonly maskFile: string
  readonly descriptors: ProfileDescriptors
}

/** The numbers as the child sees them. */
interface ProfileDescriptors {
  readonly seccomp: number
  readonly status: number
  /** The descriptor at which it waits before it starts the program, when it has to. */
  readonly block: number | null
}

/**
 * The arguments of bubblewrap before `--`. They are handed over through a descriptor: on the command line the whole
 * host could read the environment of the command, and there could be too many of them.
 */
export function profileArguments(profile: Profile): readonly string[] {
  return [
    "--unshare-all",
    "--unshare-user",
    ...(profile.network === "host" ? ["--share-net"] : []),
    ...(profile.disableUserNamespaces ? ["--disable-userns"] : []),
    "--die-with-parent",
    "--new-session",
    "--cap-drop",
    "ALL",
    ...kernelMounts,
    ...profile.mounts.flatMap(mount => mountArguments(mount, profile)),
    "--chdir",
    profile.cwd,
    "--clearenv",
    ...Object.entries(profile.environment).flatMap(([name, value]) => ["--setenv", name, value]),
    "--seccomp",
    String(profile.descriptors.seccomp),
    "--json-status-fd",
    String(profile.descriptors.status),
    ...(profile.descriptors.block === null ? [] : ["--block-fd", String(profile.descriptors.block)]),
  ]
}

/**
 * Mounts that bubblewrap makes itself, and what it leaves open: root could write `/proc/sys/kernel/core_pattern`, and
 * any user `/proc/self/oom_score_adj`, by which acode would be killed before its command where memory runs out.
 */
const kernelMounts = [
  ...["--dev", "/dev", "--proc", "/proc", "--ro-bind", "/proc/sys", "/proc/sys"],
  ...["--remount-ro", "/proc"],
] as const

export function encodeArguments(values: readonly string[]): Uint8Array {
  return Buffer.from(values.map(value => `${value}\0`).join(""))
}

function mountArguments(
  mount: Mount,
  { maskFile, scratchBytesMax }: Pick<Profile, "maskFile" | "scratchBytesMax">,
): readonly string[] {
  switch (mount.kind) {
    case "readOnly":
      return ["--ro-bind", mount.path, mount.path]
    case "writable":
      return ["--bind", mount.path, mount.path]
    case "hiddenFile":
      return ["--ro-bind", maskFile, mount.path]
    case "scratch":
      return [
        ...["--perms", mount.mode.toString(8).padStart(4, "0")],
        ...(scratchBytesMax === null ? [] : ["--size", String(isMask(mount) ? maskBytes : scratchBytesMax)]),
        ...["--tmpfs", mount.path],
      ]
    case "link":
      return ["--symlink", mount.target, mount.path]
    case "frozen":
      return ["--remount-ro", mount.path]
    default:
      return unreachable(mount)
  }
}

/** Nothing is meant to be written there; its owner could make it writable all the same. */
function isMask({ mode }: Extract<Mount, { kind: "scratch" }>): boolean {
  return (mode & 0o222) === 0
}

const maskBytes = 4096
