import type { SearchRow } from "../contract.ts"
import type { WorkspaceRoot } from "../root.ts"

/** What both engines search: the rows they give are filtered and bounded here. */
export interface SearchScope {
  readonly root: WorkspaceRoot
  readonly pattern: string
  /** A real path in the workspace, or `.`. */
  readonly start: string
  readonly isFile: boolean
  readonly matchesMax: number
  readonly timeoutMs: number
  readonly accepts: (path: string) => boolean
  readonly isHidden: (path: string) => boolean
}

/** What an engine found, in any order; at most a few more than asked for. */
export interface FoundRows {
  readonly rows: readonly SearchRow[]
  readonly truncated: boolean
}

/** Characters of a line that are given: more than anybody is shown, so that a secret is cut by none but its reader. */
export const rowLengthMax = 32 * 1024
