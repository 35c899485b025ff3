import { type BigIntStats, chmodSync, closeSync, constants } from "node:fs"
import { errnoOf } from "../../base/assert.ts"
import type { Faults } from "../../base/faults.ts"
import { systemPath } from "../../base/path-bytes.ts"
import { nameOf, parentOf } from "../../base/path-names.ts"
import { openReadable } from "../checkpoint/present-entry.ts"
import { exchangeNames, keepWritersOut, moveToFreeName, type NameIn, pathOfName } from "../files/rename.ts"
import type { ConflictReason, EntryStamp } from "./contract.ts"
import type { Operation } from "./plan.ts"
import {
  entryAt,
  isStamped,
  type OpenDirectory,
  openBelow,
  statAt,
  surveyOf,
  unpaced,
  type Visit,
} from "./upper.ts"

/** The open directories between which a merge moves entries. */
export interface MergePlaces {
  readonly upper: OpenDirectory
  readonly lower: OpenDirectory
  readonly removed: OpenDirectory
  readonly sinceNs: bigint
  /** The inodes of the files that the merge replaces and removes. */
  readonly displaced: ReadonlySet<string>
  /** False where the file system does not say whether a file is open for writing. */
  readonly hasLeases: boolean
  readonly faults: Faults
}

/** `done`, also where it was done before, or the reason why the path was left to another process. */
export type MoveResult = "done" | ConflictReason

/**
 * Performs and takes back the steps of a merge. Whether a step was done is read from the layer, which no other process
 * writes: the entry there is the command's, the displaced one, or one that another process saved at the last moment and
 * that is moved back to its path. So both directions can be repeated after a crash at any point.
 */
export class Merging implements Disposable {
  private parents: Parents | null = null

  constructor(private readonly places: MergePlaces) {}

  forward(step: Operation): MoveResult {
    if (step.kind === "mode") return this.setMode(step, step.from, step.to)
    const parents = this.parentsOf(step.path, step.kind !== "remove")
    if (parents === null) return "deletedByOthers"
    const at = nameOf(step.path)
    switch (step.kind) {
      case "create":
        return this.create(step, parents, at)
      case "replace":
        return this.replace(step, parents, at)
      case "remove":
        return this.remove(step, parents, at)
    }
  }

  backward(step: Operation): MoveResult {
    if (step.kind === "mode") return this.setMode(step, step.to, step.from)
    const parents = this.parentsOf(step.path, step.kind !== "remove")
    if (parents === null) return "deletedByOthers"
    const at = nameOf(step.path)
    switch (step.kind) {
      case "create":
        return this.takeCreated(step, parents, at)
      case "replace":
        return this.takeReplaced(step, parents, at)
      case "remove":
        return this.returnRemoved(step, parents, at)
    }
  }

  [Symbol.dispose](): void {
    this.parents?.[Symbol.dispose]()
    this.parents = null
  }

  private create(step: Created, { upper, lower }: Parents, name: string): MoveResult {
    const above = statAt(upper, name)
    if (above === null) return this.withMode(lower, name, step.after)
    if (statAt(lower, name) !== null) return "createdByBoth"
    if (!this.move({ directory: upper, name }, { directory: lower, name }, step.after)) return "createdByBoth"
    this.places.faults.reach("transaction.created")
    return "done"
  }

  private takeCreated(step: Created, { upper, lower }: Parents, name: string): MoveResult {
    if (statAt(upper, name) === null) {
      const below = statAt(lower, name)
      // Where the user has removed it, the goal is reached.
      if (below === null) return "done"
      if (!this.isExactly(lower, name, step.after)) return reasonFor(step.after)
      if (!this.move({ directory: lower, name }, { directory: upper, name }, step.after))
        return "changedByBoth"
      this.places.faults.reach("transaction.created-taken")
    }
    if (this.isFinal(upper, name, step.after, null)) return "done"
    // Another process changed it between the comparison and the move.
    this.giveBack({ directory: upper, name }, { directory: lower, name })
    return reasonFor(step.after)
  }

  private replace(step: Replaced, parents: Parents, name: string): MoveResult {
    const { upper, lower } = parents
    const above = statAt(upper, name)
    if (above !== null && isInode(above, step.after)) {
      const below = statAt(lower, name)
      if (below === null) return "deletedByOthers"
      if (!this.isPlanned(below, step.before)) return "changedByBoth"
      if (!this.exchange(parents, name, step)) return "deletedByOthers"
      this.places.faults.reach("transaction.exchanged")
    }
    if (this.isFinal(upper, name, step.before, this.places.sinceNs))
      return this.withMode(lower, name, step.after)
    return this.exchangeBack(parents, name, step.after, step.before)
  }

  private takeReplaced(step: Replaced, parents: Parents, name: string): MoveResult {
    const { upper, lower } = parents
    const above = statAt(upper, name)
    if (above !== null && isInode(above, step.before)) {
      const below = statAt(lower, name)
      if (below === null) return "deletedByOthers"
      if (!this.isExactly(lower, name, step.after)) return reasonFor(step.after)
      if (!this.exchange(parents, name, step)) return "deletedByOthers"
      this.places.faults.reach("transaction.exchanged-back")
    }
    if (this.isFinal(upper, name, step.after, null)) return this.withMode(lower, name, step.before)
    return this.exchangeBack(parents, name, step.before, step.after)
  }

