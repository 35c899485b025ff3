import { existsSync } from "node:fs"
import { dirname, join, relative } from "node:path"
import { toIso } from "../../base/clock.ts"
import { pathBytes } from "../../base/path-bytes.ts"
import type { ProtectedNames } from "../../domain/events/command-events.ts"
import type { CleanUpReport, Confinement } from "../contract.ts"
import { executionTag } from "../process/survivors.ts"
import type { ConfinedSettings } from "../settings.ts"
import { askedLinks, changedAsked, protectionFor, restoreLinks } from "./asked-names.ts"
import { namedByGit } from "./git-named.ts"
import { isArmed, repositoryMark } from "./git-repository.ts"
import { isWithin } from "./paths.ts"
import { holdPlaceholders, isPlaceholder, type Placeholders } from "./placeholders.ts"
import { type Moved, moveToQuarantine } from "./quarantine.ts"
import { type Before, beforeOf, clearSetId, findAppeared } from "./scan.ts"
import { absolute, entriesOf, statsOf, type TreeRules } from "./tree-rules.ts"
import { type KnownListings, type TreeSnapshot, takeSnapshot, withNamed } from "./tree-snapshot.ts"

/** The protected names of a workspace, from before a command until after it. */
export interface ProtectedTree {
  readonly snapshot: TreeSnapshot
  /** The names for the next acode, where this one is killed. */
  readonly names: ProtectedNames
  /**
   * Removes, while the command runs, what git would run for a person. A command that makes it again and again is ended
   * by `stop`: in between a person is in danger.
   */
  watch(stop: () => void): void
  wasStopped(): boolean
  /** Restores the workspace after the command, or without one, and moves away what appeared. Never throws. */
  end(hasRun: boolean): Promise<CleanUpReport>
}

export type TreeSettings = Pick<
  ConfinedSettings,
  | ("clock" | "home" | "hostEnvironment" | "protection" | "stateDirectories" | "dependencyDirectories")
  | ("quarantineDirectory" | "submodules")
>

export async function protectTree(
  settings: TreeSettings,
  { workspaceRoot: root, writable, environment, asked, layers }: Confinement,
  known: KnownListings,
): Promise<ProtectedTree> {
  const protection = protectionFor(settings.protection, asked)
  // Cached listings are valid for commands without consent of their own.
  const listings = asked === null || asked.length === 0 ? known : new Map()
  const own = namedByGit(gitPlaces(settings, root), [])
  const { held, opened, submodules } = heldNames(settings, root, writable, own.directories)
  // What a command makes in a layer is not in the workspace: policy decides about it when the layer is merged.
  const placeholders = await holdPlaceholders(root, layers === null ? held : [], opened)
  try {
    const open = rulesOf({ ...settings, protection }, root, writable, [])
    const found = await takeSnapshot(open, settings.clock.now(), listings)
    const nested = repositoriesIn(found).filter(path => path !== ".git")
    const others = nested.length === 0 ? [] : namedByGit(gitPlaces(settings, root), nested).paths
    const rules = { ...open, named: [...new Set([...own.paths, ...others, ...submodules])] }
    const snapshot = withNamed(found, rules)
    const quarantine = quarantineOf(settings, root, environment[executionTag] ?? "")
    const names = namesOf(snapshot, rules, asked)
    if (layers !== null) return untouchedTree(snapshot, names, placeholders)
    return treeOf({ rules, snapshot, names, placeholders, held, quarantine })
  } catch (error) {
    placeholders.release()
    throw error
  }
}

/**
 * Completes, for a command whose acode was killed, what that acode would have done at its end. Nothing of the command
 * may run any more. What a person made under a protected name since then goes to quarantine as well: nothing shows
 * whose it is.
 */
export async function sweepTree(
  settings: TreeSettings,
  root: string,
  { takenAtMs, digests, opened, asked }: ProtectedNames,
  executionId: string,
): Promise<CleanUpReport> {
  const open = rulesOf(
    { ...settings, protection: protectionFor(settings.protection, asked) },
    root,
    opened.map(path => join(root, path)),
    [],
  )
  const known = new Set(digests.split(" "))
  const hadName = (path: string) =>
    known.has(digestOf(path)) ||
    (known.has(digestOf(packaged(path))) &&
      known.has(digestOf(packaged(path, repositoryMark(absolute(open, path))))))
  const found = await takeSnapshot(open, settings.clock.now())
  const repositories = repositoriesIn(found).filter(hadName)
  const { paths } = namedByGit(gitPlaces(settings, root), repositories, !hadName("HEAD"))
  const rules = { ...open, named: paths }
  const before = { takenAtMs, directories: new Map(), packaged: new Map(), hadName, isWhole: true } as const
  return await moveAppeared(rules, before, quarantineOf(settings, root, executionId), isTopPlaceholder(root))
}

