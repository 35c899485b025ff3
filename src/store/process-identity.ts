import { readFileSync, readlinkSync } from "node:fs"
import { uptime } from "node:os"
import { errnoOf } from "../base/assert.ts"
import type { ProcessIdentity } from "../domain/process-identity.ts"

/**
 * Who this process is. A pid alone is reused; with the time the process started it is unique within one boot of one
 * pid namespace, and `bootId` names both.
 */
export function processIdentity(proc = "/proc"): ProcessIdentity {
  const startTicks = startTicksOf(process.pid, proc)
  return { bootId: bootIdOf(proc), pid: process.pid, startTicks: startTicks ?? "0" }
}

/** Of an owner: runs, has ended, or cannot be inspected from here. */
export type Liveness = "alive" | "dead" | "hidden"

/**
 * Whether that process still runs. One of another pid namespace of this boot is hidden: calling it dead would let a
 * container close the executions of its host.
 */
export function livenessOf(identity: ProcessIdentity, proc = "/proc"): Liveness {
  const here = bootIdOf(proc)
  if (here === noProc) return answersSignals(identity.pid) ? "alive" : "dead"
  if (here !== identity.bootId) return bootOnly(here) === bootOnly(identity.bootId) ? "hidden" : "dead"
  return startTicksOf(identity.pid, proc) === identity.startTicks ? "alive" : "dead"
}

/** The same where a hidden process counts as alive. */
export function isProcessAlive(identity: ProcessIdentity, proc = "/proc"): boolean {
  return livenessOf(identity, proc) !== "dead"
}

/** Time since the machine was started, sleep included: the same for all its processes, and nobody can set it. */
export function uptimeMs(): number {
  try {
    return Math.round(Number.parseFloat(readFileSync("/proc/uptime", "utf8")) * 1000)
  } catch {
    // A system without /proc tells whole seconds, which is enough.
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
    // A system without /proc has no such names; its processes are told apart by their pid alone.
    return noProc
  }
}

/** Without the pid namespace. */
export function bootOnly(bootId: string): string {
  return bootId.slice(0, bootId.indexOf("/"))
}

/** Field 22 of `stat`. The program's name, field 2, may hold spaces and brackets: count after its last one. */
function startTicksOf(pid: number, proc: string): string | null {
  try {
    const stat = readFileSync(`${proc}/${pid}/stat`, "utf8")
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
    // A zombie does nothing any more; only its parent has not noticed.
    return fields[0] === "Z" || fields[0] === "X" ? null : (fields[19] ?? null)
  } catch {
    // No such directory is how /proc says that no such process exists.
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
