import { release } from "node:os"
import type { ResourceLimits } from "../domain/command.ts"
import type { ControlGroup, ControlGroups } from "./cgroup.ts"
import { hardLimit, type Resource, setLimit } from "./libc.ts"

/** In force unless a command asks for another number: enough for a parallel build, too few for a fork bomb. */
export const defaultProcessesMax = 512
const openFilesMax = 65_536

export interface LimitsInForce {
  readonly group: ControlGroup
  /** How many processes somebody has to count, because neither a group nor the kernel's own limit holds them. */
  readonly watchProcessesMax: number | null
}

/** Puts every limit on a process that has not started its program yet; what it starts inherits them. */
export function applyLimits(pid: number, limits: ResourceLimits, groups: ControlGroups): LimitsInForce {
  const group = groups.create({
    processesMax: limits.processesMax,
    memoryBytesMax: limits.memoryBytesMax,
  })
  const grouped = group.add(pid)
  const holdsMemory = grouped && group.holdsMemory
  const holdsProcesses = grouped && group.holdsProcesses
  lower(pid, "core", 0)
  lower(pid, "openFiles", openFilesMax)
  if (limits.cpuSecondsMax !== null) lower(pid, "cpu", limits.cpuSecondsMax, limits.cpuSecondsMax + 1)
  if (limits.fileBytesMax !== null) lower(pid, "fileSize", limits.fileBytesMax)
  // Best effort: it holds each process on its own, where only a group holds all of them together.
  if (limits.memoryBytesMax !== null && !holdsMemory) lower(pid, "data", limits.memoryBytesMax)
  const counted = limits.processesMax === null || holdsProcesses || limitProcesses(pid, limits.processesMax)
  return { group, watchProcessesMax: counted ? null : limits.processesMax }
}

/** False where the kernel would not hold it: never for root, and before 5.14 it counts all the user's processes. */
function limitProcesses(pid: number, processesMax: number): boolean {
  if (process.geteuid?.() === 0 || !countsPerNamespace(release())) return false
  return lower(pid, "processes", processesMax)
}

export function countsPerNamespace(kernelRelease: string): boolean {
  const [major = 0, minor = 0] = kernelRelease.split(".").map(part => Number.parseInt(part, 10))
  return major > 5 || (major === 5 && minor >= 14)
}

/** A hard limit can only be lowered, so what is stricter already stays. */
function lower(pid: number, resource: Resource, soft: number, hard = soft): boolean {
  const ceiling = hardLimit(pid, resource)
  return setLimit(pid, resource, Math.min(soft, ceiling), Math.min(hard, ceiling))
}
