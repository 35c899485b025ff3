import type { BigIntStats } from "node:fs"
import { readNames } from "../../base/path-bytes.ts"
import { joinRelative } from "../files/pin.ts"
import type { Change, Conflict, ConflictReason, Decide, EntryStamp } from "./contract.ts"
import {
  entryStamp,
  isUnchanged,
  isWhiteout,
  madeReadable,
  marksAt,
  type OpenDirectory,
  openBelow,
  statAt,
  surveyOf,
  type Visit,
} from "./upper.ts"

/** One step of a merge. Each is one call of the file system, and each can be taken back. */
export type Operation =
  | { readonly kind: "create"; readonly path: string; readonly after: EntryStamp }
  | {
      readonly kind: "replace"
      readonly path: string
      readonly before: EntryStamp
      readonly after: EntryStamp
    }
  /** Moves the entry below to a slot among the removed ones. */
  | { readonly kind: "remove"; readonly path: string; readonly before: EntryStamp; readonly slot: number }
  /**
   * Sets the mode of a directory. A directory that must be opened for its entries has two of these; `last` is the mode
   * that it has after both, or before both, and counts as done.
   */
  | {
      readonly kind: "mode"
      readonly path: string
      readonly ino: string
      readonly from: number
      readonly to: number
      readonly last: number
    }

export interface MergePlan {
  readonly operations: readonly Operation[]
  readonly changes: readonly Change[]
  readonly conflicts: readonly Conflict[]
  readonly refused: readonly string[]
  readonly asked: readonly string[]
  /** Paths inside directories that move as a whole and must not come along. */
  readonly heldBack: readonly string[]
  /** Directories of the layer that are not merged themselves and that their owner may not write in, parents first. */
  readonly closed: readonly string[]
}

export interface PlanRequest {
  readonly upper: OpenDirectory
  readonly lower: OpenDirectory
  /** Nothing that is older was changed since the command began. */
  readonly sinceNs: bigint
  readonly decide: Decide
}

/** Computes a merge from a layer and the workspace below, and changes neither. */
export function* planOf(request: PlanRequest): Generator<void, MergePlan> {
  const planner = new Planner(request)
  yield* planner.run()
  return planner.result()
}

/** A pair of directories of the same path, the one in the layer and the one below. */
interface Pair {
  readonly upper: OpenDirectory
  readonly lower: OpenDirectory
  readonly path: string
  /** The time of the last change of the names in the lower one. */
  readonly ctimeNs: bigint
  /** Another process may have moved the lower one here, with entries whose times are older. */
  readonly mayBeMoved: boolean
}

interface Entry {
  readonly pair: Pair
  readonly name: string
  readonly path: string
  readonly above: BigIntStats
  readonly below: BigIntStats | null
}

class Planner {
  private readonly operations: Operation[] = []
  private readonly changes: Change[] = []
  private readonly conflicts: Conflict[] = []
  private readonly refused: string[] = []
  private readonly asked: string[] = []
  private readonly heldBack: string[] = []
  private readonly closed: string[] = []
  /** Copies without an entry below: renamed by the command, or deleted below by another process. */
  private readonly orphans: Orphan[] = []
  private readonly removedStamps = new Set<string>()
  private slots = 0

  constructor(private readonly request: PlanRequest) {}

  *run(): Generator<void, void> {
    const { upper, lower, sinceNs } = this.request
    const [above, below] = [statAt(upper, "."), statAt(lower, ".")]
    if (above === null || below === null) throw new Error("the workspace does not exist any more")
    const pair: Pair = { upper, lower, path: ".", ctimeNs: below.ctimeNs, mayBeMoved: false }
    yield* this.merged(pair, above, below, below.ctimeNs >= sinceNs)
    for (const orphan of this.orphans) this.settleOrphan(orphan)
  }

  result(): MergePlan {
    const { operations, changes, conflicts, refused, asked, heldBack, closed } = this
    return { operations, changes, conflicts, refused, asked, heldBack, closed }
  }

  /** Descends into a directory that is on both sides. */
  private *merged(
    pair: Pair,
    above: BigIntStats,
    below: BigIntStats,
    isTouched: boolean,
  ): Generator<void, void> {
    const [from, to] = [entryStamp(below, null).mode, entryStamp(above, null).mode]
    using opened = madeReadable(pair.upper)
    if (opened !== null) this.closed.push(pair.path)
    const isChanged = from !== to && this.mergesMode(pair, above, below, isTouched)
    const mark = this.operations.length
    for (const name of readNames(pair.upper.at)) {
      yield* this.entry(pair, name)
      yield
    }
    if (isChanged) this.placeModes(pair.path, String(below.ino), from, to, mark)
    else if ((from & 0o300) !== 0o300 && this.operations.length > mark)
      this.placeModes(pair.path, String(below.ino), from, from, mark)
  }

