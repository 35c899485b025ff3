import type { WhileOwned } from "../checkpoint/contract.ts"

/**
 * Transactions let a command write to a layer above the workspace, and merge what it changed afterwards. The holder of
 * the workspace begins, merges and undoes them one at a time. Nothing of a command is in the workspace before `commit`,
 * and nothing that another process wrote meanwhile is replaced or removed: it stays, and its path is a conflict.
 */
export interface Transactions {
  /** Makes empty layers for one command. Throws where the file system has no space for them. */
  begin(id: string): Transaction
  /**
   * Settles what dead processes left: drops layers that were never merged, finishes an interrupted merge and an
   * interrupted undo. Can be repeated after a crash.
   */
  recover(owned: WhileOwned): Promise<readonly RecoveredTransaction[]>
  /**
   * Takes a merged transaction back, newest first where several touched a path. A path that another process changed
   * since stays and is named. Can be repeated.
   */
  undo(id: string, owned: WhileOwned): Promise<UndoResult>
  /** Returns the ids of transactions whose layers still exist, in the order of their names. */
  ids(): readonly string[]
  /**
   * Removes layers of finished transactions in this order until at most `bytesMax` are left in all of them. Keeps one
   * in which a displaced file was written since.
   */
  collect(candidates: readonly string[], bytesMax: number): CollectedLayers
}

/** The directories that are mounted for a command. `upper` and `work` are empty and on one file system with `lower`. */
export interface LayerDirectories {
  readonly lower: string
  readonly upper: string
  readonly work: string
}

/** One command's layers. Disposing closes descriptors and leaves the layers to `recover`. */
export interface Transaction extends Disposable {
  readonly id: string
  readonly layers: LayerDirectories
  /** Returns what the command changed. Called when no process of the command is left. */
  changes(): Promise<ChangeSet>
  /**
   * Merges the changes that `decide` merges, each in one step of the file system that never replaces anything but what
   * the command replaced. With a conflict nothing is merged, or everything else where `rest` is set. Durable on return.
   */
  commit(decide: Decide, owned: WhileOwned, options?: CommitOptions): Promise<CommitResult>
  /** Removes the layers of a transaction that was not merged. */
  discard(): void
}

export interface CommitOptions {
  /** Set where a person chose to merge what is free of conflicts. */
  readonly rest?: boolean
}

/**
 * Decides about one path; called for each path inside a directory that is created, replaced or removed as well. A path
 * that is not merged stays in the layer, and no other path is held back for it; a directory of which an entry must not
 * be removed is not removed.
 */
export type Decide = (change: Change) => "merge" | "refuse" | "ask"

export interface Change {
  /** Relative to the workspace; an invalid byte of a name is a lone surrogate. */
  readonly path: string
  /** `mode` is a directory that exists on both sides and got another mode. */
  readonly kind: "create" | "replace" | "remove" | "mode"
  readonly before: EntryStamp | null
  readonly after: EntryStamp | null
  /** The number of entries inside a directory that is created, replaced or removed as a whole. */
  readonly inner: number
}

/** The identity of an entry, by which another process's change is noticed. Times are nanoseconds, as decimal text. */
export interface EntryStamp {
  readonly kind: "file" | "directory" | "symlink" | "other"
  readonly ino: string
  readonly mode: number
  readonly sizeBytes: number
  readonly mtimeNs: string
  /** A digest of the stamps of everything inside a directory that moves as a whole; else null. */
  readonly inner: string | null
}

export interface ChangeSet {
  readonly changes: readonly Change[]
  readonly conflicts: readonly Conflict[]
}

/** A path at which another process changed something while the command ran, so that it was left as it is. */
export interface Conflict {
  readonly path: string
  readonly why: ConflictReason
}

export type ConflictReason =
  | "changedByBoth"
  | "deletedByOthers"
  | "createdByBoth"
  /** Something inside a directory that the command replaced or removed was changed by another process. */
  | "othersInside"
  /** The clock was set back, so that times prove nothing. */
  | "clockMoved"

export interface CommitResult {
  readonly merged: readonly Change[]
  readonly conflicts: readonly Conflict[]
  /** Paths that policy refused; they are in the layer. */
  readonly refused: readonly string[]
  /** Paths that a person has to be asked about; they are in the layer. */
  readonly asked: readonly string[]
}

export interface RecoveredTransaction {
  readonly id: string
  /** `held` has a conflict and waits for a person. */
  readonly outcome: "dropped" | "merged" | "takenBack" | "undone" | "held"
  readonly conflicts: readonly Conflict[]
}

export interface UndoResult {
  /** Paths that are as they were before the transaction. */
  readonly restored: readonly string[]
  /** Paths that another process changed since; they stay. */
  readonly foreign: readonly string[]
}

export interface CollectedLayers {
  readonly removed: readonly string[]
  /** Transactions in which a displaced file was written after it was displaced, with these paths. */
  readonly kept: readonly { readonly id: string; readonly paths: readonly string[] }[]
  readonly freedBytes: number
}
