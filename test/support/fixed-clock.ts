import type { Clock, Ids } from "../../src/base/clock.ts"

export interface FixedClock extends Clock {
  /** Advances both times together. */
  advance(ms: number): void
  /** Moves only the wall clock, as setting it does. */
  jump(ms: number): void
}

/** Time that stands still until a test moves it. */
export function fixedClock(startAt = Date.UTC(2026, 0, 2, 3, 4, 5, 678)): FixedClock {
  let wall = startAt
  let monotonic = 1_000
  return {
    now: () => wall,
    monotonicMs: () => monotonic,
    advance: ms => {
      wall += ms
      monotonic += ms
    },
    jump: ms => {
      wall += ms
    },
  }
}

/** Ids that count: `exe_00000000-0000-7000-8000-000000000001`, … They sort as real ones do. */
export function countingIds(): Ids {
  let last = 0
  return {
    next: prefix => {
      last += 1
      return `${prefix}_00000000-0000-7000-8000-${last.toString(16).padStart(12, "0")}`
    },
  }
}
