import { chmodSync, lstatSync, mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { lazily } from "../../base/lazy.ts"
import type { ResourceLimits } from "../../domain/command.ts"
import { Failure } from "../../domain/failure.ts"
import type { Confinement, Launch, Sandbox } from "../contract.ts"
import { refuseLayers } from "../layers.ts"
import { type ControlGroups, findControlGroups } from "../process/cgroup.ts"
import { canLimitProcesses, defaultMemoryBytesMax, defaultProcessesMax } from "../process/limits.ts"
import type { BwrapSettings } from "../settings.ts"
import { protectTree } from "../tree/protected-tree.ts"
import type { KnownListings } from "../tree/tree-snapshot.ts"
import { confinedView, refuseUnsafePaths, type ViewQuery } from "../view/confined-view.ts"
import { isShown, type Mount } from "../view/mounts.ts"
import { rememberPrivateEntries, rememberSystemView } from "../view/system-view.ts"
import { rememberToolchains } from "../view/toolchains.ts"
import { callFilter, launchConfined, type PreparedLaunch } from "./launch.ts"
import { requireVisibleProgram } from "./program.ts"

export function createBwrapSandbox(settings: BwrapSettings): Sandbox {
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
    kind: "bwrap",
    prepare: async confinement => {
      groups ??= findControlGroups()
      const limits = heldLimits(confinement.limits, groups)
      return await prepare(settings, groups, machine, { ...confinement, limits })
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
  settings: BwrapSettings,
  groups: ControlGroups,
  machine: Machine,
  confinement: Confinement,
): Promise<Launch> {
  const { workspaceRoot: root } = confinement
  // Bubblewrap has overlays from 0.11 on, and even then syncs every file that it copies up.
  refuseLayers(confinement, "bubblewrap")
  refuseUnsafePaths(settings, confinement)
  const maskFile = ensureMaskFile(settings.workDirectory)
  // The class of a name depends on whether a person can be asked about it.
  const known = machine.listings(`${root}\0${confinement.asked === null}`)
  const tree = await protectTree(settings, confinement, known)
  try {
    const mounts = confinedView({ settings, confinement, snapshot: tree.snapshot, ...machine })
    requireVisibleDirectory(mounts, confinement.cwd)
    requireVisibleProgram(mounts, confinement.argv, confinement.cwd, confinement.environment["PATH"] ?? "")
    return await launchConfined({
      settings,
      confinement,
      groups,
      mounts,
      maskFile,
      tree,
      filter: machine.filter,
    })
  } catch (error) {
    await tree.end(false)
    throw error
  }
}

/** Not `/dev/null`: a device could be read and written through the mask. */
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
