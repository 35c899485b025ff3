/**
 * A numbered point at which a test can crash the process: each persisted boundary and each gap between an effect and
 * its record. Production passes `noFaults`; a crash test passes `killAt(n)` and dies at the n-th point it reaches.
 */
export interface Faults {
  reach(point: string): void
}

export const noFaults: Faults = {
  reach: () => undefined,
}

/** Returns faults that end this process at the n-th point reached (counted from 1), as `kill -9` would. */
export function killAt(count: number): Faults {
  let reached = 0
  return {
    reach: () => {
      reached += 1
      if (reached === count) process.kill(process.pid, "SIGKILL")
    },
  }
}
