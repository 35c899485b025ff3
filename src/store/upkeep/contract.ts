/** Keeps the history of a workspace small, and measures how much time has passed. */
export interface Upkeep {
  /** Reads the clocks of this machine and records the reading, unless the history is read-only. */
  time(): ObservedTime
  /** Records a reading if the last one is an hour old, or from before the machine was started. */
  note(): void
  /** Accepts the present wall clock as correct. */
  trustClock(): void
  /**
   * Returns the first position of the log that is younger than an age; everything before it is older. Counts from
   * `ObservedTime.nowMs`. An event with the time of a wrong clock is as old as its neighbours in the log.
   */
  firstPositionWithin(ageMs: number): number
  /** Returns the position of the last event with this time or an earlier one. */
  positionAt(timeMs: number): number
  /** Returns how much space each session and each finished execution outside of a session uses. */
  records(): readonly RecordUse[]
  /**
   * Returns how long each of these has been kept here, in observed time. New names start now, and names that are not in
   * the list are forgotten.
   */
  ages(kind: KeptKind, names: readonly string[]): ReadonlyMap<string, number>
  /**
   * Removes whole sessions, with the answers to their questions, and leaves a signed tombstone. Keeps a session that a
   * process drives. Returns the removed ones.
   */
  pruneSessions(ids: readonly string[], reason: string): readonly string[]
  /** Removes artifacts that a dead process did not finish. */
  sweep(): void
  /**
   * Returns a lower bound of the bytes that removing these sessions and executions would free, including artifacts that
   * only they refer to. Changes nothing.
   */
  forecast(sessions: readonly string[], executions: readonly string[]): number
  /**
   * Returns the space of removed rows to the file system, if that saves enough or the file would stay larger than
   * `atMostBytes`. Returns the bytes.
   */
  shrink(atMostBytes?: number): number
}

/** The space that one session or execution uses. */
export interface RecordUse {
  readonly kind: "session" | "execution"
  readonly id: string
  /** The position of its last event. */
  readonly position: number
  /** Approximate; includes its artifacts. */
  readonly bytes: number
}

export type KeptKind = "checkpoint" | "quarantine"

/** The time that is known to have passed, whatever the wall clock shows. */
export interface ObservedTime {
  /** The time since the first reading; never decreases. */
  readonly agedMs: number
  /** The wall clock, unless it is ahead of the time that is known to have passed. */
  readonly nowMs: number
  /** The difference by which the wall clock is ahead. */
  readonly aheadMs: number
}
