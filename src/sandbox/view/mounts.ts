import { Failure } from "../../domain/failure.ts"
import { ancestorsBelow, byDepth, isWithin } from "../tree/paths.ts"
import type { ProtectedEntry } from "../tree/tree-snapshot.ts"

/** One thing a confined command sees at a path; later ones lie over earlier ones. */
export type Mount =
  | { readonly kind: "readOnly" | "writable" | "hiddenFile" | "frozen"; readonly path: string }
  /** Memory that is empty at the start: a place to write, or with few permissions a mask. */
  | { readonly kind: "scratch"; readonly path: string; readonly mode: number }
  | { readonly kind: "link"; readonly path: string; readonly target: string }

const shut = 0o000
/** A directory that leads to something a person opened below it: it can be passed through, but not listed. */
const passable = 0o111

/**
 * The mounts over the workspace that keep protected names as they are. Every directory on the way to one is bound
 * onto itself, because a mount point cannot be renamed: otherwise `mv sub sub2` would carry the mask away and a new
 * `sub` would have none.
 */
export function protectWorkspace(
  root: string,
  entries: Iterable<ProtectedEntry>,
  lifted: readonly string[],
): readonly Mount[] {
  const planned = new Map<string, Mount>()
  const sorted = [...entries].sort((a, b) => byDepth(a.path, b.path))
  for (const entry of sorted) {
    const path = `${root}/${entry.path}`
    const cover = coverOf(planned, path, root)
    if (cover !== null && cover.kind !== "readOnly") continue
    if (cover !== null && entry.level === "noWrite") continue
    if (cover === null)
      for (const ancestor of ancestorsBelow(path, root))
        if (!planned.has(ancestor)) planned.set(ancestor, { kind: "writable", path: ancestor })
    planned.set(path, maskOf(entry, path, lifted))
  }
  for (const path of lifted)
    if (isWithin(path, root) && coverOf(planned, path, root) !== null)
      planned.set(path, { kind: "writable", path })
  if (planned.size > mountsMax) throw tooMany(root, planned.size)
  return [...planned.values()].sort((a, b) => byDepth(a.path, b.path))
}

/** Returns the last mount that covers a host path; null where none does. */
export function mountAt(mounts: readonly Mount[], path: string): Mount | null {
  return mounts.findLast(mount => mount.kind !== "frozen" && isWithin(path, mount.path)) ?? null
}

/** Returns whether the content of this host path is the same inside. */
export function isShown(mounts: readonly Mount[], path: string): boolean {
  const kind = mountAt(mounts, path)?.kind
  return kind === "readOnly" || kind === "writable"
}

/** The nearest planned mount above a path that takes something away; a directory bound onto itself does not. */
function coverOf(planned: ReadonlyMap<string, Mount>, path: string, root: string): Mount | null {
  const above = ancestorsBelow(path, root)
    .map(ancestor => planned.get(ancestor))
    .findLast(mount => mount !== undefined)
  return above === undefined || above.kind === "writable" ? null : above
}

function maskOf(entry: ProtectedEntry, path: string, lifted: readonly string[]): Mount {
  if (entry.level === "noWrite") return { kind: "readOnly", path }
  if (entry.stamp.kind !== "directory") return { kind: "hiddenFile", path }
  const leadsToLifted = lifted.some(opened => isWithin(opened, path))
  return { kind: "scratch", path, mode: leadsToLifted ? passable : shut }
}

function tooMany(root: string, count: number): Failure {
  return new Failure({
    kind: "confinement",
    code: "ACODE-EXE-010",
    message: `${count} protected files and directories would have to be masked one by one, at most ${mountsMax} can be`,
    where: root,
    hint: "run it in a workspace that holds fewer of them, or open their directory with --writable DIRECTORY",
  })
}

/** Bubblewrap reads at most 9000 arguments and looks through all mounts for each new one. */
const mountsMax = 1500
