/**
 * A numbered place where a crash is interesting: each persisted boundary and each gap between an effect and its
 * record. Production passes `noFaults`; a crash test passes `killAt(n)` and dies at the n-th point it reaches.
 */
export interface Faults {
  reach(point: string): void
}

export const noFaults: Faults = {
  reach: () => undefined,
}

/** Ends this very process as `kill -9` would, at the n-th point reached (counted from 1). */
export function killAt(count: number): Faults {
  let reached = 0
  return {
    reach: () => {
      reached += 1
      if (reached === count) process.kill(process.pid, "SIGKILL")
    },
  }
}

/** Remembers the names of the points in order, so that a test knows how many there are to die at. */
export function recordPoints(points: string[]): Faults {
  return { reach: point => points.push(point) }
}
