/** Time is passed in, so that tests and recovery decide what time it is. */
export interface Clock {
  /** Wall time in milliseconds since 1970. Only for stamps people read; it may jump. */
  now(): number
  /** Milliseconds that never go backwards. For every duration and deadline. */
  monotonicMs(): number
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonicMs: () => performance.now(),
}

/** `2026-01-02T03:04:05.678Z` */
export function toIso(epochMs: number): string {
  return new Date(epochMs).toISOString()
}

/** Makes ids that sort by time of creation and never repeat: a prefix and a UUIDv7. */
export interface Ids {
  next<Prefix extends string>(prefix: Prefix): `${Prefix}_${string}`
}

export const systemIds: Ids = {
  next: prefix => `${prefix}_${Bun.randomUUIDv7()}`,
}