  private remove(step: Removed, { lower }: Parents, name: string): MoveResult {
    const slot = this.slot(step)
    if (statAt(slot.directory, slot.name) === null) {
      const below = statAt(lower, name)
      if (below === null) return "done"
      if (!this.isPlanned(below, step.before)) return "changedByBoth"
      if (!this.move({ directory: lower, name }, slot, step.before)) return "changedByBoth"
      this.places.faults.reach("transaction.displaced")
    }
    if (this.isFinal(slot.directory, slot.name, step.before, this.places.sinceNs)) return "done"
    this.giveBack(slot, { directory: lower, name })
    return reasonFor(step.before)
  }

  private returnRemoved(step: Removed, { lower }: Parents, name: string): MoveResult {
    const slot = this.slot(step)
    const displaced = statAt(slot.directory, slot.name)
    if (displaced === null) {
      const below = statAt(lower, name)
      return below === null || isInode(below, step.before) ? "done" : "createdByBoth"
    }
    if (statAt(lower, name) !== null) return "createdByBoth"
    if (!this.move(slot, { directory: lower, name }, step.before)) return "createdByBoth"
    this.places.faults.reach("transaction.returned")
    return "done"
  }

  private slot({ slot }: Removed): NameIn & { readonly directory: OpenDirectory } {
    return { directory: this.places.removed, name: String(slot) }
  }

  private setMode(step: ModeStep, from: number, to: number): MoveResult {
    using directory = openBelow(this.places.lower, step.path)
    const stat = directory === null ? null : statAt(directory, ".")
    if (directory === null || stat === null) return "deletedByOthers"
    const mode = Number(stat.mode & 0o7777n)
    if (String(stat.ino) !== step.ino) return "changedByBoth"
    if (mode === to || (mode === step.last && step.last !== from)) return "done"
    if (mode !== from) return "changedByBoth"
    chmodSync(directory.at, to)
    this.places.faults.reach("transaction.mode-set")
    return "done"
  }

  /**
   * Exchanges back what another process saved between the last look and the exchange. When it saved once more
   * meanwhile, its newest entry stays at the path and the older one in the layer.
   */
  private exchangeBack(parents: Parents, name: string, ours: EntryStamp, other: EntryStamp): MoveResult {
    const [above, below] = [
      { directory: parents.upper, name },
      { directory: parents.lower, name },
    ]
    if (statAt(parents.lower, name) === null) this.giveBack(above, below)
    else if (exchangeNames(above, below)) {
      this.places.faults.reach("transaction.exchange-reversed")
      if (!this.isFinal(parents.upper, name, ours, null)) exchangeNames(above, below)
    }
    return reasonFor(other)
  }

  /** Moves a foreign entry back to its path; it stays in the layer where the path is taken by a newer one. */
  private giveBack(from: NameIn, to: NameIn): void {
    try {
      moveToFreeName(from, to)
    } catch (error) {
      if (errnoOf(error) !== "EEXIST" && errnoOf(error) !== "ENOENT") throw error
    }
    this.places.faults.reach("transaction.given-back")
  }

  /** Exchanges an entry of the layer with the one below. Returns false when one of them is gone. */
  private exchange({ upper, lower }: Parents, name: string, { before, after }: Replaced): boolean {
    const names = [
      { directory: upper, name },
      { directory: lower, name },
    ] as const
    const [above] = names
    const isAfterAbove = isInode(statAt(upper, name), after)
    const moved = isAfterAbove ? [after, before] : [before, after]
    const restore = names.map((at, index) => this.writable(at, moved[index]))
    try {
      if (!exchangeNames(above, names[1]))
        throw Object.assign(new Error("EOPNOTSUPP"), { code: "EOPNOTSUPP" })
      return true
    } catch (error) {
      if (errnoOf(error) === "ENOENT") return false
      throw error
    } finally {
      // Each is at the other's name now, or where it was when the exchange failed.
      for (const each of restore) each?.(names)
    }
  }

  /** Moves an entry to a name that must be free. Returns false when it is taken, or the entry gone. */
  private move(from: NameIn, to: NameIn, stamp: EntryStamp): boolean {
    const restore = this.writable(from, stamp)
    try {
      moveToFreeName(from, to)
      return true
    } catch (error) {
      if (errnoOf(error) === "EEXIST" || errnoOf(error) === "ENOENT") return false
      throw error
    } finally {
      restore?.([from, to])
    }
  }

  /** Lets a directory be moved that its owner may not write in. Returns a callback that restores its mode. */
  private writable(at: NameIn, stamp: EntryStamp | undefined): ((names: readonly NameIn[]) => void) | null {
    if (stamp?.kind !== "directory" || (stamp.mode & 0o200) !== 0) return null
    chmodSync(pathOfName(at), stamp.mode | 0o200)
    this.places.faults.reach("transaction.opened")
    return names => {
      for (const { directory, name } of names) restoreMode(directory, name, stamp)
      this.places.faults.reach("transaction.closed")
    }
  }

