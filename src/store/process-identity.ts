import { readFileSync, readlinkSync } from "node:fs"
import { uptime } from "node:os"
import { errnoOf } from "../base/assert.ts"
import type { ProcessIdentity } from "../domain/process-identity.ts"

/**
 * Returns the identity of this process. A pid alone is reused; with the start time of the process it is unique within
 * one boot of one pid namespace, and `bootId` identifies both.
 */
export function processIdentity(proc = "/proc"): ProcessIdentity {
  const startTicks = startTicksOf(process.pid, proc)
  return { bootId: bootIdOf(proc), pid: process.pid, startTicks: startTicks ?? "0" }
}

/** The state of a process: it runs, has ended, or cannot be inspected from here. */
export type Liveness = "alive" | "dead" | "hidden"

/**
 * Returns whether a process still runs. A process of another pid namespace of this boot is hidden: if it counted as
 * dead, a container could close the executions of its host.
 */
export function livenessOf(identity: ProcessIdentity, proc = "/proc"): Liveness {
  const here = bootIdOf(proc)
  if (here === noProc) return answersSignals(identity.pid) ? "alive" : "dead"
  if (here !== identity.bootId) return bootOnly(here) === bootOnly(identity.bootId) ? "hidden" : "dead"
  return startTicksOf(identity.pid, proc) === identity.startTicks ? "alive" : "dead"
}

/** Returns whether a process still runs; a hidden process counts as alive. */
export function isProcessAlive(identity: ProcessIdentity, proc = "/proc"): boolean {
  return livenessOf(identity, proc) !== "dead"
}

/**
 * Returns the time since the machine started, sleep included: the same for all its processes, and no process can set
 * it.
 */
export function uptimeMs(): number {
  try {
    return Math.round(Number.parseFloat(readFileSync("/proc/uptime", "utf8")) * 1000)
  } catch {
    // A system without /proc reports whole seconds, which is enough.
    return uptime() * 1000
  }
}

const noProc = "unknown"

function bootIdOf(proc: string): string {
  try {
    const boot = readFileSync(`${proc}/sys/kernel/random/boot_id`, "utf8").trim()
    const namespace = /\d+/.exec(readlinkSync(`${proc}/self/ns/pid`))?.[0] ?? ""
    return `${boot}/${namespace}`
  } catch {
    // A system without /proc has no such ids; its processes are identified by pid alone.
    return noProc
  }
}

/** Returns the boot id without the pid namespace. */
export function bootOnly(bootId: string): string {
  return bootId.slice(0, bootId.indexOf("/"))
}

/**
 * Returns field 22 of `stat`. Field 2, the program's name, may contain spaces and brackets, so this counts from its
 * last bracket.
 */
function startTicksOf(pid: number, proc: string): string | null {
  try {
    const stat = readFileSync(`${proc}/${pid}/stat`, "utf8")
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
    // A zombie has ended; only its parent has not noticed yet.
    return fields[0] === "Z" || fields[0] === "X" ? null : (fields[19] ?? null)
  } catch {
    // A missing directory in /proc means that the process does not exist.
    return null
  }
}

function answersSignals(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return errnoOf(error) === "EPERM"
  }
}
