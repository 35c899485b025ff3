import { type MachineLoad, machineLoad } from "./proc-tree.ts"

export interface Watchdog {
  hasBitten(): boolean
  stop(): void
}

/**
 * Calls `kill` when `count` finds more processes than allowed. The last resort, for root: a bomb grows for some
 * milliseconds before it is seen. It is counted only while the machine as a whole has that much more than before,
 * which is known at no cost, and `count` must not take longer the more there is: it would never catch up.
 */
export function watchProcesses(
  processesMax: number,
  count: (before: MachineLoad, now: MachineLoad) => number,
  kill: () => void,
): Watchdog {
  const before = machineLoad()
  let bitten = false
  const timer = setInterval(() => {
    const now = machineLoad()
    if (now.threadCount - before.threadCount < processesMax || count(before, now) <= processesMax) return
    bitten = true
    clearInterval(timer)
    kill()
  }, intervalMs)
  return { hasBitten: () => bitten, stop: () => clearInterval(timer) }
}

const intervalMs = 10
