import type { PathOperation } from "../domain/effect.ts"
/**
 * Refuses a path by throwing. It is asked about the path as typed and about where that really is, the second time on
 * what is already held by a descriptor: a symlink swapped in between decides nothing.
 */
export type PathGuard = (relative: string, operation: PathOperation) => void

/**
 * The user's files. Paths are typed by people and models: they are checked, resolved below the root by the kernel, and
 * come back as where the file really is, relative to the root. Failures are ACODE-SEC-005 for what is outside and
 * ACODE-FS-001…010 for everything else. Nothing here decides whether an operation is wanted.
 */
export interface Workspace extends Disposable {
  readonly path: string
  /** Where a path leads, whether or not anything is there. Decisions are made on this, not on what was typed. */
  locate(typed: string): Location
  /** Whether the root has an entry of this name: a quick look for what is mostly missing. Nothing is decided on it. */
  hasEntry(name: string): boolean
  /** Lines of a text file in bounded memory, whatever its size. */
  readLines(typed: string, range: ReadRange): FileLines
  /** The same for a file that may be huge: lets signals through, as a long read of the tree does. */
  readLongLines(typed: string, range: ReadRange): Promise<FileLines>
  /** All of a text file, to be edited. */
  readText(typed: string, bytesMax: number): WholeText
  readBytes(typed: string, bytesMax: number): WholeContent
  /**
   * What is at an exact path of the tree, whatever its name is: all of a file, or the target of a symlink. Null when
   * neither is there; a directory stands where a file is gone.
   */
  readExact(path: string, bytesMax: number): ExactContent | null
  /** Text as the bytes of a file; ACODE-FS-009 when its encoding has no place for a character. */
  encode(text: string, format: TextFormat, path: string): Uint8Array
  /** Whole or not at all, durable when it returns; missing parents are made, the old mode is kept. */
  write(request: WriteRequest): WrittenFile
  /** Returns how some exact paths are left right now. */
  mark(paths: readonly string[]): readonly PathMark[]
  /** Returns the branch and the commit that git has checked out; null outside git. */
  gitHead(): string | null
  /** Files and symlinks, not what symlinks point to. All are looked at before the first one goes. */
  delete(paths: readonly string[]): readonly DeletedEntry[]
  /** Removes what interrupted writes left in a directory, and gives the paths. */
  removeLeftovers(directory: string): readonly string[]
  list(request: ListRequest): Listing
  /** Returns the regular files directly in a directory, in the order of their names. */
  stamps(directory: string): readonly StampedFile[]
  glob(request: GlobRequest): GlobMatches
  search(request: SearchRequest): Promise<SearchResult>
  /**
   * Reads the tree of the workspace, as it is now. A long read lets signals through; one that a person stops throws a
   * Failure of the kind `interrupted`, `graceMs` after it was stopped.
   */
  tree(options?: TreeOptions): Promise<Tree>
}

export type EntryKind = "file" | "directory" | "symlink" | "other"

export interface ExactContent {
  readonly bytes: Uint8Array
  /** In the spelling of a recorded change: the hash of a file, `link:` and the target of a symlink. */
  readonly content: string
}

export interface Location {
  /** Symlinks resolved as far as things exist; `.` for the root. */
  readonly relative: string
  readonly kind: EntryKind | "missing"
}

export interface ReadRange {
  /** Counted from 1. */
  readonly fromLine?: number
  readonly lineCount?: number
  /** Ceiling for the text that comes back, whatever the lines are. */
  readonly bytesMax: number
  /** A larger file is ACODE-FS-006. Left out, any size may be read. */
  readonly sizeMax?: number
}

/** A range of lines of a text file, and what is known of all of it. */
export interface FileLines {
  readonly path: string
  /** The lines as they are in the file, with their line ends. */
  readonly text: string
  readonly fromLine: number
  readonly lineCount: number
  readonly totalLines: number
  /** The range was longer than `bytesMax`; the text stops in the middle of it. */
  readonly truncated: boolean
  /** `latin1` where the bytes are no UTF-8: every byte shown as one character. */
  readonly encoding: TextEncoding
  readonly sizeBytes: number
  /** Of the whole file. A write can insist on it. */
  readonly sha256: string
}

export type TextEncoding = "utf-8" | "utf-16le" | "utf-16be" | "latin1"

/** What an edit must keep, so that the rest of the file comes back byte for byte. */
export interface TextFormat {
  readonly encoding: TextEncoding
  readonly bom: boolean
  /** For `latin1`: most of it reads as UTF-8, so that a new character would be written in the wrong way. */
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
  /** What must be there now: a hash (else ACODE-FS-007), or `absent` (else ACODE-FS-008). Left out, anything may. */
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
  /** Null for a symlink, which has no content of its own. */
  readonly beforeSha256: string | null
  readonly symlinkTarget: string | null
}

