import { readlinkSync } from "node:fs"
import { dirname, resolve } from "node:path"
import { type GitVariable, readGitConfig } from "../../base/git-config.ts"
import { type NamedEntry, systemPath } from "../../base/path-bytes.ts"
import { readSmall } from "../../base/small-file.ts"
import { entriesOf, statsOf } from "./tree-rules.ts"

/**
 * Returns whether git treats a directory as a repository whatever its name is. Git looks for `HEAD`, `objects` and
 * `refs`, the last two also where `commondir` says, and a link counts as what it may point to.
 */
export function isLayout(entries: readonly NamedEntry[]): boolean {
  let found = 0
  for (const entry of entries) {
    const { name } = entry
    // Almost no name is inspected twice: this is asked of every directory. Some file systems know no case.
    if (name.length !== 4 && name.length !== 7 && name.length !== 9) continue
    found |= layoutParts.get(name.toLowerCase()) ?? 0
    if ((found & head) !== 0 && name.toLowerCase() === "head" && entry.isDirectory()) found &= ~head
  }
  return (found & head) !== 0 && ((found & commonDirectory) !== 0 || (found & both) === both)
}

/**
 * Returns the directory above a path that is a repository by its content, or would be with that path; else null. The
 * parts of a workspace that is a repository itself are among the paths that `namedByGit` returns.
 */
export function repositoryAround(root: string, path: string): string | null {
  const parts = path.split("/")
  const top = entriesOf(root)
  const isTopMade = top !== "unreadable" && !isLayout(top)
  if (isTopMade && isLayout([...top, namedEntry(parts[0] ?? "", parts.length > 1)])) return "."
  for (let depth = 1; depth < parts.length; depth++) {
    const directory = parts.slice(0, depth).join("/")
    const found = entriesOf(`${root}/${directory}`)
    const added = namedEntry(parts[depth] ?? "", depth < parts.length - 1)
    if (found !== "unreadable" && isLayout([...found, added])) return directory
  }
  return null
}

function namedEntry(name: string, isDirectory: boolean): NamedEntry {
  return { name, isFile: () => !isDirectory, isDirectory: () => isDirectory, isSymbolicLink: () => false }
}

const head = 1
const commonDirectory = 2
const both = 12

const layoutParts: ReadonlyMap<string, number> = new Map([
  ["head", head],
  ["commondir", commonDirectory],
  ["refs", 4],
  ["objects", 8],
])

/** The names by which a directory is a repository, and by which git would run something there. */
export function isLayoutName(name: string): boolean {
  return layoutNames.has(name.toLowerCase())
}

export const requiredLayoutNames: ReadonlySet<string> = new Set(["head", "objects", "refs", "commondir"])
const layoutNames: ReadonlySet<string> = new Set([
  ...requiredLayoutNames,
  ...[
    "branches",
    "config",
    "config.worktree",
    "description",
    "fetch_head",
    "gitdir",
    "hooks",
    "index",
    "info",
  ],
  ...["logs", "modules", "orig_head", "packed-refs", "shallow", "worktrees"],
])

/** Changes with everything that decides what git runs in a repository, and with nothing that git itself does there. */
export function repositoryMark(path: string): string {
  const marked = ["", "/config", "/config.worktree", "/commondir", "/hooks"].map(name => {
    const found = statsOf(`${path}${name}`)
    // Git writes to the directory itself all the time.
    return found === null ? "-" : `${found.ino}:${found.isDirectory() ? "" : found.ctimeMs}`
  })
  const hooks = entriesOf(`${path}/hooks`)
  const names = hooks === "unreadable" ? [] : hooks.map(({ name }) => name).sort()
  const each = names.map(name => `${name}:${statsOf(`${path}/hooks/${name}`)?.ctimeMs ?? 0}`)
  return [...marked, ...each].join("|")
}

/**
 * Returns whether a repository would run a program as soon as a person uses git in it: it has a hook, or a setting that
 * is not known to be harmless. What cannot be read counts as such.
 */
export function isArmed(path: string): boolean {
  const directory = gitDirectoryOf(path)
  return (
    directory === null ||
    hasHook(directory) ||
    gitConfigFiles.some(name => hasArmedConfig(`${directory}/${name}`))
  )
}

export const gitConfigFiles = ["config", "config.worktree"] as const

/** Returns the directory a `.git` leads to: itself, or the target of its file or link; null where there is none. */
export function gitDirectoryOf(path: string): string | null {
  const found = statsOf(path)
  if (found?.isDirectory()) return path
  try {
    if (found?.isSymbolicLink()) return resolve(dirname(path), readlinkSync(systemPath(path), "utf8"))
  } catch {
    // It is gone, and what took its place is not known.
    return null
  }
  const pointer = /^gitdir: (.+?)[\r\n]*$/.exec(readSmall(path) ?? "")?.[1]
  return pointer === undefined ? null : resolve(dirname(path), pointer)
}

function hasHook(directory: string): boolean {
  const hooks = statsOf(`${directory}/hooks`)
  if (hooks === null) return false
  const entries = hooks.isDirectory() ? entriesOf(`${directory}/hooks`) : "unreadable"
  return entries === "unreadable" || entries.some(({ name }) => !name.endsWith(".sample"))
}

function hasArmedConfig(path: string): boolean {
  if (statsOf(path) === null) return false
  const text = readSmall(path)
  return text === null || readGitConfig(text).some(variable => !isHarmless(variable))
}

/** Returns whether git itself writes a setting when it works in a repository, or it is a name of a person. */
function isHarmless({ section, subsection, name }: GitVariable): boolean {
  const known = harmless[section]
  if (known === undefined) return harmlessSections.has(section)
  return (subsection === null || withSubsections.has(section)) && known.has(name)
}

const harmlessSections: ReadonlySet<string> = new Set([
  "author",
  "committer",
  "user",
  "advice",
  "color",
  "gc",
])
const withSubsections: ReadonlySet<string> = new Set(["branch", "remote", "submodule"])
const words = (text: string): ReadonlySet<string> => new Set(text.split(" "))
const harmless: Readonly<Record<string, ReadonlySet<string>>> = {
  core: words(
    "repositoryformatversion filemode bare logallrefupdates ignorecase precomposeunicode symlinks autocrlf eol safecrlf " +
      "quotepath compression abbrev sharedrepository worktree sparsecheckout sparsecheckoutcone untrackedcache",
  ),
  extensions: words("objectformat partialclone worktreeconfig refstorage relativeworktrees"),
  remote: words("url pushurl fetch mirror tagopt promisor partialclonefilter prune"),
  branch: words("remote merge rebase pushremote"),
  submodule: words("url active"),
  init: words("defaultbranch"),
  commit: words("gpgsign"),
  tag: words("gpgsign"),
  push: words("default autosetupremote"),
  pull: words("rebase ff"),
  merge: words("ff"),
  maintenance: words("auto"),
  receive: words("denycurrentbranch denynonfastforwards"),
}
