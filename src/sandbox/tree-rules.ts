import type { Dirent, Stats } from "node:fs"
import { lstatSync, readdirSync } from "node:fs"
import { errnoOf } from "../base/assert.ts"
import type { Protection } from "./contract.ts"
import { isWithin } from "./paths.ts"

/** What a walk through the workspace looks for and where it does not go. Paths inside are relative, with `/`. */
export interface TreeRules {
  readonly root: string
  readonly protection: Protection
  /** Absolute paths a person opened: nothing at or below them is protected for this command. */
  readonly lifted: readonly string[]
  /** Absolute paths that are masked whole by other means. */
  readonly excluded: readonly string[]
  /** Names of directories whose content a package manager wrote: not looked into, at any depth. */
  readonly dependencyDirectories: readonly string[]
}

export function isLifted(rules: TreeRules, relative: string): boolean {
  return rules.lifted.length > 0 && rules.lifted.some(path => isWithin(absolute(rules, relative), path))
}

export function isExcluded(rules: TreeRules, relative: string): boolean {
  return rules.excluded.some(path => path === absolute(rules, relative))
}

/** A repository's own files are protected whole by their top directory: there is nothing to find inside. */
export function isClosedName(rules: TreeRules, name: string): boolean {
  return name === ".git" || name === ".agent" || rules.dependencyDirectories.includes(name)
}

export function absolute(rules: TreeRules, relative: string): string {
  return relative === "" ? rules.root : `${rules.root}/${relative}`
}

export function joined(directory: string, name: string): string {
  return directory === "" ? name : `${directory}/${name}`
}

export interface Stamp {
  readonly device: number
  readonly inode: number
  readonly kind: "file" | "directory" | "link"
  /** When the inode last changed, which no program can set back. */
  readonly changedMs: number
  readonly mode: number
}

/** Null when there is nothing, or nothing we may look at. */
export function stampOf(path: string): Stamp | null {
  const found = statsOf(path)
  if (found === null) return null
  return {
    device: found.dev,
    inode: found.ino,
    kind: found.isDirectory() ? "directory" : found.isSymbolicLink() ? "link" : "file",
    changedMs: found.ctimeMs,
    mode: found.mode & 0o7777,
  }
}

function statsOf(path: string): Stats | null {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) ?? null
  } catch {
    // A directory on the way may not be entered; the callers treat what they cannot see as hidden or as new.
    return null
  }
}

export function isSame(a: Stamp | null | undefined, b: Stamp | null | undefined): boolean {
  return a != null && b != null && a.inode === b.inode && a.device === b.device && a.kind === b.kind
}

/** The entries of a directory; "unreadable" when it is there and may not be looked into, none when it is gone. */
export function entriesOf(path: string): readonly Dirent[] | "unreadable" {
  try {
    return readdirSync(path, { withFileTypes: true })
  } catch (error) {
    const code = errnoOf(error)
    return code === "ENOENT" || code === "ENOTDIR" ? [] : "unreadable"
  }
}
