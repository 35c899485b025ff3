import type { PathOperation } from "../domain/effect.ts"
/**
 * Refuses a path by throwing. The guard is called with the path as typed and again with the real path, the second time
 * when a descriptor already holds the file: swapping in a symlink between the two calls changes nothing.
 */
export type PathGuard = (relative: string, operation: PathOperation) => void

/**
 * Workspace reads, searches and changes the user's files. Paths are typed by people and models: they are checked,
 * resolved below the root by the kernel, and returned as the real path relative to the root. Failures are ACODE-SEC-005
 * for what is outside and ACODE-FS-001…010 for everything else. Nothing here decides whether an operation is allowed.
 */
export interface Workspace extends Disposable {
  readonly path: string
  /**
   * Returns where a path leads, whether or not the file exists. Decisions are made on this path, not on the typed one.
   */
  locate(typed: string): Location
  /**
   * Reports whether the root has an entry of this name. A cheap check for names that are mostly missing; it is never
   * the basis of a decision.
   */
  hasEntry(name: string): boolean
  /** Reads lines of a text file in bounded memory, however large the file is. */
  readLines(typed: string, range: ReadRange): FileLines
  /** Reads lines as `readLines` does, and lets signals and timers run in between, for files that may be huge. */
  readLongLines(typed: string, range: ReadRange): Promise<FileLines>
  /** Reads a whole text file, to edit it. */
  readText(typed: string, bytesMax: number): WholeText
  readBytes(typed: string, bytesMax: number): WholeContent
  /**
   * Reads the file or the symlink at an exact path of the tree, however the path is spelled. Returns null when neither
   * exists; a directory counts as a missing file.
   */
  readExact(path: string, bytesMax: number): ExactContent | null
  /** Encodes text as the bytes of a file. Throws ACODE-FS-009 when the encoding cannot represent a character. */
  encode(text: string, format: TextFormat, path: string): Uint8Array
  /** Writes a file as a whole or not at all, durable on return. Creates missing parents and keeps the old mode. */
  write(request: WriteRequest): WrittenFile
  /** Returns the current identity and index state of some exact paths. */
  mark(paths: readonly string[]): readonly PathMark[]
  /** Returns the branch and the commit that git has checked out; null outside git. */
  gitHead(): string | null
  /**
   * Deletes files and symlinks, never what a symlink points to. Inspects all of them before it deletes the first one.
   */
  delete(paths: readonly string[]): readonly DeletedEntry[]
  /** Removes the files that interrupted writes left in a directory, and returns their paths. */
  removeLeftovers(directory: string): readonly string[]
  list(request: ListRequest): Listing
  /** Returns the regular files directly in a directory, in the order of their names. */
  stamps(directory: string): readonly StampedFile[]
  glob(request: GlobRequest): GlobMatches
  search(request: SearchRequest): Promise<SearchResult>
  /**
   * Reads the tree of the workspace as it is now. A long read lets signals run; one that the user stops throws a
   * Failure of the kind `interrupted`, `graceMs` after it was stopped.
   */
  tree(options?: TreeOptions): Promise<Tree>
  /** Saves the hashes of files that have not changed, so that the next process need not read these files. */
  keepHashes(): void
}

export type EntryKind = "file" | "directory" | "symlink" | "other"

export interface ExactContent {
  readonly bytes: Uint8Array
  /** The content as a recorded change spells it: the hash of a file, `link:` and the target of a symlink. */
  readonly content: string
}

export interface Location {
  /** The path with symlinks resolved as far as it exists; `.` for the root. */
  readonly relative: string
  readonly kind: EntryKind | "missing"
}

export interface ReadRange {
  /** The first line, counted from 1. */
  readonly fromLine?: number
  readonly lineCount?: number
  /** The most text that is returned, however long the lines are. */
  readonly bytesMax: number
  /** A larger file throws ACODE-FS-006. Without it, files of any size are read. */
  readonly sizeMax?: number
}

/** A range of lines of a text file, with facts about the whole file. */
export interface FileLines {
  readonly path: string
  /** The lines as they are in the file, with their line ends. */
  readonly text: string
  readonly fromLine: number
  readonly lineCount: number
  readonly totalLines: number
  /** True when the range was longer than `bytesMax`, so that the text stops inside it. */
  readonly truncated: boolean
  /** `latin1` where the bytes are not UTF-8: every byte is shown as one character. */
  readonly encoding: TextEncoding
  readonly sizeBytes: number
  /** The hash of the whole file. A write can require it. */
  readonly sha256: string
}

export type TextEncoding = "utf-8" | "utf-16le" | "utf-16be" | "latin1"

/** The format that an edit must keep, so that the rest of the file is written byte for byte as it was. */
export interface TextFormat {
  readonly encoding: TextEncoding
  readonly bom: boolean
  /**
   * Set for `latin1` when most of the bytes read as UTF-8, so that a new character would be written in the wrong
   * encoding.
   */
  readonly isMixed?: true
}

export interface WholeText {
  readonly path: string
  readonly text: string
  readonly format: TextFormat
  readonly sha256: string
}

export interface WholeContent {
  readonly path: string
  readonly bytes: Uint8Array
  readonly sha256: string
}

export interface WriteRequest {
  readonly path: string
  readonly content: Uint8Array
  /** The content that the path must have now: a hash (else ACODE-FS-007), or `absent` (else ACODE-FS-008). */
  readonly expected?: string
}

export interface WrittenFile {
  readonly path: string
  readonly created: boolean
  readonly beforeSha256: string | null
  readonly afterSha256: string
  readonly createdDirectories: readonly string[]
}

