import { lstatSync, readlinkSync, type Stats } from "node:fs"
import { pathFromBytes, readNames } from "../../base/path-bytes.ts"
import type { ListedEntry, Listing, ListRequest } from "../contract.ts"
import { onPath } from "../failures.ts"
import { entryPath, joinRelative, type Pinned, pin, pinChild } from "./pin.ts"
import { kindOf, pinDirectory } from "./pinned-name.ts"
import type { WorkspaceRoot } from "./root.ts"

/** Lists a directory in a fixed order, to the requested depth. `.git` and `.agent` are listed and not entered. */
export function listDirectory(
  root: WorkspaceRoot,
  request: ListRequest,
  isHidden: (path: string) => boolean,
): Listing {
  using directory = pinDirectory(root, request.path, "list")
  const entries: ListedEntry[] = []
  const scope = { root, entriesMax: request.entriesMax, isHidden }
  const complete = collect(scope, directory, request.depth, entries)
  return { path: directory.relative, entries, truncated: !complete }
}

const depthMax = 64

interface ListScope {
  readonly root: WorkspaceRoot
  readonly entriesMax: number
  readonly isHidden: (path: string) => boolean
}

/** Returns false when not all entries fit. */
function collect(scope: ListScope, directory: Pinned, depth: number, entries: ListedEntry[]): boolean {
  const { root, entriesMax, isHidden } = scope
  for (const name of onPath(directory.relative, () => readNames(directory.at))) {
    const path = joinRelative(directory.relative, name)
    if (isHidden(path)) continue
    const stat = lstatSync(entryPath(directory, name), { throwIfNoEntry: false })
    if (stat === undefined) continue
    if (entries.length >= entriesMax) return false
    entries.push(listed(root, directory, name, path, stat))
    const enters = stat.isDirectory() && depth > 1 && name !== ".git" && name !== ".agent"
    if (!enters || path.split("/").length >= depthMax) continue
    using child = pinChild(root, directory, name)
    if (child?.stat.isDirectory() && !collect(scope, child, depth - 1, entries)) return false
  }
  return true
}

function listed(
  root: WorkspaceRoot,
  directory: Pinned,
  name: string,
  path: string,
  stat: Stats,
): ListedEntry {
  const kind = kindOf(stat)
  if (kind !== "symlink") return { path, kind, sizeBytes: stat.size, target: null }
  const text = pathFromBytes(readlinkSync(entryPath(directory, name), { encoding: "buffer" }))
  return { path, kind, sizeBytes: stat.size, target: { text, inside: leadsInside(root, path) } }
}

function leadsInside(root: WorkspaceRoot, path: string): boolean {
  try {
    using found = pin(root, path)
    return found !== null
  } catch {
    // The kernel refused to follow the symlink: it leads out of the root, or in a circle.
    return false
  }
}