  /** Completes a step that a crash interrupted between a move and the directory's mode. */
  private withMode(directory: OpenDirectory, name: string, stamp: EntryStamp): MoveResult {
    restoreMode(directory, name, stamp)
    return "done"
  }

  /** Reports whether an entry below is the planned one, as far as its own facts show that. */
  private isPlanned(below: BigIntStats, before: EntryStamp): boolean {
    if (!isStamped(below, before)) return false
    // Opening it for the move, before a crash, set its time: what is inside is compared after the move.
    const isOpened = Number(below.mode & 0o7777n) !== before.mode
    return isOpened || !this.isNewer(below, this.places.sinceNs)
  }

  /** Reports whether another process changed an entry. A move of one of its hard links sets the time of all of them. */
  private isNewer(stat: BigIntStats, sinceNs: bigint): boolean {
    if (stat.ctimeNs < sinceNs) return false
    return stat.nlink === 1n || stat.isDirectory() || !this.places.displaced.has(String(stat.ino))
  }

  /** Reports whether an entry is exactly what its stamp describes, everything inside a directory included. */
  private isExactly(directory: OpenDirectory, name: string, stamp: EntryStamp): boolean {
    const inside = stamp.inner === null ? null : unpaced(surveyOf(directory, name, name))
    const stat = statAt(directory, name)
    return stat !== null && isStamped(stat, stamp) && (inside?.digest ?? null) === stamp.inner
  }

  /**
   * The same for an entry that was just displaced, and that no program can change any more: none has it open for
   * writing. Everything inside is older than `sinceNs`.
   */
  private isFinal(
    directory: OpenDirectory,
    name: string,
    stamp: EntryStamp,
    sinceNs: bigint | null,
  ): boolean {
    const found = statAt(directory, name)
    if (found === null) return false
    const { hasLeases } = this.places
    let isWritten = hasLeases && found.isFile() && hasWriters(directory, name)
    if (stamp.inner !== null) {
      const visit: Visit = (at, entry, _, stat) => {
        if (sinceNs !== null) isWritten ||= this.isNewer(stat, sinceNs)
        if (!hasLeases || isWritten || !stat.isFile()) return
        isWritten = hasWriters(at, entry) || statAt(at, entry)?.mtimeNs !== stat.mtimeNs
      }
      const inside = unpaced(surveyOf(directory, name, name, visit))
      if (inside?.digest !== stamp.inner) return false
    }
    // Only now, because a writer may have changed it and closed it before it was asked about.
    const stat = statAt(directory, name)
    return !isWritten && stat !== null && isStamped(stat, stamp)
  }

  /** Opens the directories of a path on both sides, and keeps them for the next step, which is mostly beside it. */
  private parentsOf(path: string, isInLayer: boolean): Parents | null {
    const parent = parentOf(path)
    if (this.parents?.path === parent && (this.parents.hasUpper || !isInLayer)) return this.parents
    this[Symbol.dispose]()
    const lower = openBelow(this.places.lower, parent)
    if (lower === null) return null
    const upper = isInLayer ? openBelow(this.places.upper, parent) : null
    this.parents = {
      path: parent,
      lower,
      upper: upper ?? lower,
      hasUpper: upper !== null,
      [Symbol.dispose]: () => {
        lower[Symbol.dispose]()
        upper?.[Symbol.dispose]()
      },
    }
    if (isInLayer && upper === null) throw new Error("the layer has lost a directory of its journal")
    return this.parents
  }
}

type Created = Extract<Operation, { kind: "create" }>
type Replaced = Extract<Operation, { kind: "replace" }>
type Removed = Extract<Operation, { kind: "remove" }>
type ModeStep = Extract<Operation, { kind: "mode" }>

interface Parents extends Disposable {
  readonly path: string
  readonly lower: OpenDirectory
  readonly upper: OpenDirectory
  readonly hasUpper: boolean
}

/** Reports whether a program has a file open for writing. A file that may not be read cannot be asked about. */
function hasWriters(directory: OpenDirectory, name: string): boolean {
  const fd = openReadable(systemPath(entryAt(directory, name)), constants.O_NOFOLLOW)
  if (fd === null) return false
  try {
    return !keepWritersOut(fd)
  } finally {
    closeSync(fd)
  }
}

function isInode(stat: BigIntStats | null, stamp: EntryStamp): boolean {
  return stat !== null && String(stat.ino) === stamp.ino
}

function restoreMode(directory: NameIn["directory"], name: string, stamp: EntryStamp): void {
  if (stamp.kind !== "directory" || (stamp.mode & 0o200) !== 0) return
  const stat = statAt(directory, name)
  if (stat === null || !isInode(stat, stamp) || Number(stat.mode & 0o7777n) !== (stamp.mode | 0o200)) return
  chmodSync(pathOfName({ directory, name }), stamp.mode)
}

function reasonFor({ kind }: EntryStamp): ConflictReason {
  return kind === "directory" ? "othersInside" : "changedByBoth"
}