export interface DeletedEntry {
  readonly path: string
  /** Null for a symlink, which has no content. */
  readonly beforeSha256: string | null
  readonly symlinkTarget: string | null
}

export interface ListRequest {
  readonly path: string
  /** 1 lists only the directory itself. */
  readonly depth: number
  readonly entriesMax: number
}

export interface ListedEntry {
  readonly path: string
  readonly kind: EntryKind
  readonly sizeBytes: number
  /** The target of a symlink, as written, and whether it is inside the workspace. The symlink is not followed. */
  readonly target: { readonly text: string; readonly inside: boolean } | null
}

/** A file as it was at one moment, without its content. */
export interface StampedFile {
  readonly name: string
  /** Size, times and inode: every write changes it. */
  readonly identity: string
  /** False for a file changed so recently that the next change could leave the same identity. */
  readonly isSettled: boolean
}

export interface Listing {
  readonly path: string
  readonly entries: readonly ListedEntry[]
  /** True when there are more than `entriesMax` entries. */
  readonly truncated: boolean
}

export interface GlobRequest {
  readonly pattern: string
  /** The directory to search, which the pattern is relative to. */
  readonly path: string
  readonly matchesMax: number
}

export interface GlobMatches {
  readonly paths: readonly string[]
  readonly truncated: boolean
}

export interface SearchRequest {
  /** A regular expression in the syntax of ripgrep. */
  readonly pattern: string
  /** A directory or a single file. */
  readonly path: string
  /** Searches only files whose names match. */
  readonly glob?: string
  readonly matchesMax: number
  readonly timeoutMs: number
}

/** One line that matches. The names are those of the tool's result. */
export interface SearchRow {
  readonly file_path: string
  readonly line_number: number
  /** The line without its line end, cut when it is longer than anything that is displayed. */
  readonly line: string
}

export interface SearchResult {
  /** Ordered by path, then by line. */
  readonly rows: readonly SearchRow[]
  /** True when there is more: too many matches, too little time, or a file that is too large to search. */
  readonly truncated: boolean
  readonly engine: "ripgrep" | "own"
}

/** Runs a program and returns its output. It never throws because of how the program ended. */
export type RunProgram = (
  argv: readonly string[],
  options: { cwd: string; stdoutBytesMax: number; timeoutMs: number },
) => Promise<{ exitCode: number | null; stdout: Uint8Array; truncated: boolean }>

export type TreeEntry = { readonly path: string; readonly mode: number; readonly sizeBytes: number } & (
  | {
      readonly kind: "file"
      /** Null when the content is not read: the file is larger than checkpoints copy, or acode may not read it. */
      readonly sha256: string | null
      /** Stands in for the hash: `stat:` and the size, times and inode of the file. Every write changes it. */
      readonly identity?: string
    }
  | { readonly kind: "symlink"; readonly target: string }
  /** An entry without content to copy: `fifo:`, `socket:` or `device:` and its number. */
  | { readonly kind: "special"; readonly special: string }
)

/** All files, symlinks, FIFOs, sockets and devices of a workspace that are the user's work, at one moment. */
export interface Tree {
  /**
   * Equal exactly when paths, kinds, modes and contents are. Times count only for files whose content is not read: two
   * trees with the same digest are the same, and one that differs may only have been touched.
   */
  readonly digest: string
  /** The entries in a fixed order: the files of a directory by name, then its directories. */
  readonly entries: readonly TreeEntry[]
  /** The directories that were walked, parents first, `.` for the root. They are not part of the digest. */
  readonly directories: readonly TreeDirectory[]
  /** Directories and files that could not be inspected, and why: their content is not known. */
  readonly closed: readonly ClosedPath[]
  /** The ignore rules that the tree was read by; null without git. */
  readonly rules: IgnoreTexts | null
  /** The ignored files; null unless the caller requested them. */
  readonly ignored: IgnoredFiles | null
}

export interface TreeOptions {
  readonly graceMs?: number
  /** Inspects each file that git ignores as well, without reading it. Costs one `lstat` for each. */
  readonly watchesIgnored?: boolean
  /** Applies the ignore rules of an earlier tree, null for one without git: a command may have changed the rules. */
  readonly rules?: IgnoreTexts | null
}

/** The ignore rules of a tree as they were written. */
export interface IgnoreTexts {
  /** The path of the root below the top level of git. Ends in a slash, or is empty. */
  readonly prefix: string
  /** The rules from above the root: directory and text, the weakest first. */
  readonly above: readonly (readonly [string, string])[]
  /** The ignore files of the tree: directory, which ends in a slash or is empty, and text. */
  readonly files: readonly (readonly [string, string])[]
  /** Files that the rules ignore and git tracks nevertheless. */
  readonly tracked: readonly string[]
}

/** Files that git ignores, identified by size, times, mode and inode. */
export interface IgnoredFiles {
  /**
   * Maps a file's path to its state, and a directory (which ends in a slash) to the states of the files directly in it,
   * or to the hash of those.
   */
  readonly places: ReadonlyMap<string, string>
  /** Directories that hold too many entries to inspect. */
  readonly unwatched: readonly string[]
}

export interface ClosedPath {
  readonly path: string
  readonly why: "unreadable" | "tooDeep"
  /**
   * `stat:` and the times and inode of the path, or of the directory that hides it; empty when those are not readable
   * either.
   */
  readonly identity: string
}

export interface TreeDirectory {
  readonly path: string
  readonly mode: number
}

/** The state of a path: writing to it again or staging it changes the mark. */
export interface PathMark {
  readonly path: string
  /** The inode and times; null when nothing exists there. */
  readonly identity: string | null
  /** The object that git's index has for the path; null when the index has none. */
  readonly staged: string | null
}
