import { chmodSync, lstatSync, mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { lazily } from "../base/lazy.ts"
import type { ResourceLimits } from "../domain/command.ts"
import { Failure } from "../domain/failure.ts"
import type { CleanUpReport, Confinement, Launch, ProcessTree, Sandbox } from "./contract.ts"
import { type ControlGroups, findControlGroups } from "./process/cgroup.ts"
import { canLimitProcesses, defaultMemoryBytesMax, defaultProcessesMax } from "./process/limits.ts"
import { type Architecture, buildSeccompFilter, filterArchitecture } from "./process/seccomp.ts"
import { executionTag } from "./process/survivors.ts"
import { proxyLimits } from "./proxy/contract.ts"
import type { Door, DoorDescriptors } from "./proxy/door.ts"
import type { ConfinedSettings } from "./settings.ts"
import { type ProtectedTree, protectTree } from "./tree/protected-tree.ts"
import type { KnownListings } from "./tree/tree-snapshot.ts"
import { confinedView, refuseUnsafePaths, type ViewQuery } from "./view/confined-view.ts"
import { isShown, type Mount } from "./view/mounts.ts"
import { requireVisibleProgram } from "./view/program.ts"
import { rememberPrivateEntries, rememberSystemView } from "./view/system-view.ts"
import { rememberToolchains } from "./view/toolchains.ts"

/** Everything that is decided about a command before a mechanism confines it. */
export interface PreparedLaunch {
  readonly settings: ConfinedSettings
  readonly confinement: Confinement
  readonly groups: ControlGroups
  readonly mounts: readonly Mount[]
  readonly maskFile: string
  readonly tree: ProtectedTree
  readonly architecture: Architecture
  /** The system calls a confined program may make. */
  readonly filter: () => Uint8Array<ArrayBuffer>
}

/** A mechanism that confines: what it does with a command that is prepared. */
export interface Mechanism {
  readonly kind: Exclude<Sandbox["kind"], "none">
  /** Throws for what it cannot do, before anything is made. */
  check(confinement: Confinement): void
  launch(prepared: PreparedLaunch): Promise<Launch>
}

/** A sandbox whose commands see a view of their own; the mechanism only sets it up. */
export function createConfinedSandbox(settings: ConfinedSettings, mechanism: Mechanism): Sandbox {
  const machine: Machine = {
    privateEntries: rememberPrivateEntries(settings.clock, remembrance),
    toolchains: rememberToolchains(settings.clock, remembrance.blindMs),
    systemView: rememberSystemView(settings.clock, remembrance.blindMs),
    filter: lazily(() => callFilter(settings)),
    listings: listingsByRoot(),
  }
  // Found with the first command: a sandbox that is only asked for its kind must not touch the system.
  let groups: ControlGroups | null = null
  return {
    kind: mechanism.kind,
    prepare: async confinement => {
      mechanism.check(confinement)
      groups ??= findControlGroups()
      const limits = heldLimits(confinement.limits, groups)
      return await prepare(settings, mechanism, groups, machine, { ...confinement, limits })
    },
  }
}

/** Inspects the machine itself, for the part of the view that does not depend on the command. */
type Machine = Pick<ViewQuery, "privateEntries" | "toolchains" | "systemView"> &
  Pick<PreparedLaunch, "filter"> & {
    /** Returns the last known listings of the directories of a workspace. */
    readonly listings: (root: string) => KnownListings
  }

function listingsByRoot(): Machine["listings"] {
  const byRoot = new Map<string, KnownListings>()
  return root => {
    const known = byRoot.get(root) ?? new Map()
    byRoot.set(root, known)
    return known
  }
}

const remembrance = { blindMs: 1_000, ageMsMax: 60_000 }

/**
 * Adds the default limits that a control group can hold. Processes only where the kernel's own limit does not hold, as
 * for root: a fork bomb doubles faster than acode can count, and takes the machine with it. Memory, because
 * a limit of each process on its own would fail programs that reserve much and use little.
 */
function heldLimits(limits: ResourceLimits, { controls }: ControlGroups): ResourceLimits {
  const groupsProcesses = controls.has("processes") && !canLimitProcesses()
  return {
    ...limits,
    processesMax: limits.processesMax ?? (groupsProcesses ? defaultProcessesMax : null),
    memoryBytesMax: limits.memoryBytesMax ?? (controls.has("memory") ? defaultMemoryBytesMax() : null),
  }
}

async function prepare(
  settings: ConfinedSettings,
  mechanism: Mechanism,
  groups: ControlGroups,
  machine: Machine,
  confinement: Confinement,
): Promise<Launch> {
  const { workspaceRoot: root } = confinement
  refuseUnsafePaths(settings, confinement)
  const maskFile = ensureMaskFile(settings.workDirectory)
  // The class of a name depends on whether a person can be asked about it.
  const known = machine.listings(`${root}\0${confinement.asked === null}`)
  const tree = await protectTree(settings, confinement, known)
  try {
    const mounts = confinedView({ settings, confinement, snapshot: tree.snapshot, ...machine })
    requireVisibleDirectory(mounts, confinement.cwd)
    requireVisibleProgram(mounts, confinement.argv, confinement.cwd, confinement.environment["PATH"] ?? "")
    return await mechanism.launch({
      settings,
      confinement,
      groups,
      mounts,
      maskFile,
      tree,
      architecture: requireArchitecture(),
      filter: machine.filter,
    })
  } catch (error) {
    await tree.end(false)
    throw error
  }
}

/** Returns an empty file to bind over paths, not `/dev/null`: a device could be read and written through the mask. */
function ensureMaskFile(workDirectory: string): string {
  const path = join(workDirectory, "mask")
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (found === undefined) {
    mkdirSync(workDirectory, { recursive: true, mode: 0o700 })
    writeFileSync(path, "", { mode: 0 })
  } else if (!found.isFile() || found.size !== 0) {
    throw new Failure({
      kind: "integrity",
      code: "ACODE-SEC-006",
      message: "the file that hides others is not an empty file any more",
      where: path,
      hint: "remove it; acode makes a new one",
    })
  } else if ((found.mode & 0o777) !== 0) chmodSync(path, 0)
  return path
}

function requireVisibleDirectory(mounts: readonly Mount[], cwd: string): void {
  if (isShown(mounts, cwd)) return
  throw new Failure({
    kind: "confinement",
    code: "ACODE-SEC-003",
    message: "the working directory is hidden from confined commands",
    where: cwd,
    hint: "run the command from another directory of the workspace",
  })
}

/** The system calls a confined program may make; the same for every command of a sandbox. */
function callFilter({ unixSockets }: ConfinedSettings): Uint8Array<ArrayBuffer> {
  return buildSeccompFilter({ architecture: requireArchitecture(), unixSockets })
}

function requireArchitecture(): Architecture {
  const architecture = filterArchitecture(process.arch)
  if (architecture !== null) return architecture
  throw new Failure({
    kind: "confinement",
    code: "ACODE-EXE-010",
    message: `no system call filter exists for ${process.arch}`,
    hint: "use --sandbox none if you trust the command",
  })
}

/** Opens the way to the proxy for a command with a list of hosts. Loaded only then: no other command needs a proxy. */
export async function openDoor(
  { settings: { resolveHost, clock }, confinement: { connections }, architecture }: PreparedLaunch,
  numbers: DoorDescriptors,
): Promise<Door | null> {
  if (connections === undefined) return null
  const { createDoor } = await import("./proxy/door.ts")
  const settings = { rules: connections, resolveHost, clock, limits: proxyLimits }
  return createDoor(settings, architecture, numbers)
}

/** Nothing but what the next acode finds it by: the command could read the environment of what starts it. */
export function tagOf({ [executionTag]: id }: Confinement["environment"]): Readonly<Record<string, string>> {
  return id === undefined ? {} : { [executionTag]: id }
}

export interface ConfinedTree extends ProcessTree {
  /** Releases what the tree holds. Call it after the end. */
  dispose(): Promise<void>
}

/** Returns the tree of a mechanism with what is the same for all: the watch over the workspace, and the door. */
export function watchedTree(
  { tree }: PreparedLaunch,
  confined: ConfinedTree,
  door: Door | null,
): ProcessTree {
  tree.watch(() => void confined.kill())
  return {
    ...confined,
    startFailure: () => confined.startFailure?.() ?? door?.startFailure() ?? null,
    limitHit: () => (tree.wasStopped() ? "repositories" : confined.limitHit()),
  }
}

/** Ends a launch: connections first, then the workspace, then what the tree held on to. Never throws, by contract. */
export async function cleanUpLaunch(
  { tree: files }: PreparedLaunch,
  tree: ConfinedTree | null,
  door: Door | null,
): Promise<CleanUpReport> {
  const connections = await door?.close()
  const ended = await files.end(tree !== null)
  const report = connections === undefined ? ended : { ...ended, connections }
  try {
    await tree?.dispose()
    return report
  } catch {
    // What was not released is freed with this process.
    return report
  }
}
