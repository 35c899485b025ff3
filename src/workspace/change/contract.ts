/** Computes changes of texts without writing them. Failures are ACODE-PAT-001…005 and show what did not match. */
export interface TextChanges {
  /** Applies edits whose `search` must occur exactly once. Carriage returns of the text stay. */
  applyEdits(path: string, text: string, edits: readonly Edit[]): EditedText
  /**
   * Applies a unified diff of one or many files: all of it matches, or the failure reports every file that does not.
   * `onlyPath` is the file of hunks without a header, and then the only one allowed. `read` returns null for a missing
   * file, else its text with its byte order mark, which the result keeps.
   */
  applyPatch(patch: string, onlyPath: string | null, read: (path: string) => string | null): PatchedFile[]
  /** Returns the files of a unified diff and the fate of each, without reading any. */
  patchedFiles(patch: string, onlyPath: string | null): PatchTarget[]
  /** Returns the changes, for a preview with line numbers. */
  diffTexts(before: string, after: string, context?: number): DiffHunk[]
  /** Counts added and removed lines as `git diff --numstat` does. */
  countChanges(before: string, after: string): LineCounts
  /** Returns the changes as a unified diff; null means a missing file. Empty when nothing changed. */
  unifiedDiff(path: string, before: string | null, after: string | null, context?: number): string
}

export interface Edit {
  readonly search: string
  readonly replace: string
}

export interface EditedText {
  readonly text: string
  /** The line each edit starts at, in the text it was applied to. */
  readonly lines: readonly number[]
  /** The text that each edit replaced, in the text it was applied to: the result of the edits before it. */
  readonly ranges: readonly ReplacedRange[]
}

export interface ReplacedRange {
  readonly start: number
  readonly end: number
  readonly replacement: string
}

export interface PatchTarget {
  readonly path: string
  readonly action: "modify" | "create" | "delete"
}

export interface PatchedFile {
  readonly path: string
  /** Null for a file that is made. */
  readonly before: string | null
  /** Null for a file that is deleted. */
  readonly after: string | null
  readonly hunks: readonly PlacedHunk[]
}

export interface PlacedHunk {
  /** The line in the old file where the hunk was applied, counted from 1. */
  readonly line: number
  /** The distance from the line that the patch states. */
  readonly offset: number
  /** Lines of context at each end that did not match and were ignored. */
  readonly fuzz: number
}

export interface LineCounts {
  readonly added: number
  readonly removed: number
}

export interface DiffHunk {
  readonly oldStart: number
  readonly oldCount: number
  readonly newStart: number
  readonly newCount: number
  readonly rows: readonly DiffRow[]
}

/** One line of a change for display, with its numbers in the old and the new file. */
export interface DiffRow {
  readonly kind: "keep" | "remove" | "add"
  /** The line without its newline. */
  readonly text: string
  readonly oldLine: number | null
  readonly newLine: number | null
  /** True for the last line of a file that does not end in a newline. */
  readonly isUnended: boolean
}
