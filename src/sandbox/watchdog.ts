import { descendantsOf, threadCount } from "./proc-tree.ts"

export interface Watchdog {
  hasBitten(): boolean
  stop(): void
}

/**
 * Counts what lives below a process and calls `kill` when there is too much of it. The last resort, for root on a
 * machine without control groups: a bomb may grow for one interval before it is seen.
 */
export function watchProcesses(pid: number, processesMax: number, kill: () => void): Watchdog {
  let bitten = false
  const timer = setInterval(() => {
    const below = descendantsOf(pid, processesMax + 1)
    if (below.length <= processesMax && threadCount(below) <= processesMax) return
    bitten = true
    clearInterval(timer)
    kill()
  }, intervalMs)
  return { hasBitten: () => bitten, stop: () => clearInterval(timer) }
}

const intervalMs = 25
