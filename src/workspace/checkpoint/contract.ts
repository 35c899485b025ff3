import type { IgnoredFiles, IgnoreTexts, Tree, TreeDirectory, TreeEntry } from "../contract.ts"

/**
 * Checkpoints take and restore pre-images. The caller of take, restore or collect holds the workspace: two at a time
 * would remove each other's contents. A checkpoint that has a name is complete and durable. Long operations let signals
 * run, and throw a Failure of the kind `interrupted` when the user stops them.
 */
export interface Checkpoints {
  takeTree(id: string, tree: Tree): Promise<TakeResult>
  /** Takes real paths, existing or not: the files that a tool is about to change. */
  takeFiles(id: string, paths: readonly string[]): Promise<TakeResult>
  /** Returns null when there is none; a damaged one counts as missing, and costs only its own paths. */
  load(id: string): Checkpoint | null
  /** Returns the bytes of a file that a checkpoint names. Throws ACODE-SEC-004 when they are missing or damaged. */
  contentOf(sha256: string): Uint8Array
  /** Oldest first. */
  list(): readonly { readonly id: string; readonly at: string }[]
  /** Returns the changes since a checkpoint, for a preview or a record. */
  changesSince(checkpoint: Checkpoint, tree: Tree): TreeChanges
  /** Returns the changes as the content that each path has now, to be recorded: a later restore requires it. */
  contentsSince(before: Checkpoint, tree: Tree): ExpectedContents
  /** Returns the changes of ignored files, for a tree that was read with `watchesIgnored`. */
  ignoredSince(before: Checkpoint, tree: Tree): IgnoredChanges
  /**
   * Returns the directories that were added, removed or have another mode since, each with the mode it has now; null
   * when it does not exist.
   */
  directoriesSince(before: Checkpoint, tree: Tree): ReadonlyMap<string, number | null>
  /**
   * Returns paths that could not be inspected before or cannot now, and were touched meanwhile: what changed there is
   * not known.
   */
  hiddenSince(before: Checkpoint, tree: Tree): readonly PathReason[]
  /** Returns the mode of each directory now; null where there is none. */
  modesAt(directories: readonly string[]): ReadonlyMap<string, number | null>
  /**
   * Returns the present content at some exact paths, as a recorded change spells it; undefined for an entry without
   * content.
   */
  contentsAt(paths: readonly string[]): Promise<ReadonlyMap<string, string | null | undefined>>
  /** Returns what a restore would do. */
  plan(goals: readonly RestoreGoal[]): Promise<RestorePlan>
  /**
   * Restores paths. The present content is kept first, in a checkpoint of its own that is durable before the first
   * change; a path of which no copy can be kept is left unchanged, and so is one that another process changed. All of
   * them are named. Can be repeated after a crash. Each change runs inside `owned`: an error that it throws ends the
   * restore there, with the rest unchanged.
   */
  restore(goals: readonly RestoreGoal[], keeping: Keeping, owned: WhileOwned): Promise<Restored>
  /** Records that a running command is alive. */
  beat(): void
  /** Returns when the last one was recorded, by the clock of the file system; null when there is none. */
  lastBeatMs(): number | null
  /** Returns the ids of all checkpoints, also damaged ones. Opens no file. */
  ids(): readonly string[]
  /**
   * Removes checkpoints in this order, and the contents that only they held: all of them, or until so many bytes are
   * free. One that another is based on stays as long as that one.
   */
  collect(candidates: readonly string[], bytesWanted?: number): CollectedCheckpoints
  /** Returns what each group would free on the disk if they were removed one after the other. */
  freedBy(groups: readonly (readonly string[])[]): readonly number[]
  /** Removes files that a process was writing when it died. */
  sweep(): void
}

/** Runs short work while no other process can take the workspace, and refuses where one has it. */
export type WhileOwned = <Result>(work: () => Result) => Result

