/** Changes of texts, computed and not written. Failures are ACODE-PAT-001…005 and show what did not fit. */
export interface TextChanges {
  /** Each `search` has to be there exactly once. Carriage returns of the text stay. */
  applyEdits(path: string, text: string, edits: readonly Edit[]): EditedText
  /**
   * A unified diff of one or many files: all of it fits, or the failure tells for every file what does not.
   * `onlyPath` is the file that hunks without a header are about, and then the only one allowed. `read` gives null
   * for a file that is not there, else its text with its byte order mark, which the result has where it stays.
   */
  applyPatch(patch: string, onlyPath: string | null, read: (path: string) => string | null): PatchedFile[]
  /** The files a unified diff is about and what becomes of each, without looking at any. */
  patchedFiles(patch: string, onlyPath: string | null): PatchTarget[]
  /** What changed, for a preview with line numbers. */
  diffTexts(before: string, after: string, context?: number): DiffHunk[]
  /** How many lines go and come, as `git diff --numstat` counts them. */
  countChanges(before: string, after: string): LineCounts
  /** The same as a unified diff; null stands for a file that is not there. Empty when nothing changed. */
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
  /** What each edit replaced, in the text it was applied to: the one that the edits before it made. */
  readonly places: readonly EditPlace[]
}

export interface EditPlace {
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
  /** Where it went in the old file, counted from 1. */
  readonly line: number
  /** How far that is from where the patch says. */
  readonly offset: number
  /** Lines of context at each end that did not match and were not insisted on. */
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

/** One line of a change as a person reads it, with its numbers in the old and the new file. */
export interface DiffRow {
  readonly kind: "keep" | "remove" | "add"
  /** Without its newline. */
  readonly text: string
  readonly oldLine: number | null
  readonly newLine: number | null
  /** The last line of its file, and no newline ends it. */
  readonly isUnended: boolean
}