  private mergesMode(pair: Pair, above: BigIntStats, below: BigIntStats, isTouched: boolean): boolean {
    const [before, after] = [entryStamp(below, null), entryStamp(above, null)]
    if (isTouched || pair.mayBeMoved) {
      this.conflict(pair.path, "changedByBoth")
      return false
    }
    const change: Change = { path: pair.path, kind: "mode", before, after, inner: 0 }
    if (!this.permits(change)) return false
    this.changes.push(change)
    return true
  }

  /** Entries of a directory are changed while its owner may write in it: before or after its mode changes. */
  private placeModes(path: string, ino: string, from: number, to: number, mark: number): void {
    const step = (of: number, into: number, last: number): Operation => ({
      kind: "mode",
      path,
      ino,
      from: of,
      to: into,
      last,
    })
    const hasSteps = this.operations.length > mark
    const isOpen = (mode: number) => (mode & 0o300) === 0o300
    if (!hasSteps || isOpen(from)) {
      if (from !== to) this.operations.push(step(from, to, to))
      return
    }
    if (isOpen(to)) return void this.operations.splice(mark, 0, step(from, to, to))
    const opened = from | 0o300
    this.operations.splice(mark, 0, step(from, opened, to))
    this.operations.push(step(opened, to, from))
  }

  private *entry(pair: Pair, name: string): Generator<void, void> {
    const above = statAt(pair.upper, name)
    if (above === null) return
    const below = statAt(pair.lower, name)
    const entry: Entry = { pair, name, path: joinRelative(pair.path, name), above, below }
    if (isWhiteout(above)) yield* this.removed(entry)
    else if (above.isDirectory() && below?.isDirectory() && !marksAt(pair.upper, name).isOpaque)
      yield* this.descend(entry, below)
    else if (below === null) yield* this.created(entry)
    else yield* this.replaced(entry, below)
  }

  private *descend({ pair, name, path, above }: Entry, below: BigIntStats): Generator<void, void> {
    using upper = openBelow(pair.upper, name)
    using lower = openBelow(pair.lower, name)
    if (upper === null || lower === null) return this.conflict(path, "othersInside")
    const isTouched = this.isNew(below)
    const mayBeMoved = pair.mayBeMoved || (isTouched && pair.ctimeNs >= this.request.sinceNs)
    const inside: Pair = { upper, lower, path, ctimeNs: below.ctimeNs, mayBeMoved }
    yield* this.merged(inside, above, below, isTouched)
  }

  private *removed(entry: Entry): Generator<void, void> {
    const { pair, name, path, below } = entry
    if (below === null) return
    const before = yield* this.lowerStamp(entry, below)
    if (before === null) return
    const change: Change = { path, kind: "remove", before: before.stamp, after: null, inner: before.count }
    this.removedStamps.add(likeness(before.stamp))
    if (!this.permits(change) || !(yield* this.permitsRemovals(pair.lower, name, path, below))) return
    this.operations.push({ kind: "remove", path, before: before.stamp, slot: this.slots++ })
    this.changes.push(change)
  }

  private *replaced(entry: Entry, below: BigIntStats): Generator<void, void> {
    const { pair, name, path, above } = entry
    if (isUnchanged(pair.upper, above, pair.lower, below, name)) return
    const before = yield* this.lowerStamp(entry, below)
    if (before === null) return
    const after = yield* this.upperStamp(entry)
    if (after === null) return
    const change: Change = {
      path,
      kind: "replace",
      before: before.stamp,
      after: after.stamp,
      inner: before.count + after.count,
    }
    if (!this.permits(change) || !(yield* this.permitsRemovals(pair.lower, name, path, below))) return
    this.operations.push({ kind: "replace", path, before: before.stamp, after: after.stamp })
    this.changes.push(change)
    this.holdBack(after)
  }

  private *created(entry: Entry): Generator<void, void> {
    const { pair, name, path, above } = entry
    const after = yield* this.upperStamp(entry)
    if (after === null) return
    const isCopied = marksAt(pair.upper, name).isCopied
    if (above.isDirectory() && isCopied) {
      // Directories that exist below cannot be renamed in a layer, so another process removed or moved this one.
      if (after.count > after.whiteouts) this.conflict(path, "deletedByOthers")
      return
    }
    // A directory that moves as a whole hides nothing below, so a whiteout in it is of a directory that is gone.
    if (after.whiteouts > 0) return this.conflict(path, "deletedByOthers")
    if (pair.mayBeMoved) return this.conflict(path, "othersInside")
    // Copies of hard links, of symlinks and of special files have no mark; an old time is what is left of one.
    const mayBeCopied = isCopied || above.mtimeNs < this.request.sinceNs
    if (mayBeCopied && pair.ctimeNs >= this.request.sinceNs) this.orphans.push({ path, after })
    else this.create(path, after)
  }

