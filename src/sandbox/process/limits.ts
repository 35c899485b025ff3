import { release, totalmem } from "node:os"
import { hardLimit, type Resource, setLimit } from "../../base/libc.ts"
import type { ResourceLimits } from "../../domain/command.ts"
import type { ControlGroup, ControlGroups } from "./cgroup.ts"

/** The default number of processes: enough for a parallel build, too few for a fork bomb. */
export const defaultProcessesMax = 512
const openFilesMax = 65_536

/** Returns the default memory limit, held by control groups: acode needs the rest to continue. */
export function defaultMemoryBytesMax(): number {
  return Math.floor(usableMemoryBytes() * 0.75)
}

/** Returns the default size of each tmpfs of a command: full ones must leave memory for other processes. */
export function defaultScratchBytesMax(): number {
  return Math.floor(usableMemoryBytes() / 4)
}

/** Returns the memory of the machine, or of the container that acode runs in. */
function usableMemoryBytes(): number {
  const allowed = process.constrainedMemory()
  return allowed > 0 ? Math.min(totalmem(), allowed) : totalmem()
}

export interface LimitsInForce {
  readonly group: ControlGroup
  /** The number of processes to enforce by counting, because neither a group nor the kernel's own limit holds them. */
  readonly watchProcessesMax: number | null
}

/** Makes the group of a command. `extraProcesses` is how many processes of ours will be in the same tree. */
export function createGroup(
  { processesMax, memoryBytesMax }: ResourceLimits,
  groups: ControlGroups,
  extraProcesses: number,
): ControlGroup {
  return groups.create({
    processesMax: processesMax === null ? null : processesMax + extraProcesses,
    memoryBytesMax,
  })
}

/**
 * Puts limits on a process that has not started its program yet; what it starts inherits them. A process that enters
 * its group by a door does so itself, before it starts anything.
 */
export function applyLimits(
  pid: number,
  { processesMax, memoryBytesMax, cpuSecondsMax }: ResourceLimits,
  group: ControlGroup,
  usesDoors: boolean,
): LimitsInForce {
  const grouped = (usesDoors && group.doors.length > 0) || group.add(pid)
  lower(pid, "core", 0)
  lower(pid, "openFiles", openFilesMax)
  if (cpuSecondsMax !== null) lower(pid, "cpu", cpuSecondsMax, cpuSecondsMax + 1)
  // Best effort: it holds each process on its own, where only a group holds all of them together.
  if (memoryBytesMax !== null && !(grouped && group.holdsMemory)) lower(pid, "data", memoryBytesMax)
  const isHeld = processesMax === null || (grouped && group.holdsProcesses)
  return { group, watchProcessesMax: isHeld ? null : processesMax }
}

/** Limits the size of files, apart from the other limits, because it would also limit the status file of the launch. */
export function limitFileSize(pid: number, fileBytesMax: number): void {
  lower(pid, "fileSize", fileBytesMax)
}

/**
 * The kernel's own limit on processes, for the first process of a user namespace: there it counts what is in the
 * namespace, outside it would count everything the user runs. False where it would not hold: never for root, and
 * before 5.14 it counts the user's processes everywhere.
 */
export function limitProcesses(pid: number, processesMax: number): boolean {
  return canLimitProcesses() && lower(pid, "processes", processesMax)
}

export function canLimitProcesses(): boolean {
  return process.geteuid?.() !== 0 && countsPerNamespace(release())
}

export function countsPerNamespace(kernelRelease: string): boolean {
  const [major = 0, minor = 0] = kernelRelease.split(".").map(part => Number.parseInt(part, 10))
  return major > 5 || (major === 5 && minor >= 14)
}

/** Lowers a hard limit; a stricter one stays, because a hard limit can only be lowered. */
function lower(pid: number, resource: Resource, soft: number, hard = soft): boolean {
  const ceiling = hardLimit(pid, resource)
  return setLimit(pid, resource, Math.min(soft, ceiling), Math.min(hard, ceiling))
}