/** Returns the names of a snapshot for the record, as digests that show no name and do not look like secrets. */
function namesOf(
  snapshot: TreeSnapshot,
  { root, lifted }: TreeRules,
  asked: Confinement["asked"],
): ProtectedNames {
  const names = [
    ...snapshot.protectedEntries.keys(),
    ...[...snapshot.packaged].flatMap(([path, mark]) => [packaged(path), packaged(path, mark)]),
  ]
  return {
    takenAtMs: snapshot.takenAtMs,
    digests: names.map(digestOf).join(" "),
    opened: lifted.filter(path => isWithin(path, root)).map(path => relative(root, path)),
    asked: asked === null ? null : [...asked],
  }
}

function packaged(path: string, mark = ""): string {
  return `packaged\0${path}\0${mark}`
}

function digestOf(text: string): string {
  return new Bun.CryptoHasher("sha256").update(pathBytes(text)).digest("hex").slice(0, 20)
}

interface TreeDeps {
  readonly rules: TreeRules
  readonly snapshot: TreeSnapshot
  readonly names: ProtectedNames
  readonly placeholders: Placeholders
  readonly held: readonly string[]
  readonly quarantine: Quarantine
}

function treeOf({ rules, snapshot, names, placeholders, held, quarantine }: TreeDeps): ProtectedTree {
  const before = beforeOf(snapshot)
  const links = askedLinks(rules, snapshot)
  const moved: string[] = []
  let watching: Watching | null = null
  let rounds = 0
  const takeArmed = async (stop: () => void) => {
    const { forGit } = await findAppeared(rules, before, { opensShut: false })
    const armed = forGit.filter(
      ({ path, repository }) =>
        !isPlaceholder(absolute(rules, path)) &&
        (repository === null || isArmed(absolute(rules, repository))),
    )
    if (armed.length === 0) return
    moved.push(...quarantine.take(armed.map(({ path }) => path)).moved)
    rounds++
    if (rounds === roundsMax) stop()
  }
  const isTop = isTopPlaceholder(rules.root)
  const isOurs = (name: string) => held.includes(name) && isPlaceholder(absolute(rules, name))
  return {
    snapshot,
    names,
    watch: stop => {
      watching ??= repeatedly(() => takeArmed(stop))
    },
    wasStopped: () => rounds >= roundsMax,
    end: async hasRun => {
      try {
        await watching?.stop()
        placeholders.release()
        if (!hasRun) return nothing
        const report = await moveAppeared(rules, before, quarantine, name => isTop(name) || isOurs(name))
        restoreLinks(rules, links)
        const asked = [...changedAsked(rules, snapshot), ...(report.asked ?? [])].sort()
        return {
          ...report,
          quarantined: [...moved, ...report.quarantined],
          quarantine: quarantine.place(),
          ...(asked.length === 0 ? {} : { asked }),
        }
      } catch {
        // The report names what could not be scanned, and the next scan finds what is left.
        placeholders.release()
        return { quarantined: moved, quarantine: quarantine.place(), left: ["."] }
      }
    },
  }
}

/** The tree below a layer: the command cannot write in it, so a name that appears there is another program's. */
function untouchedTree(
  snapshot: TreeSnapshot,
  names: ProtectedNames,
  placeholders: Placeholders,
): ProtectedTree {
  return {
    snapshot,
    names,
    watch: () => undefined,
    wasStopped: () => false,
    end: async () => {
      placeholders.release()
      return nothing
    },
  }
}

const nothing: CleanUpReport = { quarantined: [], quarantine: null }

async function moveAppeared(
  rules: TreeRules,
  before: Before,
  quarantine: Quarantine,
  isHeld: (name: string) => boolean,
): Promise<CleanUpReport> {
  const appeared = await findAppeared(rules, before)
  try {
    for (const path of appeared.setId) clearSetId(absolute(rules, path))
    const isAsked = (path: string) => rules.protection.classify(path) === "asked"
    const asked = appeared.names.filter(isAsked)
    const names = appeared.names.filter(name => !isHeld(name) && !isAsked(name))
    const { moved, left } = quarantine.take(names)
    return {
      quarantined: moved,
      quarantine: quarantine.place(),
      ...(left.length === 0 ? {} : { left }),
      ...(asked.length === 0 ? {} : { asked }),
    }
  } finally {
    appeared.restore()
  }
}

interface Quarantine {
  take(names: readonly string[]): Moved
  /** Returns the directory of the first move, relative to the workspace; null where nothing was moved. */
  place(): string | null
}

