import type { IgnoredFiles, IgnoreTexts, Tree, TreeDirectory, TreeEntry } from "../contract.ts"

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
  /** The same of what git ignores, for a tree that was read with `watchesIgnored`. */
  ignoredSince(before: Checkpoint, tree: Tree): IgnoredChanges
  /** The directories that came, went or have another mode since, each with the mode it has now; null for none. */
  directoriesSince(before: Checkpoint, tree: Tree): ReadonlyMap<string, number | null>
  /** What could not be looked at before or cannot now, and was touched in between: what changed there is not known. */
  hiddenSince(before: Checkpoint, tree: Tree): readonly PathReason[]
  /** The mode of each directory now; null where there is none. */
  modesAt(directories: readonly string[]): ReadonlyMap<string, number | null>
  /** What is at some exact paths now, in the spelling of a recorded change; undefined for what has none. */
  contentsAt(paths: readonly string[]): Promise<ReadonlyMap<string, string | null | undefined>>
  /** What restoring would do. */
  plan(goals: readonly RestoreGoal[]): Promise<RestorePlan>
  /**
   * Restores. What is there is kept first, in a checkpoint of its own that is durable before the first change; a path
   * of which no copy can be kept is left alone, and so is one that somebody else changed. All of them are named. Can be
   * repeated after a crash. Each change is one piece of work for `owned`: what that throws ends it there, with the rest
   * as it is.
   */
  restore(goals: readonly RestoreGoal[], keeping: Keeping, owned: WhileOwned): Promise<Restored>
  /** Leaves a sign of life of a command that runs. */
  beat(): void
  /** When the last one was left, by the clock of the file system; null when there is none. */
  lastBeatMs(): number | null
  /** Ids of everything that is kept, damaged ones too. Opens nothing. */
  ids(): readonly string[]
  /**
   * Removes checkpoints in this order, and the contents that only they held: all of them, or until so many bytes are
   * free. One that another is based on stays as long as that one.
   */
  collect(candidates: readonly string[], bytesWanted?: number): CollectedCheckpoints
  /** What each group of them would free on the disk when they are removed one after the other. */
  freedBy(groups: readonly (readonly string[])[]): readonly number[]
  /** Removes what was being written when a process died. */
  sweep(): void
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
  /** Directories around its paths that were not there, for scope `files`; left out where nobody looked. */
  readonly missing?: readonly string[]
  /**
   * What is not held, and why: it cannot be put back. Of a file its state is known and its content is not; a path that
   * ends in a slash is a directory of which nothing is known.
   */
  readonly uncovered: ReadonlyMap<string, string>
  /** Each directory of which nothing is known with its identity, to tell whether somebody opened it; as in a tree. */
  readonly closed?: ReadonlyMap<string, string>
  /** Which rules said what belongs to the tree, and what else was there; left out where that is not known. */
  readonly ignoring?: Ignoring
  /** Not there for a pre-image. */
  readonly kept?: KeptState
}

/** What a checkpoint that was taken before a restore knows of the restore. */
export interface KeptState {
  readonly about: KeptFor
  /** The content that each path was to get. */
  readonly leaves: ExpectedContents
  /** The mode that each directory was to get; null for one that was to go. */
  readonly leavesDirectories: ReadonlyMap<string, number | null>
}

/** Why something was kept. */
export interface KeptFor {
  readonly kind: "undo" | "recovery" | "restore"
  /** The session that was undone or recovered. */
  readonly sessionId: string | null
  /** The call that was recovered, or the checkpoint that was restored. */
  readonly subjectId: string | null
}

/** Under which id, and why, what a restore replaces is kept. */
export interface Keeping {
  readonly id: string
  readonly about: KeptFor
}

export interface Ignoring {
  /** Null without git. */
  readonly rules: IgnoreTexts | null
  /** Null when nobody looked. */
  readonly files: IgnoredFiles | null
}

/** What git ignores and is not what it was. There is no copy of it. */
export interface IgnoredChanges {
  readonly paths: readonly string[]
  /** Places that hold too much to be watched: whether anything there changed is not known. */
  readonly unwatched: readonly string[]
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

/** Some paths of a checkpoint, each with the content that it may replace. */
export interface RestoreGoal {
  readonly checkpoint: Checkpoint
  readonly expected: ExpectedContents
  /** Directories that are to be as the checkpoint has them, each with the mode it was left with; null for none. */
  readonly directories?: ReadonlyMap<string, number | null>
}

export interface RestorePlan {
  /** Not in the checkpoint: these go. */
  readonly remove: readonly string[]
  /** These get their old content, target or mode. */
  readonly write: readonly string[]
  /** Somebody else changed them since: these stay as they are. */
  readonly foreign: readonly string[]
}

/** What was done of it, and no more. */
export interface Restored extends RestorePlan {
  /** What could not be restored, and why. */
  readonly blocked: readonly PathReason[]
  /** The checkpoint with what was replaced or removed; null when nothing had to be. */
  readonly keptId: string | null
  /** Whether a person stopped it in the middle; `blocked` names what was not reached. */
  readonly isInterrupted: boolean
}

export interface PathReason {
  readonly path: string
  readonly reason: string
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
  /** Asked before any is left out: removes so many bytes of older checkpoints, or as many as it can. */
  readonly makeRoom?: (bytes: number) => void
}
