import { type GitRules, readGitRules, withIgnoreFile } from "./git-rules.ts"
import type { IgnoreRules } from "./ignore.ts"
import { listReadable } from "./listing.ts"

/**
 * Yields the files below a directory that are the user's work, in a fixed order: without what git ignores, `.git`,
 * `.agent` and hidden paths. Symlinks are yielded and not followed. `start` is a real path in the workspace, or `.`.
 */
export function* walkFiles(
  root: string,
  start: string,
  isHidden: (path: string) => boolean,
): Generator<string, void> {
  const git = readGitRules(root, null)
  const names = start === "." ? [] : start.split("/")
  let rules = git?.top ?? null
  for (let depth = 0; depth < names.length && git !== null && rules !== null; depth++) {
    const directory = names.slice(0, depth).join("/")
    rules = withIgnoreFile(rules, `${git.prefix}${directory}`.replace(/\/$/, ""), `${root}/${directory}`)
  }
  yield* below({ root, git, isHidden }, names.length === 0 ? "" : `${start}/`, rules, false)
}

interface WalkScope {
  readonly root: string
  readonly git: GitRules | null
  readonly isHidden: (path: string) => boolean
}

function* below(
  scope: WalkScope,
  prefix: string,
  above: IgnoreRules | null,
  trackedOnly: boolean,
): Generator<string, void> {
  const listing = listReadable<never>({
    ...scope,
    isProtected: scope.isHidden,
    prefix,
    above,
    trackedOnly,
    nowMs: 0,
  })
  if (listing === null) return
  for (const { path, isSpecial } of listing.files) if (!isSpecial) yield path
  for (const directory of listing.directories)
    yield* below(scope, `${directory.path}/`, listing.rules, directory.trackedOnly)
}
