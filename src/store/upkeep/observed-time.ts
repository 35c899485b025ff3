import type { ObservedTime } from "./contract.ts"

/**
 * How much time has passed, as far as this machine can prove it. Within one boot that is its uptime. Over a reboot it
 * is what the wall clock says, but one day at most: nobody knows how long the machine was off, and its clock may have
 * been set wrong since.
 */
export interface TimeRecord {
  readonly bootId: string
  readonly uptimeMs: number
  readonly wallMs: number
  readonly agedMs: number
  /** The wall clock minus `agedMs`, as it is believed. */
  readonly offsetMs: number
  /** When the span began in which the wall clock is being watched, in observed time. */
  readonly watchedSinceMs: number
  /** The smallest and the largest offset within it. */
  readonly lowMs: number
  readonly highMs: number
}

export type ClockReading = Pick<TimeRecord, "bootId" | "uptimeMs" | "wallMs">

const dayMs = 24 * 3_600_000

/** Before anything was read, the last event of the log says when it was written. */
export function firstRecord(wallMs: number): TimeRecord {
  const began = { agedMs: 0, offsetMs: wallMs, watchedSinceMs: 0, lowMs: wallMs, highMs: wallMs }
  return { bootId: noBoot, uptimeMs: 0, wallMs, ...began }
}

/**
 * After a further reading. Once a day the offset moves to the nearest one that the wall clock kept to for all of that
 * day; a clock that was wrong for less, ahead or behind, moves nothing.
 */
export function afterReading(before: TimeRecord, reading: ClockReading): TimeRecord {
  const agedMs = before.agedMs + passedMs(before, reading)
  const offset = reading.wallMs - agedMs
  const [lowMs, highMs] = [Math.min(before.lowMs, offset), Math.max(before.highMs, offset)]
  if (agedMs - before.watchedSinceMs < dayMs) return { ...before, ...reading, agedMs, lowMs, highMs }
  const offsetMs = Math.min(Math.max(before.offsetMs, lowMs), highMs)
  return { ...reading, agedMs, offsetMs, watchedSinceMs: agedMs, lowMs: offset, highMs: offset }
}

/** The same with the wall clock as it is now taken for right. */
export function trusting(record: TimeRecord): TimeRecord {
  const offsetMs = record.wallMs - record.agedMs
  return { ...record, offsetMs, watchedSinceMs: record.agedMs, lowMs: offsetMs, highMs: offsetMs }
}

export function observedTime({ agedMs, offsetMs, wallMs }: TimeRecord): ObservedTime {
  const nowMs = Math.min(wallMs, agedMs + offsetMs)
  return { agedMs, nowMs, aheadMs: wallMs - nowMs }
}

function passedMs(before: TimeRecord, { bootId, uptimeMs, wallMs }: ClockReading): number {
  if (bootId === before.bootId) return Math.max(0, uptimeMs - before.uptimeMs)
  const byWallMs = Math.min(Math.max(0, wallMs - before.wallMs), dayMs)
  // The machine was started after the last reading, so at least its uptime has passed.
  return before.bootId === noBoot ? byWallMs : Math.max(uptimeMs, byWallMs)
}

const noBoot = ""