/** Returns the quarantine of an execution, named by its id or else by the time; never an existing directory. */
function quarantineOf({ clock, quarantineDirectory }: TreeSettings, root: string, id: string): Quarantine {
  let first: string | null = null
  return {
    take: names => {
      if (names.length === 0) return { moved: [], left: [] }
      const name = /^[\w-]+$/.test(id) ? id : toIso(clock.now()).replaceAll(":", "-")
      const directory = unused(join(quarantineDirectory, name))
      const taken = moveToQuarantine(root, names, directory)
      if (taken.moved.length > 0) first ??= relative(root, directory)
      return taken
    },
    place: () => first,
  }
}

function unused(path: string): string {
  let candidate = path
  for (let count = 2; existsSync(candidate); count++) candidate = `${path}-${count}`
  return candidate
}

/** The placeholder of another acode counts too. */
function isTopPlaceholder(root: string): (name: string) => boolean {
  return name => !name.includes("/") && isPlaceholder(join(root, name))
}

interface Watching {
  /** Resolves when no look is under way any more. */
  stop(): Promise<void>
}

/** Repeats the scan, with pauses that keep it to a small part of the time. */
function repeatedly(look: () => Promise<void>): Watching {
  let timer: ReturnType<typeof setTimeout> | null = null
  let current: Promise<void> = Promise.resolve()
  let isStopped = false
  const once = async () => {
    const beganMs = performance.now()
    try {
      await look()
    } catch {
      // The tree changes during the scan; the scan at the end finds what this one missed.
    }
    if (!isStopped) later(Math.max(pauseMs, pausesPerLook * (performance.now() - beganMs)))
  }
  const later = (waitMs: number) => {
    timer = setTimeout(() => {
      current = once()
    }, waitMs)
    timer.unref()
  }
  later(pauseMs)
  return {
    stop: async () => {
      isStopped = true
      if (timer !== null) clearTimeout(timer)
      await current
    },
  }
}

/** A test that makes repositories with hooks may do so some times. */
const roundsMax = 10
const pauseMs = 100
const pausesPerLook = 20

function rulesOf(
  { protection, stateDirectories, dependencyDirectories }: TreeSettings,
  root: string,
  lifted: readonly string[],
  named: readonly string[],
): TreeRules {
  return { root, protection, lifted, excluded: stateDirectories, dependencyDirectories, named }
}

function gitPlaces({ home, hostEnvironment }: TreeSettings, root: string) {
  return { root, home, environment: hostEnvironment }
}

function repositoriesIn({ protectedEntries }: TreeSnapshot): readonly string[] {
  return [...protectedEntries.values()].flatMap(({ path, isForGit }) =>
    isForGit === "repository" ? [path] : [],
  )
}

/**
 * Directories that are masked before they exist, because programs that already run act on them unasked: a prompt runs
 * git where it finds a repository, an editor takes up new settings at once. Every other protected name that
 * appears is moved to quarantine when the command has ended. Not all of them are masked: a placeholder stands in the
 * workspace for as long as the command runs, where people, file watchers and other tools see it come and go.
 */
const maskedWhileMissing = [".git", ".vscode"]

/** Returns the names to hold a place for, those a person opened, and the submodules that have no files. */
function heldNames(
  { protection, submodules }: TreeSettings,
  root: string,
  writable: readonly string[],
  hookDirectories: readonly string[],
) {
  const isOpened = (name: string) => {
    const path = join(root, name)
    return writable.some(opened => isWithin(path, opened) || isWithin(opened, path))
  }
  const names = protection.topLevelNames
    .filter(({ name, kind }) => kind === "directory" && maskedWhileMissing.includes(name))
    .map(({ name }) => name)
  // Git runs what is in a submodule for the status of the whole.
  const bare = isOpened(".git") ? [] : submodules(root).filter(path => isVacant(join(root, path)))
  const others = [...hookDirectories, ...bare].filter(path => isFree(root, path) && !isOpened(path))
  return {
    held: [...names.filter(name => !isOpened(name)), ...others],
    opened: names.filter(isOpened),
    submodules: bare,
  }
}

function isVacant(path: string): boolean {
  const found = statsOf(path)
  if (found === null) return true
  const entries = found.isDirectory() ? entriesOf(path) : "unreadable"
  return entries !== "unreadable" && entries.length === 0
}

/** Nothing is there, and a directory to make it in. */
function isFree(root: string, path: string): boolean {
  const isInRepository = path.split("/").includes(".git")
  return (
    !isInRepository &&
    statsOf(join(root, path)) === null &&
    statsOf(dirname(join(root, path)))?.isDirectory() === true
  )
}
