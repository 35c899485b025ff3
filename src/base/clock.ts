/** The source of the time. It is passed in, so that tests and recovery decide what time it is. */
export interface Clock {
  /** Returns the wall time in milliseconds since 1970. It may jump; use it only for timestamps that people read. */
  now(): number
  /** Returns milliseconds that never go backwards. Use it for every duration and deadline. */
  monotonicMs(): number
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonicMs: () => performance.now(),
}

/** Formats a time as `2026-01-02T03:04:05.678Z`. */
export function toIso(epochMs: number): string {
  return new Date(epochMs).toISOString()
}

/** Generates ids that sort by time of creation and never repeat: a prefix and a UUIDv7. */
export interface Ids {
  next<Prefix extends string>(prefix: Prefix): `${Prefix}_${string}`
}

export const systemIds: Ids = {
  next: prefix => `${prefix}_${Bun.randomUUIDv7()}`,
}
