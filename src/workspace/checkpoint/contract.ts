import type { Tree, TreeDirectory, TreeEntry } from "../contract.ts"

/**
 * Pre-images. Whoever takes, restores or collects holds the workspace: two at a time would remove each other's
 * contents. A checkpoint that has a name is whole and durable. What takes long lets signals through, and throws a
 * Failure of the kind `interrupted` when a person stops it.
 */
export interface Checkpoints {
  takeTree(id: string, tree: Tree): Promise<TakeResult>
  /** Of real paths, present or not: what a tool is about to change. */
  takeFiles(id: string, paths: readonly string[]): Promise<TakeResult>
  /** Null when there is none; a damaged one is as good as gone, and costs its own paths and nothing else. */
  load(id: string): Checkpoint | null
  /** The bytes of a file that a checkpoint names; ACODE-SEC-004 when they are gone or damaged. */
  contentOf(sha256: string): Uint8Array
  /** Oldest first. */
  list(): readonly { readonly id: string; readonly at: string }[]
  /** What happened since, for a preview or a record. */
  changesSince(checkpoint: Checkpoint, tree: Tree): TreeChanges
  /** The same as what is there now, to be written down: restoring later insists on it. */
  contentsSince(before: Checkpoint, tree: Tree): ExpectedContents
  /** What restoring would do. */
  plan(checkpoint: Checkpoint, expected: ExpectedContents | null): Promise<RestorePlan>
  /**
   * Puts it back; files that somebody else changed stay as they are and are named. Can be repeated after a crash. Each
   * change is one piece of work for `owned`: what that throws ends it there, with the rest as it is.
   */
  restore(checkpoint: Checkpoint, expected: ExpectedContents | null, owned: WhileOwned): Promise<Restored>
  /** Removes checkpoints older than a time, but for some, and the contents that only they held. */
  collect(olderThanMs: number, keep: ReadonlySet<string>): CollectedCheckpoints
}

/** Does short work while nobody else can take the workspace, and refuses where somebody has. */
export type WhileOwned = <Result>(work: () => Result) => Result

/** A state of the workspace that can be put back: all of its tree, or some files of it. */
export interface Checkpoint {
  readonly id: string
  readonly at: string
  readonly scope: "tree" | "files"
  /** Of the tree; of the files for scope `files`. */
  readonly digest: string
  readonly entries: ReadonlyMap<string, TreeEntry>
  /** Paths that were free, for scope `files`. */
  readonly absent: readonly string[]
  readonly directories: readonly TreeDirectory[]
  /**
   * What is not held, and why: it cannot be put back. Of a file its state is known and its content is not; a path that
   * ends in a slash is a directory of which nothing is known.
   */
  readonly uncovered: ReadonlyMap<string, string>
}

/** Files beyond the limits are left out one by one, and named in `uncovered` of the checkpoint. */
export interface TakeResult {
  readonly checkpoint: Checkpoint
  readonly copiedFiles: number
  readonly copiedBytes: number
}

export interface TreeChanges {
  readonly added: readonly string[]
  readonly changed: readonly string[]
  readonly removed: readonly string[]
}

/**
 * Content that a path is expected to have now: the hash of a file, `link:` and the target of a symlink, null for
 * nothing. Only these paths are considered, and a path that has another content is foreign.
 */
export type ExpectedContents = ReadonlyMap<string, string | null>

export interface RestorePlan {
  /** Not in the checkpoint: these go. */
  readonly remove: readonly string[]
  /** These get their old content, target or mode. */
  readonly write: readonly TreeEntry[]
  /** Somebody else changed them since: these stay as they are. */
  readonly foreign: readonly string[]
}

/** What was done of it, and no more. */
export interface Restored extends RestorePlan {
  /** What could not be put back, and why. */
  readonly blocked: readonly { readonly path: string; readonly reason: string }[]
}

export interface CollectedCheckpoints {
  readonly removed: readonly string[]
  readonly freedBytes: number
}

export interface CheckpointLimits {
  /** Larger files are neither read nor copied. */
  readonly fileBytesMax: number
  /** Of all that is kept, for all checkpoints together. The largest files are left out first. */
  readonly totalBytesMax: number
}
