import { readdirSync, readFileSync, readlinkSync } from "node:fs"
import { statFields } from "./process-handle.ts"

/** The direct children of a process. */
export function childrenOf(pid: number): readonly number[] {
  const threads = namesIn(`/proc/${pid}/task`)
  const found: number[] = []
  for (const thread of threads) {
    const children = contentOf(`/proc/${pid}/task/${thread}/children`)
    // Kernels without CONFIG_PROC_CHILDREN have no such file: then every process is asked for its parent.
    if (children === null) return threads.length === 0 || hasChildrenFiles() ? found : childrenByScan(pid)
    for (const child of children.split(" ")) if (child !== "") found.push(Number(child))
  }
  return found
}

/** Everything below a process at this moment, nearest first. Stops after `countMax`: a fork bomb has no end. */
export function descendantsOf(pid: number, countMax: number): readonly number[] {
  const found: number[] = []
  const open = [pid]
  const seen = new Set(open)
  while (open.length > 0 && found.length < countMax) {
    const next = open.shift() ?? pid
    for (const child of childrenOf(next)) {
      if (seen.has(child)) continue
      seen.add(child)
      found.push(child)
      open.push(child)
    }
  }
  return found
}

export interface MachineLoad {
  readonly threadCount: number
  /** The number that was given to a process last. */
  readonly lastPid: number
}

/** The one count of processes that costs nothing. */
export function machineLoad(): MachineLoad {
  const [, threads, last] = /\/(\d+) (\d+)/.exec(contentOf("/proc/loadavg") ?? "") ?? []
  return { threadCount: Number(threads ?? 0), lastPid: Number(last ?? 0) }
}

/**
 * Estimates how many of the threads that the machine has more than before belong to the pid namespace of a process.
 * Checks some of the pids given out since: counting a bomb takes longer than it takes to double.
 */
export function estimateNamespace(pid: number, before: MachineLoad, now: MachineLoad): number {
  const namespace = linkOf(`/proc/${pid}/ns/pid`)
  if (namespace === null) return 0
  const numbersMax = Number(contentOf("/proc/sys/kernel/pid_max") ?? 32_768)
  const given = (now.lastPid - before.lastPid + numbersMax) % numbersMax
  let [seen, ours] = [0, 0]
  for (let sample = 0; sample < samples; sample++) {
    const number = now.lastPid - Math.floor((sample * given) / samples)
    const found = linkOf(`/proc/${number > 0 ? number : number + numbersMax}/ns/pid`)
    if (found !== null) seen += 1
    if (found === namespace) ours += 1
  }
  return seen === 0 ? 0 : Math.round(((now.threadCount - before.threadCount) * ours) / seen)
}

const samples = 64

/** The largest peak memory of one of the processes; null when none could be read. */
export function peakMemoryOf(pids: readonly number[]): number | null {
  let peak: number | null = null
  for (const pid of pids) {
    const found = /^VmHWM:\s+(\d+) kB/m.exec(contentOf(`/proc/${pid}/status`) ?? "")?.[1]
    if (found !== undefined) peak = Math.max(peak ?? 0, Number(found) * 1024)
  }
  return peak
}

/** Returns whether the process was started with `name=value` in its environment; false where it may not be read. */
export function hasVariable(pid: number, name: string, value: string): boolean {
  const environment = contentOf(`/proc/${pid}/environ`)
  return environment !== null && `\0${environment}`.includes(`\0${name}=${value}\0`)
}

export function allPids(): readonly number[] {
  return namesIn("/proc").flatMap(name => (/^\d+$/.test(name) ? [Number(name)] : []))
}

let childrenFiles: boolean | null = null

function hasChildrenFiles(): boolean {
  childrenFiles ??= contentOf(`/proc/self/task/${process.pid}/children`) !== null
  return childrenFiles
}

function childrenByScan(parent: number): readonly number[] {
  return allPids().filter(pid => statFields(pid)?.[1] === String(parent))
}

function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory)
  } catch {
    // The process is gone; it has no threads and no children.
    return []
  }
}

function contentOf(path: string): string | null {
  try {
    return readFileSync(path, "latin1")
  } catch {
    // Gone, or not ours to read: both mean that nothing is known.
    return null
  }
}

function linkOf(path: string): string | null {
  try {
    return readlinkSync(path)
  } catch {
    // Gone, or not readable for this user.
    return null
  }
}
