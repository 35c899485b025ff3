import { realpathSync } from "node:fs"
import { dirname, join, relative, resolve, sep } from "node:path"
import { type GitVariable, readGitConfig } from "../../base/git-config.ts"
import { readSmall } from "../../base/small-file.ts"
import { gitConfigFiles, gitDirectoryOf, isLayout } from "./git-repository.ts"
import { isWithin } from "./paths.ts"
import { entriesOf, statsOf } from "./tree-rules.ts"

export interface GitPlaces {
  /** The workspace. */
  readonly root: string
  readonly home: string
  /** The environment acode itself was started with. */
  readonly environment: Readonly<Record<string, string>>
}

/**
 * Returns the paths of the workspace, relative, that the configuration of git names: directories of hooks, further
 * configuration, programs. A command that writes there decides what the next git of a person runs. Configuration is
 * read for the given repositories, for the one the workspace lies in, and of the user and the system. The
 * workspace counts as a bare repository only if it was one before the command.
 */
export function namedByGit(
  places: GitPlaces,
  repositories: Iterable<string>,
  wasNoRepository = false,
): NamedByGit {
  const search: Search = { ...places, found: new Set(), directories: new Set(), files: new Set() }
  const top = topLevelOf(places.root)
  const base = top ?? places.root
  for (const file of userFiles(places)) readFile(search, file, base)
  if (top !== null) readRepository(search, join(top, ".git"), top)
  for (const path of repositories) {
    const repository = join(places.root, path)
    readRepository(search, repository, isDotGit(path) ? dirname(repository) : repository)
  }
  if (!wasNoRepository) noteBareRoot(search)
  return { paths: [...search.found], directories: [...search.directories] }
}

export interface NamedByGit {
  readonly paths: readonly string[]
  /** The paths that are directories where they exist. */
  readonly directories: readonly string[]
}

interface Search extends GitPlaces {
  readonly found: Set<string>
  readonly directories: Set<string>
  /** Files that were read, so that one that includes itself is read once. */
  readonly files: Set<string>
}

function isDotGit(path: string): boolean {
  return path === ".git" || path.endsWith("/.git")
}

/** The nearest directory that holds `.git`, the root itself or above it. */
function topLevelOf(root: string): string | null {
  for (let directory = root; ; directory = dirname(directory)) {
    if (statsOf(join(directory, ".git")) !== null) return directory
    if (dirname(directory) === directory) return null
  }
}

function userFiles({ home, environment }: GitPlaces): readonly string[] {
  const named = environment["GIT_CONFIG_GLOBAL"]
  const xdg = environment["XDG_CONFIG_HOME"] ?? join(home, ".config")
  return [
    "/etc/gitconfig",
    ...(named === undefined ? [join(xdg, "git/config"), join(home, ".gitconfig")] : [named]),
  ]
}

/** Git runs programs in the directory of the checkout; relative names in a configuration start there. */
function readRepository(search: Search, path: string, base: string): void {
  const directory = gitDirectoryOf(path)
  if (directory === null) return
  const common = readSmall(join(directory, "commondir"))?.trim()
  const directories = common === undefined ? [directory] : [directory, resolve(directory, common)]
  for (const each of directories) for (const name of gitConfigFiles) readFile(search, join(each, name), base)
}

function readFile(search: Search, file: string, base: string): void {
  if (search.files.has(file) || search.files.size >= filesMax) return
  search.files.add(file)
  const isLink = statsOf(file)?.isSymbolicLink() === true
  const text = readSmall(isLink ? realOf(file) : file)
  for (const variable of readGitConfig(text ?? "")) noteVariable(search, variable, file, base)
}

