import { lstatSync } from "node:fs"
import { join, relative } from "node:path"
import { parentOf } from "../../base/path-names.ts"
import { readSmall } from "../../base/small-file.ts"
import type { IgnoreTexts } from "../contract.ts"
import { type GitPlace, gitPlace, readGitIndex } from "../git.ts"
import { readSubmodulePaths, readTrackedPaths } from "./git-index.ts"
import { addIgnoreFile, type IgnoreRules, isIgnored } from "./ignore.ts"

/** What git says about the files of a workspace. The same object as long as git would say the same. */
export interface GitRules {
  /** The rules that hold in the root itself, from `.git/info/exclude` and the ignore files above the root. */
  readonly top: IgnoreRules
  /** Where the root is below the top level of git: the paths of the rules start there. Ends in a slash, or empty. */
  readonly prefix: string
  readonly tracked: TrackedPaths
  /** What the ignore file of a directory says; null when it has none. A symlink is not followed, as git does not. */
  readonly textIn: (prefix: string, absolute: string) => string | null
  /** What `top` was made from: directory and text. */
  readonly above: IgnoreTexts["above"]
  /** The texts it was made from. */
  readonly source: string
}

export interface TrackedPaths {
  hasFile(path: string): boolean
  /** Whether anything below a directory is tracked. */
  hasBelow(directory: string): boolean
}

/** Null outside git, and where git would ignore the root itself: a tree without files proves nothing. */
export function readGitRules(root: string, previous: GitRules | null): GitRules | null {
  const place = gitPlace(root)
  if (place === null) return null
  const below = relative(place.topLevel, root)
  const names = below === "" ? [] : below.split("/")
  const exclude = readSmall(join(place.commonDirectory, "info/exclude")) ?? ""
  const above: (readonly [string, string])[] = [["", exclude]]
  for (const depth of names.keys()) {
    const directory = names.slice(0, depth).join("/")
    above.push([directory, textOf(join(place.topLevel, directory)) ?? ""])
  }
  const source = JSON.stringify([place.gitDirectory, above, indexSignature(place)])
  if (previous?.source === source) return previous
  const top = topOf(above, names)
  if (top === null) return null
  const prefix = below === "" ? "" : `${below}/`
  return {
    top,
    prefix,
    tracked: lazilyTracked(place),
    textIn: (_, directory) => textOf(directory),
    above,
    source,
  }
}

/** Null where git would ignore the root itself. */
function topOf(above: IgnoreTexts["above"], names: readonly string[]): IgnoreRules | null {
  let top: IgnoreRules | null = null
  for (const [index, [directory, content]] of above.entries()) {
    top = addIgnoreFile(top, directory, content)
    // The first one is for the whole repository, the others for one directory each.
    if (index > 0 && isIgnored(top, names.slice(0, index).join("/"), true)) return null
  }
  return top
}

/** The rules as they were, whatever is written in the ignore files now. */
export function recordedRules({ prefix, above, files, tracked }: IgnoreTexts): GitRules | null {
  const top = topOf(above, prefix === "" ? [] : prefix.slice(0, -1).split("/"))
  if (top === null) return null
  const texts = new Map(files)
  const known = trackedPaths(new Set(tracked.map(path => `${prefix}${path}`)))
  return { top, prefix, tracked: known, textIn: directory => texts.get(directory) ?? null, above, source: "" }
}

function textOf(directory: string): string | null {
  return readSmall(join(directory, ".gitignore"))
}

/** The rules in a directory: those above it and its own file. A symlink is not followed, as git does not. */
export function withIgnoreFile(above: IgnoreRules, base: string, directory: string): IgnoreRules {
  const content = textOf(directory)
  return content === null ? above : addIgnoreFile(above, base, content)
}

function indexSignature(place: GitPlace): string {
  const stat = lstatSync(join(place.gitDirectory, "index"), { throwIfNoEntry: false })
  return stat === undefined ? "none" : `${stat.ino}:${stat.size}:${stat.mtimeMs}:${stat.ctimeMs}`
}

/** Only ignored paths are asked about, so most trees never need the index. */
function lazilyTracked(place: GitPlace): TrackedPaths {
  let loaded: TrackedPaths | null = null
  const load = () => {
    loaded ??= loadTracked(place)
    return loaded
  }
  return { hasFile: path => load().hasFile(path), hasBelow: directory => load().hasBelow(directory) }
}

function loadTracked(place: GitPlace): TrackedPaths {
  const { bytes, hashBytes } = readGitIndex(place)
  return trackedPaths(readTrackedPaths(bytes, hashBytes))
}

/** The paths of submodules below a root, whether or not their files are there. */
export function submodulePaths(root: string): readonly string[] {
  const place = gitPlace(root)
  if (place === null) return []
  const { bytes, hashBytes } = readGitIndex(place)
  const below = relative(place.topLevel, root)
  return readSubmodulePaths(bytes, hashBytes).flatMap(path => {
    if (below === "") return [path]
    return path.startsWith(`${below}/`) ? [path.slice(below.length + 1)] : []
  })
}

function trackedPaths(files: ReadonlySet<string>): TrackedPaths {
  const directories = new Set<string>()
  for (const file of files)
    for (let parent = parentOf(file); parent !== "." && !directories.has(parent); parent = parentOf(parent))
      directories.add(parent)
  return { hasFile: path => files.has(path), hasBelow: directory => directories.has(directory) }
}
