import type { Clock } from "../../base/clock.ts"
import type { RunProgram, SearchRequest, SearchResult, SearchRow } from "../contract.ts"
import { fileFailure } from "../failures.ts"
import { pinGuarded } from "../place.ts"
import type { WorkspaceRoot } from "../root.ts"
import { searchByReading } from "./by-reading.ts"
import { compileNameGlob } from "./glob.ts"
import { searchWithRipgrep } from "./ripgrep.ts"
import type { SearchScope } from "./scope.ts"

export interface SearchTools {
  readonly isHidden: (path: string) => boolean
  readonly clock: Clock
  /** Absent: no ripgrep on this machine. */
  readonly ripgrep?: { readonly program: string; readonly run: RunProgram }
}

/** Finds lines by a pattern, with ripgrep where it is and works, else by reading the files. */
export async function searchFiles(
  root: WorkspaceRoot,
  request: SearchRequest,
  tools: SearchTools,
): Promise<SearchResult> {
  if (request.pattern === "" || /[\0\n\r]/.test(request.pattern))
    throw fileFailure("malformed", request.pattern, "is no pattern: it is empty or spans lines")
  const matchesGlob = request.glob === undefined ? () => true : compileNameGlob(request.glob)
  const scope = searchScope(root, request, tools.isHidden, matchesGlob)
  const found = tools.ripgrep === undefined ? null : await searchWithRipgrep(scope, tools.ripgrep)
  const engine = found === null ? "own" : "ripgrep"
  const { rows, truncated } = found ?? searchByReading(scope, tools.clock)
  const sorted = rows.toSorted(byPlace)
  return {
    rows: sorted.slice(0, request.matchesMax),
    truncated: truncated || sorted.length > request.matchesMax,
    engine,
  }
}

function searchScope(
  root: WorkspaceRoot,
  { pattern, path, matchesMax, timeoutMs }: SearchRequest,
  isHidden: (path: string) => boolean,
  matchesGlob: (path: string) => boolean,
): SearchScope {
  using found = pinGuarded(root, path, "read")
  const start = found.relative
  const isFile = found.stat.isFile()
  if (!isFile && !found.stat.isDirectory()) throw fileFailure("notRegular", path, "can not be searched")
  const skip = isFile || start === "." ? 0 : start.length + 1
  const accepts = (file: string) => !isHiddenPath(file, isHidden) && (isFile || matchesGlob(file.slice(skip)))
  return { root, pattern, start, isFile, matchesMax, timeoutMs, accepts, isHidden }
}

/** A hidden directory hides what is in it. */
function isHiddenPath(path: string, isHidden: (path: string) => boolean): boolean {
  const names = path.split("/")
  return names.some((_, index) => isHidden(names.slice(0, index + 1).join("/")))
}

function byPlace(a: SearchRow, b: SearchRow): number {
  if (a.file_path !== b.file_path) return a.file_path < b.file_path ? -1 : 1
  return a.line_number - b.line_number
}
