import { lstatSync, type Stats } from "node:fs"
import { errnoOf } from "../../base/assert.ts"
import { listEntries, type NamedEntry, systemPath } from "../../base/path-bytes.ts"
import type { Protection, ProtectionLevel } from "../contract.ts"
import { isWithin } from "./paths.ts"

/** The rules of a walk through the workspace: what it finds, and what it skips. Paths are relative, with `/`. */
export interface TreeRules {
  readonly root: string
  readonly protection: Protection
  /** Absolute paths a person opened: nothing at or below them is protected for this command. */
  readonly lifted: readonly string[]
  /** Absolute paths that are masked whole by other means. */
  readonly excluded: readonly string[]
  /** Names of directories whose content a package manager wrote: only repositories are looked for, at any depth. */
  readonly dependencyDirectories: readonly string[]
  /** Paths that a configuration of git names: nothing may be written there, whatever their names are. */
  readonly named: readonly string[]
}

export function isLifted(rules: TreeRules, relative: string): boolean {
  return rules.lifted.length > 0 && rules.lifted.some(path => isWithin(absolute(rules, relative), path))
}

export function isExcluded(rules: TreeRules, relative: string): boolean {
  return rules.excluded.some(path => path === absolute(rules, relative))
}

/** A repository's own files are protected whole by their top directory: there is nothing to find inside. */
export function isClosedName(name: string): boolean {
  return name === ".git" || name === ".agent"
}

/** Returns whether a path is a dependency directory or lies in one. */
export function isDependency(rules: TreeRules, relative: string): boolean {
  const { dependencyDirectories } = rules
  return (
    dependencyDirectories.length > 0 && relative.split("/").some(part => dependencyDirectories.includes(part))
  )
}

/** Returns the level of a path. In a dependency directory only repositories count: packages have names of all kinds. */
export function levelOf(
  rules: TreeRules,
  relative: string,
  kind: "file" | "directory",
  inDependency: boolean,
): ProtectionLevel {
  if (!inDependency) return rules.protection.classify(relative, kind)
  return isRepositoryName(relative.slice(relative.lastIndexOf("/") + 1)) ? "noWrite" : "open"
}

/** Returns whether git treats a name as a repository. Some file systems ignore case. */
export function isRepositoryName(name: string): boolean {
  return name.length === 4 && name.toLowerCase() === ".git"
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
  /** The time of the last change of the inode, which no program can set. */
  readonly changedMs: number
  readonly mode: number
}

/** Returns the stamp of a path; null where nothing is, or nothing this user may inspect. */
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

/** Returns the stats of a path; null where nothing is, or nothing this user may inspect. */
export function statsOf(path: string): Stats | null {
  try {
    return lstatSync(systemPath(path), { throwIfNoEntry: false }) ?? null
  } catch {
    // A parent directory may not be entered; the callers treat what they cannot read as hidden or as new.
    return null
  }
}

export function isSameInode(a: Stamp | null | undefined, b: Stamp | null | undefined): boolean {
  return a != null && b != null && a.inode === b.inode && a.device === b.device && a.kind === b.kind
}

/** The entries of a directory; "unreadable" when it is there and may not be looked into, none when it is gone. */
export function entriesOf(path: string): readonly NamedEntry[] | "unreadable" {
  try {
    return listEntries(path)
  } catch (error) {
    const code = errnoOf(error)
    return code === "ENOENT" || code === "ENOTDIR" ? [] : "unreadable"
  }
}

/** A change within the clock's last tick before a look leaves the same time behind as one before it. */
export const clockTickMs = 50
