import { parentOf } from "../base/path-names.ts"
import { Failure } from "../domain/failure.ts"
import type { Certainty, FileChange } from "../domain/tool-call.ts"
import type { Workspace } from "../workspace/contract.ts"

/** Files that are replaced were held in memory once; a larger one was changed by another process. */
const comparedBytesMax = 512 * 1024 * 1024

/** Determines from their present content whether files were replaced. */
export function certaintyOf(workspace: Workspace, targets: readonly FileChange[]): Certainty {
  const found = targets.map(target => stateOf(workspace, target))
  if (found.includes("foreign")) return "unknown"
  if (found.every(state => state === "after")) return "done"
  return found.every(state => state === "before") ? "notDone" : "partly"
}

/** Returns the targets that have their new content already. */
export function changedTargets(workspace: Workspace, targets: readonly FileChange[]): readonly FileChange[] {
  return targets.filter(target => stateOf(workspace, target) === "after")
}

type TargetState = "before" | "after" | "foreign"

function stateOf(workspace: Workspace, { path, before, after }: FileChange): TargetState {
  const content = contentAt(workspace, path)
  if (content === after) return "after"
  return content === before ? "before" : "foreign"
}

/** Returns the content of a path in the form of a FileChange; undefined for content without such a form. */
function contentAt(workspace: Workspace, path: string): string | null | undefined {
  try {
    const link = linkAt(workspace, path)
    if (link !== null) return link
    const { kind } = workspace.locate(path)
    if (kind === "missing") return null
    return kind === "file" ? workspace.readBytes(path, comparedBytesMax).sha256 : undefined
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    // The path cannot be read, so its content is unknown.
    return undefined
  }
}

function linkAt(workspace: Workspace, path: string): string | null {
  const parent = parentOf(path)
  if (workspace.locate(parent).kind !== "directory") return null
  const { entries } = workspace.list({ path: parent, depth: 1, entriesMax: 100_000 })
  const entry = entries.find(listed => listed.path === path && listed.kind === "symlink")
  return entry?.target == null ? null : `link:${entry.target.text}`
}
