import { posix } from "node:path"
import { parentOf } from "../base/path-names.ts"
import { isPlainPath } from "../base/plain-path.ts"
import type { Effect, PathEffectKind } from "../domain/effect.ts"
import type { Location, Workspace } from "../workspace/contract.ts"

/** A path of a call, as typed and resolved. */
export interface CallPath extends Location {
  readonly typed: string
}

export function callPath(workspace: Workspace, typed: string): CallPath {
  return { typed, ...workspace.locate(typed) }
}

/**
 * Returns the effects on both spellings, so that neither the name of a symlink nor its target hides the other from
 * policy.
 */
export function pathEffects(
  workspace: Workspace,
  { typed, relative }: CallPath,
  ...kinds: readonly PathEffectKind[]
): Effect[] {
  const asTyped = spelled(workspace, typed)
  const paths = asTyped === relative ? [relative] : [asTyped, relative]
  return kinds.flatMap(kind => paths.map(path => ({ kind, path })))
}

function spelled({ path }: Workspace, typed: string): string {
  return isPlainPath(typed) ? typed : posix.relative(path, posix.resolve(path, typed)) || "."
}

/** Returns the effects of writing a file: the file, and the directories that have to be created for it. */
export function writeEffects(workspace: Workspace, path: CallPath): Effect[] {
  const parents: Effect[] = []
  if (path.kind === "missing")
    for (let parent = parentOf(path.relative); parent !== "."; parent = parentOf(parent)) {
      if (workspace.locate(parent).kind !== "missing") break
      parents.unshift({ kind: "createDirectory", path: parent })
    }
  return [...parents, ...pathEffects(workspace, path, "write")]
}
