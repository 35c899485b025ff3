import type { Faults } from "../../../src/base/faults.ts"

/** Returns faults that only append the name of each point they reach, for tests that kill a process at each of them. */
export function recordPoints(points: string[]): Faults {
  return { reach: point => points.push(point) }
}