  private create(path: string, after: UpperStamp): void {
    const change: Change = { path, kind: "create", before: null, after: after.stamp, inner: after.count }
    if (!this.permits(change)) return
    this.operations.push({ kind: "create", path, after: after.stamp })
    this.changes.push(change)
    this.holdBack(after)
  }

  /** Decides whether a copy without an entry below was renamed by the command: then it removed one that is alike. */
  private settleOrphan({ path, after }: Orphan): void {
    if (this.removedStamps.has(likeness(after.stamp))) this.create(path, after)
    else this.conflict(path, "deletedByOthers")
  }

  /** Returns the stamp of an entry below; null after recording the conflict when another process changed it. */
  private *lowerStamp(
    { pair, name, path, above }: Entry,
    below: BigIntStats,
  ): Generator<void, { readonly stamp: EntryStamp; readonly count: number } | null> {
    if (this.isNew(below) || pair.mayBeMoved) {
      const isOnBoth = isWhiteout(above) || marksAt(pair.upper, name).isCopied || !this.isNew(below)
      const isNewName = !isOnBoth && pair.ctimeNs >= this.request.sinceNs
      this.conflict(path, isNewName ? "createdByBoth" : "changedByBoth")
      return null
    }
    if (!below.isDirectory()) return { stamp: entryStamp(below, null), count: 0 }
    const inside = yield* surveyOf(pair.lower, name, path)
    if (inside === null || inside.newestCtimeNs >= this.request.sinceNs) {
      this.conflict(path, "othersInside")
      return null
    }
    return { stamp: entryStamp(below, inside.digest), count: inside.count }
  }

  /** Returns the stamp of an entry of the layer; null where it cannot be read whole. */
  private *upperStamp({ pair, name, path, above }: Entry): Generator<void, UpperStamp | null> {
    const withheld: Withheld[] = []
    let whiteouts = 0
    if (!above.isDirectory()) return { stamp: entryStamp(above, null), count: 0, whiteouts, withheld }
    const visit: Visit = (_, __, at, stat) => {
      if (isWhiteout(stat)) whiteouts += 1
      if (withheld.some(held => at.startsWith(`${held.path}/`))) return
      const change: Change = {
        path: at,
        kind: "create",
        before: null,
        after: entryStamp(stat, null),
        inner: 0,
      }
      const decision = this.request.decide(change)
      if (decision !== "merge") withheld.push({ path: at, decision })
    }
    const inside = yield* surveyOf(pair.upper, name, path, visit, "opened")
    if (inside !== null)
      return { stamp: entryStamp(above, inside.digest), count: inside.count, whiteouts, withheld }
    this.refused.push(path)
    return null
  }

  private holdBack({ withheld }: UpperStamp): void {
    for (const { path, decision } of withheld) {
      this.heldBack.push(path)
      this.note(path, decision)
    }
  }

  private *permitsRemovals(
    lower: OpenDirectory,
    name: string,
    path: string,
    below: BigIntStats,
  ): Generator<void, boolean> {
    if (!below.isDirectory()) return true
    let isPermitted = true
    const visit: Visit = (_, __, at, stat) => {
      const change: Change = {
        path: at,
        kind: "remove",
        before: entryStamp(stat, null),
        after: null,
        inner: 0,
      }
      if (!this.permits(change)) isPermitted = false
    }
    yield* surveyOf(lower, name, path, visit)
    return isPermitted
  }

  private permits(change: Change): boolean {
    const decision = this.request.decide(change)
    if (decision !== "merge") this.note(change.path, decision)
    return decision === "merge"
  }

  private note(path: string, decision: Withheld["decision"]): void {
    if (decision === "refuse") this.refused.push(path)
    else this.asked.push(path)
  }

  private isNew(stat: BigIntStats): boolean {
    return stat.ctimeNs >= this.request.sinceNs
  }

  private conflict(path: string, why: ConflictReason): void {
    this.conflicts.push({ path, why })
  }
}

interface UpperStamp {
  readonly stamp: EntryStamp
  readonly count: number
  readonly whiteouts: number
  readonly withheld: readonly Withheld[]
}

/** A path inside a directory that is to move without it. */
interface Withheld {
  readonly path: string
  readonly decision: "refuse" | "ask"
}

interface Orphan {
  readonly path: string
  readonly after: UpperStamp
}

/** Describes an entry by the facts that a rename keeps, without its inode: a copy has another one than the original. */
function likeness({ kind, mode, sizeBytes, mtimeNs }: EntryStamp): string {
  return `${kind} ${mode} ${sizeBytes} ${mtimeNs}`
}