function noteVariable(search: Search, variable: GitVariable, file: string, base: string): void {
  const { section, subsection, name, value } = variable
  if (value === null || value === "") return
  const key = `${section}.${name}`
  if (name === "path" && (section === "include" || section === "includeif")) {
    const path = fromHome(search, value, dirname(file))
    note(search, path)
    readFile(search, path, base)
  } else if (key === "core.hookspath") noteHooks(search, fromHome(search, value, base))
  else if (pathKeys.has(key)) note(search, fromHome(search, value, base))
  else if (!plainKeys.test(subsection === null ? key : `${section}.*.${name}`))
    noteWords(search, value, base, commandKeys.test(key))
}

const pathKeys: ReadonlySet<string> = new Set(["core.attributesfile", "init.templatedir"])
/** Matches keys whose values git runs. A program that does not exist yet counts as well. */
const commandKeys =
  /^(alias|pager|man|browser|web|mergetool|difftool|guitool|hook|instaweb)\.|\.(command|cmd|driver|textconv|clean|smudge|process|program|helper|tunnel|fsmonitor|editor|pager|sshcommand|askpass|gitproxy|external|difffilter|uploadpack|receivepack|packobjectshook|alternaterefscommand|sendmailcmd|tocmd|cccmd|headercmd|smtpserver|update)$/
/** Names, addresses and lists of files that are only read. */
const plainKeys =
  /^(user|author|committer|color|advice|url|http|log|format|gitflow|branch|submodule\.\*\.url$|remote\.\*\.(url|pushurl|fetch|push)$|core\.(excludesfile|worktree)$|commit\.template$|mailmap\.|blame\.|diff\.orderfile$|fsck\.)/

/** Each word of a command that is a file of the workspace, or names one by a path. */
function noteWords(search: Search, value: string, base: string, isCommand: boolean): void {
  for (const word of value.split(/[\s;|&(){}<>"'`$=!]+/)) {
    const hasSlash = word.includes("/")
    if (word === "" || (!hasSlash && !isCommand)) continue
    const path = fromHome(search, word, base)
    const found = statsOf(realOf(path))
    if (found === null ? hasSlash && isCommand : found.isFile()) note(search, path)
  }
}

/** Hooks may lie among other files: in the top directory only their own names are taken. */
function noteHooks(search: Search, path: string): void {
  if (isWithin(search.root, path)) for (const name of hookNames) note(search, join(search.root, name))
  else note(search, path, search.directories)
}

const hookNames =
  "applypatch-msg pre-applypatch post-applypatch pre-commit pre-merge-commit prepare-commit-msg commit-msg post-commit pre-rebase post-checkout post-merge pre-push pre-receive update proc-receive post-receive post-update reference-transaction push-to-checkout pre-auto-gc post-rewrite sendemail-validate fsmonitor-watchman post-index-change".split(
    " ",
  )

/** A workspace that is itself a bare repository has what git runs in its top directory. */
function noteBareRoot(search: Search): void {
  const entries = entriesOf(search.root)
  if (entries === "unreadable" || !isLayout(entries)) return
  for (const name of ["HEAD", "commondir", "objects", "refs", "config", "config.worktree", "hooks", "info"])
    note(search, join(search.root, name))
  readRepository(search, search.root, search.root)
}

/** The path as it is named, and where it leads: each could be replaced. */
function note(search: Search, path: string, also?: Set<string>): void {
  for (const each of [path, realOf(path)]) {
    const inside = relative(search.root, each)
    // The content of a repository is protected with it.
    if (inside.split(sep).includes(".git")) continue
    if (inside === "" || inside === ".." || inside.startsWith(`..${sep}`) || search.found.size >= namedMax)
      continue
    search.found.add(inside)
    also?.add(inside)
  }
}

function fromHome({ home }: GitPlaces, value: string, base: string): string {
  return value.startsWith("~/") ? join(home, value.slice(2)) : resolve(base, value)
}

/** Resolves the existing part of a path, and keeps the rest as it is written. */
function realOf(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    // The end of it does not exist, or may not be inspected.
    const parent = dirname(path)
    return parent === path ? path : join(realOf(parent), path.slice(parent.length))
  }
}

const filesMax = 100
const namedMax = 300
