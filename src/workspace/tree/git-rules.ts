import { lstatSync } from "node:fs"
import { join, relative } from "node:path"
import { parentOf } from "../../base/path-names.ts"
import { type GitPlace, gitPlace, readSmall, readSmallBytes } from "../git.ts"
import { readTrackedPaths } from "./git-index.ts"
import { addIgnoreFile, type IgnoreRules, isIgnored } from "./ignore.ts"

/** What git says about the files of a workspace. The same object as long as git would say the same. */
export interface GitRules {
  /** The rules that hold in the root itself, from `.git/info/exclude` and the ignore files above the root. */
  readonly top: IgnoreRules
  /** Where the root is below the top level of git: the paths of the rules start there. Ends in a slash, or empty. */
  readonly prefix: string
  readonly tracked: TrackedPaths
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
  const above = names.map((_, depth) => {
    const directory = names.slice(0, depth).join("/")
    return { directory, content: readSmall(join(place.topLevel, directory, ".gitignore")) ?? "" }
  })
  const source = JSON.stringify([place.gitDirectory, exclude, above, indexSignature(place)])
  if (previous?.source === source) return previous
  let top = addIgnoreFile(null, "", exclude)
  for (const [depth, { directory, content }] of above.entries()) {
    top = addIgnoreFile(top, directory, content)
    if (isIgnored(top, names.slice(0, depth + 1).join("/"), true)) return null
  }
  return { top, prefix: below === "" ? "" : `${below}/`, tracked: lazilyTracked(place), source }
}

/** The rules in a directory: those above it and its own file. A symlink is not followed, as git does not. */
export function withIgnoreFile(above: IgnoreRules, base: string, directory: string): IgnoreRules {
  const content = readSmall(join(directory, ".gitignore"))
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

const indexBytesMax = 256 * 1024 * 1024

function loadTracked(place: GitPlace): TrackedPaths {
  const config = readSmall(join(place.commonDirectory, "config")) ?? ""
  const hashBytes = /^\s*objectformat\s*=\s*sha256\s*$/im.test(config) ? 32 : 20
  const index = readSmallBytes(join(place.gitDirectory, "index"), indexBytesMax) ?? Buffer.alloc(0)
  const files = readTrackedPaths(index, hashBytes)
  const directories = new Set<string>()
  for (const file of files)
    for (let parent = parentOf(file); parent !== "." && !directories.has(parent); parent = parentOf(parent))
      directories.add(parent)
  return { hasFile: path => files.has(path), hasBelow: directory => directories.has(directory) }
}