/** A state of the workspace that can be restored: all of its tree, or some files of it. */
export interface Checkpoint {
  readonly id: string
  readonly at: string
  readonly scope: "tree" | "files"
  /** Digest of the tree; of the files for scope `files`. */
  readonly digest: string
  readonly entries: ReadonlyMap<string, TreeEntry>
  /** Paths that were free, for scope `files`. */
  readonly absent: readonly string[]
  readonly directories: readonly TreeDirectory[]
  /** Parent directories of its paths that did not exist, for scope `files`; absent where they were not checked. */
  readonly missing?: readonly string[]
  /**
   * Paths that have no copy and cannot be restored, with the reason. The state of such a file is known and its content
   * is not; a path that ends in a slash is a directory whose content is not known.
   */
  readonly uncovered: ReadonlyMap<string, string>
  /** Each directory whose content is not known with its identity, to detect whether it was opened; as in a tree. */
  readonly closed?: ReadonlyMap<string, string>
  /** The rules that decided which files belong to the tree, and the ignored files; absent where that is not known. */
  readonly ignoring?: Ignoring
  /** Absent for a pre-image. */
  readonly kept?: KeptState
}

/** Facts about a restore in the checkpoint that was taken before it. */
export interface KeptState {
  readonly about: KeepReason
  /** The content that each path was to get. */
  readonly leaves: ExpectedContents
  /** The mode that each directory was to get; null for one that was to be removed. */
  readonly leavesDirectories: ReadonlyMap<string, number | null>
}

/** The reason why something was kept. */
export interface KeepReason {
  readonly kind: "undo" | "recovery" | "restore"
  /** The session that was undone or recovered. */
  readonly sessionId: string | null
  /** The call that was recovered, or the checkpoint that was restored. */
  readonly subjectId: string | null
}

/** The id under which a restore keeps what it replaces, and the reason. */
export interface Keeping {
  readonly id: string
  readonly about: KeepReason
}

export interface Ignoring {
  /** Null without git. */
  readonly rules: IgnoreTexts | null
  /** Null when they were not inspected. */
  readonly files: IgnoredFiles | null
}

/** Ignored files that changed. They have no copy. */
export interface IgnoredChanges {
  readonly paths: readonly string[]
  /** Directories that hold too much to be watched: whether anything there changed is not known. */
  readonly unwatched: readonly string[]
}

/**
 * The result of taking a checkpoint. Files beyond the limits are left out one by one, and named in `uncovered` of the
 * checkpoint.
 */
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
 * The content that each path is expected to have now: the hash of a file, `link:` and the target of a symlink, null for
 * nothing. Only these paths are considered; a path with another content is foreign.
 */
export type ExpectedContents = ReadonlyMap<string, string | null>

/** Paths of a checkpoint, each with the content that a restore may replace. */
export interface RestoreGoal {
  readonly checkpoint: Checkpoint
  readonly expected: ExpectedContents
  /** Directories to be restored, each with the mode it was left with; null for one that was removed. */
  readonly directories?: ReadonlyMap<string, number | null>
}

export interface RestorePlan {
  /** Paths that are not in the checkpoint, so that they are removed. */
  readonly remove: readonly string[]
  /** Paths that get their old content, target or mode. */
  readonly write: readonly string[]
  /** Paths that another process changed since, so that they stay unchanged. */
  readonly foreign: readonly string[]
}

/** The result of a restore. */
export interface Restored extends RestorePlan {
  /** Paths that could not be restored, with the reason. */
  readonly blocked: readonly PathReason[]
  /** The checkpoint with what was replaced or removed; null when nothing had to be. */
  readonly keptId: string | null
  /** True when the user stopped it before the end; `blocked` names the paths that were not reached. */
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
  /** The limit for all checkpoints together. The largest files are left out first. */
  readonly totalBytesMax: number
  /** Called before a file is left out: removes so many bytes of older checkpoints, or as many as it can. */
  readonly makeRoom?: (bytes: number) => void
}