export interface ListRequest {
  readonly path: string
  /** 1 lists the directory alone. */
  readonly depth: number
  readonly entriesMax: number
}

export interface ListedEntry {
  readonly path: string
  readonly kind: EntryKind
  readonly sizeBytes: number
  /** Where a symlink points, as it is written, and whether that is something in the workspace. It is not followed. */
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
  /** There are more than `entriesMax`. */
  readonly truncated: boolean
}

export interface GlobRequest {
  readonly pattern: string
  /** Where to look, and what the pattern is relative to. */
  readonly path: string
  readonly matchesMax: number
}

export interface GlobMatches {
  readonly paths: readonly string[]
  readonly truncated: boolean
}

export interface SearchRequest {
  /** A regular expression in the dialect of ripgrep. */
  readonly pattern: string
  /** A directory or a single file. */
  readonly path: string
  /** Only files with such names. */
  readonly glob?: string
  readonly matchesMax: number
  readonly timeoutMs: number
}

/** One line that matches. The names are those of the tool's result. */
export interface SearchRow {
  readonly file_path: string
  readonly line_number: number
  /** Without its line end, cut where it is longer than anybody is shown. */
  readonly line: string
}

export interface SearchResult {
  /** By path, then by line. */
  readonly rows: readonly SearchRow[]
  /** There is more: too many matches, too little time, or a file too large to be searched. */
  readonly truncated: boolean
  readonly engine: "ripgrep" | "own"
}

/** Runs a program and gives what it wrote; it never throws for how the program ended. */
export type RunProgram = (
  argv: readonly string[],
  options: { cwd: string; stdoutBytesMax: number; timeoutMs: number },
) => Promise<{ exitCode: number | null; stdout: Uint8Array; truncated: boolean }>

export type TreeEntry = { readonly path: string; readonly mode: number; readonly sizeBytes: number } & (
  | {
      readonly kind: "file"
      /** Null when the content is not read: the file is larger than a checkpoint copies, or may not be read. */
      readonly sha256: string | null
      /** Instead of a hash: `stat:` and the size, times and inode of the file. Every write changes it. */
      readonly identity?: string
    }
  | { readonly kind: "symlink"; readonly target: string }
  /** Has no content that could be kept: `fifo:`, `socket:` or `device:` and its number. */
  | { readonly kind: "special"; readonly special: string }
)

/** Every file, symlink, FIFO, socket and device of a workspace that is somebody's work, at one moment. */
export interface Tree {
  /**
   * Equal exactly when paths, kinds, modes and contents are. Times count only for files whose content is not read: two
   * trees with the same digest are the same, and one that differs may only have been touched.
   */
  readonly digest: string
  /** In a fixed order: the files of a directory by name, then its directories. */
  readonly entries: readonly TreeEntry[]
  /** The directories that were walked, parents first, `.` for the root. They are not part of the digest. */
  readonly directories: readonly TreeDirectory[]
  /** Directories and files that could not be inspected, and why: what is there is not known. */
  readonly closed: readonly ClosedPath[]
  /** By which it was read; null without git. */
  readonly rules: IgnoreTexts | null
  /** Null when nobody asked for it. */
  readonly ignored: IgnoredFiles | null
}

export interface TreeOptions {
  readonly graceMs?: number
  /** Also looks at what git ignores, without reading it. Costs a look at each file. */
  readonly watchesIgnored?: boolean
  /** Judges by the ignore rules of an earlier tree, null for one without git: a command may have changed the rules. */
  readonly rules?: IgnoreTexts | null
}

/** The ignore rules of a tree as they were written. */
export interface IgnoreTexts {
  /** Where the root is below the top level of git. Ends in a slash, or empty. */
  readonly prefix: string
  /** What holds above the root: directory and text, the weakest first. */
  readonly above: readonly (readonly [string, string])[]
  /** The ignore files of the tree: directory, which ends in a slash or is empty, and text. */
  readonly files: readonly (readonly [string, string])[]
  /** Files that the rules ignore and git tracks nevertheless. */
  readonly tracked: readonly string[]
}

/** What git ignores, known by size, times, mode and inode. */
export interface IgnoredFiles {
  /** A file by its path, a directory (which ends in a slash) by the files directly in it; or the hash of that. */
  readonly places: ReadonlyMap<string, string>
  /** Places that hold too much to be looked at. */
  readonly unwatched: readonly string[]
}

export interface ClosedPath {
  readonly path: string
  readonly why: "unreadable" | "tooDeep"
  /** `stat:` and the times and inode of it, or of the directory that hides it; empty where not even that is shown. */
  readonly identity: string
}

export interface TreeDirectory {
  readonly path: string
  readonly mode: number
}

/** How a path was left: whoever writes it again, or stages it, leaves another mark. */
export interface PathMark {
  readonly path: string
  /** Inode and times; null when nothing is there. */
  readonly identity: string | null
  /** The object that git has for it in its index; null when it is not there. */
  readonly staged: string | null
}
