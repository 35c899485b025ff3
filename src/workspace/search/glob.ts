import { compileGlob } from "../../base/glob.ts"
import type { GlobMatches, GlobRequest } from "../contract.ts"
import { fileFailure, outsideWorkspace } from "../failures.ts"
import { pinDirectory } from "../files/pinned-name.ts"
import type { WorkspaceRoot } from "../files/root.ts"
import { walkFiles } from "../tree/walk.ts"

/** Finds files by name. Skips ignored files, `.git` and `.agent`, and follows no symlink. */
export function globFiles(
  root: WorkspaceRoot,
  request: GlobRequest,
  isHidden: (path: string) => boolean,
): GlobMatches {
  const matches = searchGlob(request.pattern)
  using directory = pinDirectory(root, request.path, "list")
  const skip = directory.relative === "." ? 0 : directory.relative.length + 1
  const paths: string[] = []
  for (const path of walkFiles(root.path, directory.relative, isHidden)) {
    if (!matches(path.slice(skip))) continue
    if (paths.length >= request.matchesMax) return { paths, truncated: true }
    paths.push(path)
  }
  return { paths, truncated: false }
}

/** Compiles a pattern that the whole path has to match, relative to the searched directory. Throws a Failure. */
function searchGlob(pattern: string): (path: string) => boolean {
  if (pattern === "" || pattern.includes("\0"))
    throw fileFailure("malformed", pattern, "is not a pattern for names")
  if (pattern.startsWith("/") || /(^|[/{,])\.\.([/},]|$)/.test(pattern)) throw outsideWorkspace(pattern)
  const glob = compileGlob(pattern.replace(/^(\.\/+)+/, ""))
  if (glob === null)
    throw fileFailure(
      "malformed",
      pattern,
      "is not a pattern for names: a bracket or brace is not closed, or it has too many alternatives",
    )
  return path => glob.matches(path)
}

/** Compiles a pattern that, without a slash, has to match only the name of a file in any directory. */
export function searchNameGlob(pattern: string): (path: string) => boolean {
  return searchGlob(pattern.includes("/") ? pattern : `**/${pattern}`)
}
