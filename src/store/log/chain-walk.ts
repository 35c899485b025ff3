import { CommandFinished } from "../../domain/events/command-events.ts"
import type { AuditProblem } from "../contract.ts"
import type { Anchor } from "./anchors.ts"
import { eventProblem, firstHead, hasDeclaredTypes, type Link, nextHead, wrongType } from "./chain.ts"
import type { LogTail } from "./event-log.ts"
import type { EventRow } from "./event-rows.ts"
import type { LogIdentity } from "./log-identity.ts"
import type { Tombstone } from "./tombstones.ts"

/**
 * Walks over the log once, in the order of positions, and recomputes every hash and the head. Holds only the tails of
 * open streams, so that its memory does not grow with the log.
 */
export class ChainWalk {
  readonly problems: AuditProblem[] = []
  /** The problems that an anchor shows and the events do not. */
  readonly anchorProblems: AuditProblem[] = []
  eventCount = 0
  streamCount = 0
  private nextPosition = 1
  private head: string
  /** False after the first problem: every later head differs, so only the first position is worth reporting. */
  private isIntact = true
  private tombstoneIndex = 0
  private readonly tails = new Map<string, Link>()

  constructor(
    private readonly identity: LogIdentity,
    private readonly tombstones: readonly Tombstone[],
    private readonly anchors: ReadonlyMap<number, readonly Anchor[]>,
  ) {
    this.head = firstHead(identity.key, identity.workspaceId)
    this.compareAnchors(0)
  }

  /** Checks the next event. */
  check(row: EventRow): void {
    this.eventCount += 1
    if (!hasDeclaredTypes(row)) {
      this.reportLog(Number(row.position), wrongType)
      return
    }
    this.bridgeTo(row.position)
    const wrong = this.problemOf(row)
    if (wrong !== null) this.report(row, wrong)
    this.nextPosition = Math.max(this.nextPosition, row.position + 1)
    this.advance(row.position, row.hash)
  }

  /** Checks, after the last event, that the log ends where its head and its anchors say. */
  end(tail: LogTail | null): void {
    if (tail === null) {
      this.reportLog(null, "the head of the log is missing")
      return
    }
    this.bridgeTo(tail.position + 1)
    const last = this.nextPosition - 1
    if (last > tail.position)
      this.reportLog(tail.position + 1, "the head of the log does not cover this event")
    else if (this.isIntact && this.head !== tail.head)
      this.reportLog(tail.position, "the head of the log does not match its events")
    const beyond = [...this.anchors.keys()].filter(position => position > last)
    const furthest = this.anchors.get(Math.max(...beyond))?.at(-1)
    if (furthest === undefined) return
    const ends = `the log ends at position ${last}, but position ${furthest.position} was anchored at ${furthest.at}`
    this.reportAnchor(last + 1, `${ends}: it was truncated, or an older copy was restored`)
  }

  private problemOf(row: EventRow): string | null {
    const tail = this.tails.get(row.stream)
    if (tail === undefined) this.streamCount += 1
    this.rememberTail(row)
    if (row.position < this.nextPosition) return "another event has the same position"
    if (this.tombstones[this.tombstoneIndex]?.position === row.position) {
      this.tombstoneIndex += 1
      return "it was pruned, and is present again"
    }
    return eventProblem(this.identity.key, row, tail ?? null)
  }

  private rememberTail(row: EventRow): void {
    const isClosed = row.type === CommandFinished.type && row.stream.startsWith("exe_")
    if (isClosed) this.tails.delete(row.stream)
    else this.tails.set(row.stream, { seq: row.seq, hash: row.hash, epoch: row.epoch })
  }

  /**
   * Advances to a position over tombstones, which must fill the gap between two events. Iterates over tombstones, not
   * over positions: a forged position may be huge.
   */
  private bridgeTo(position: number): void {
    while (this.nextPosition < position) {
      const tombstone = this.tombstones[this.tombstoneIndex]
      if (tombstone !== undefined && tombstone.position < this.nextPosition) {
        this.tombstoneIndex += 1
      } else if (tombstone?.position === this.nextPosition) {
        this.tombstoneIndex += 1
        this.nextPosition += 1
        this.advance(tombstone.position, tombstone.hash)
      } else {
        const until = Math.min(position, tombstone?.position ?? position)
        const count = until - this.nextPosition
        this.reportLog(
          this.nextPosition,
          count === 1 ? "this event is missing" : `${count} events are missing from here`,
        )
        this.nextPosition = until
      }
    }
  }

  private advance(position: number, hash: string): void {
    this.head = nextHead(this.identity.key, this.head, position, hash)
    this.compareAnchors(position)
  }

  private compareAnchors(position: number): void {
    if (!this.isIntact) return
    const other = this.anchors.get(position)?.find(anchor => anchor.head !== this.head)
    if (other !== undefined)
      this.reportAnchor(position, `up to here the log differs from the one that was anchored at ${other.at}`)
  }

  private report(row: EventRow, what: string): void {
    this.isIntact = false
    this.problems.push({ stream: row.stream, seq: row.seq, position: row.position, what })
  }

  private reportAnchor(position: number, what: string): void {
    this.reportLog(position, what)
    this.anchorProblems.push(...this.problems.slice(-1))
  }

  private reportLog(position: number | null, what: string): void {
    this.isIntact = false
    this.problems.push({ stream: null, seq: null, position, what })
  }
}
