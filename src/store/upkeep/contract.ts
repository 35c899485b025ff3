/** What keeps the history of a workspace small without losing what somebody still needs. */
export interface Upkeep {
  /** Reads the clocks of this machine and records the reading, unless the history is only read. */
  time(): ObservedTime
  /** The same when the last reading is an hour ago, or of before the machine was started. */
  note(): void
  /** Takes the wall clock as it is now for right. */
  trustClock(): void
  /**
   * The first position of the log that is younger than an age; everything before it is older. Counted from
   * `ObservedTime.nowMs`. An event stamped by a clock that was wrong is as old as what stands around it.
   */
  firstPositionWithin(ageMs: number): number
  /** The position of the last event that has this time or an earlier one. */
  positionAt(timeMs: number): number
  /** What the history of each session and of each execution outside of one takes, those that run left out. */
  records(): readonly RecordUse[]
  /**
   * How long each of these has been kept here, in observed time. Those that are new begin now, and those that are no
   * longer named are forgotten.
   */
  ages(kind: KeptKind, names: readonly string[]): ReadonlyMap<string, number>
  /**
   * Removes whole sessions, with what people answered them, and leaves a signed tombstone. One that a process drives
   * stays. Returns those that went.
   */
  pruneSessions(ids: readonly string[], reason: string): readonly string[]
  /** Removes artifacts that a dead process did not finish. */
  sweep(): void
  /** At least how much removing these sessions and executions would free, with what only they name. Changes nothing. */
  forecast(sessions: readonly string[], executions: readonly string[]): number
  /**
   * Gives the file system back what removed rows have left in the database file, where that is worth it or the file
   * would stay larger than this. Returns the bytes.
   */
  shrink(atMostBytes?: number): number
}

export interface RecordUse {
  readonly kind: "session" | "execution"
  readonly id: string
  /** Of its last event. */
  readonly position: number
  /** About, with the artifacts that it names. */
  readonly bytes: number
}

export type KeptKind = "checkpoint" | "quarantine"

/** Time as far as it is known to have passed, whatever the wall clock is set to. */
export interface ObservedTime {
  /** Since the first reading. Never goes back. */
  readonly agedMs: number
  /** The wall clock, unless it has run ahead of what is known to have passed. */
  readonly nowMs: number
  /** By how much it has. */
  readonly aheadMs: number
}
