import { createHash } from "node:crypto"
import { lstatSync, readdirSync, readFileSync, readlinkSync } from "node:fs"
import { join } from "node:path"

/** One file or symlink, whole. A symlink has no mode of its own; its content is where it points. */
export interface Entry {
  readonly kind: "file" | "symlink"
  readonly mode: number
  readonly content: string
}

export type FileTree = ReadonlyMap<string, Entry>

/**
 * Reads the files of a workspace, hidden and temporary ones included; without `.agent` and without empty directories.
 */
export function readFileTree(root: string): FileTree {
  const found = new Map<string, Entry>()
  const walk = (directory: string): void => {
    for (const name of readdirSync(join(root, directory)).sort()) {
      const path = directory === "" ? name : `${directory}/${name}`
      if (path === ".agent") continue
      const stat = lstatSync(join(root, path))
      if (stat.isDirectory()) walk(path)
      else if (stat.isSymbolicLink())
        found.set(path, { kind: "symlink", mode: 0, content: readlinkSync(join(root, path)) })
      else
        found.set(path, {
          kind: "file",
          mode: stat.mode & 0o7777,
          content: readFileSync(join(root, path), "latin1"),
        })
    }
  }
  walk("")
  return found
}

/** Directories with nothing in them, which `readFileTree` leaves out. */
export function emptyDirectories(root: string): string[] {
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isDirectory())
    .map(entry => join(entry.parentPath, entry.name))
    .filter(directory => readdirSync(directory).length === 0)
}

/** A difference as the log records it. */
export interface PathChange {
  readonly path: string
  readonly before: string | null
  readonly after: string | null
}

/** Every path that differs, also when only its mode does, ordered by name. */
export function treeChanges(before: FileTree, after: FileTree): PathChange[] {
  const paths = [...new Set([...before.keys(), ...after.keys()])].sort()
  return paths
    .filter(path => !isSame(before.get(path), after.get(path)))
    .map(path => ({ path, before: contentOf(before.get(path)), after: contentOf(after.get(path)) }))
}

function isSame(a: Entry | undefined, b: Entry | undefined): boolean {
  return a?.kind === b?.kind && a?.mode === b?.mode && a?.content === b?.content
}

function contentOf(entry: Entry | undefined): string | null {
  if (entry === undefined) return null
  if (entry.kind === "symlink") return `link:${entry.content}`
  return createHash("sha256").update(entry.content, "latin1").digest("hex")
}
