import { readdirSync, unlinkSync } from "node:fs"
import { errnoOf } from "../../base/assert.ts"
import type { Clock } from "../../base/clock.ts"
import { type Faults, noFaults } from "../../base/faults.ts"
import { nameOf, parentOf } from "../../base/path-names.ts"
import { Failure, isStopped } from "../../domain/failure.ts"
import type { Tree, TreeOptions } from "../contract.ts"
import { afterRestoring, fileFailure, onPath } from "../failures.ts"
import { isLeftover } from "../files/atomic-write.ts"
import { entryPath } from "../files/pin.ts"
import type { WorkspaceRoot } from "../files/root.ts"
import type { Pace } from "../pace.ts"
import type {
  Checkpoint,
  Keeping,
  PathReason,
  Restored,
  RestoreGoal,
  RestorePlan,
  WhileOwned,
} from "./contract.ts"
import {
  type DirectoryChange,
  directoryAt,
  makeDirectory,
  type NamedDirectories,
  openDirectory,
  pathDepth,
  planFollowing,
  planNamed,
  putDirectoryMode,
  removeIfEmpty,
} from "./directories.ts"
import { type Displacing, type Goal, putGoal, WrittenMeanwhile } from "./displacing.ts"
import { goalContent, goalOf, isWanted } from "./goal.ts"
import { type KeptCopy, keepPresent } from "./keeping.ts"
import { contentOfPresentEntry, inspect, type PresentEntry } from "./present-entry.ts"
import { isKeptIn, settleDisplaced } from "./settling.ts"
import type { CheckpointStore } from "./store.ts"

export interface RestoreSource {
  readonly root: WorkspaceRoot
  readonly store: CheckpointStore
  readonly clock: Clock
  /** Reads the tree as it is; needed for a checkpoint of a tree. */
  readonly readTree: (options: TreeOptions) => Promise<Tree>
  readonly pace: Pace
}

/** One path that differs from the checkpoint. */
interface Change {
  readonly path: string
  readonly goal: Goal
  readonly leaves: string | null
  readonly checkpoint: Checkpoint
}

interface Decided {
  readonly changes: readonly Change[]
  readonly directories: readonly DirectoryChange[]
  readonly foreign: readonly string[]
}

/** Returns what a restore would do, and changes nothing. */
export async function planRestore(
  source: RestoreSource,
  goals: readonly RestoreGoal[],
): Promise<RestorePlan> {
  const named = planNamed(source.root, goals)
  const decided = await decide(source, goals, named)
  // While ignore files are to change as well, it is not known which paths will be hidden.
  const isOpen = decided.changes.some(({ path }) => isIgnoreFile(path))
  const { changes, foreign } = isOpen ? decided : withoutHidden(decided, await shownPaths(source, goals))
  const [gone, there] = [changes.filter(isRemoval), changes.filter(change => !isRemoval(change))]
  return {
    remove: [
      ...gone.map(({ path }) => path),
      ...named.changes.flatMap(({ path, to }) => (to === null ? `${path}/` : [])),
    ],
    write: [
      ...there.map(({ path }) => path),
      ...named.changes.flatMap(({ path, to }) => (to === null ? [] : `${path}/`)),
    ],
    foreign,
  }
}

function isRemoval({ goal }: Change): boolean {
  return goal.kind === "nothing"
}

async function decide(
  source: RestoreSource,
  goals: readonly RestoreGoal[],
  named: NamedDirectories,
): Promise<Decided> {
  const changes: Change[] = []
  const foreign: string[] = []
  for (const { checkpoint, expected } of goals)
    for (const [path, content] of expected) {
      if (!isCovered(checkpoint, path)) continue
      const goal = goalOf(source.store, source.root.path, checkpoint, path)
      const now = await inspect(source.root, path, source.pace, source.store.limits.fileBytesMax)
      if (isWanted(goal, now)) continue
      if (!isExpected(now, content)) foreign.push(path)
      else changes.push({ path, goal, leaves: goalContent(goal), checkpoint })
    }
  const leaves = new Map(changes.map(change => [change.path, change.leaves]))
  const following = planFollowing(source.root, goals, leaves, named)
  return {
    changes,
    directories: [...named.changes, ...following],
    foreign: [...foreign, ...named.foreign],
  }
}

/**
 * Removes paths that may be ignored: a checkpoint of a tree does not know what git ignores, so those stay unchanged.
 */
function withoutHidden(decided: Decided, shown: ShownPaths): Decided {
  const isHidden = (change: Change) =>
    isRemoval(change) && shown.get(change.checkpoint)?.has(change.path) === false
  return { ...decided, changes: decided.changes.filter(change => !isHidden(change)) }
}

/** The paths of the tree by the ignore rules of each checkpoint; empty for a checkpoint that does not need them. */
type ShownPaths = ReadonlyMap<Checkpoint, ReadonlySet<string>>

async function shownPaths(source: RestoreSource, goals: readonly RestoreGoal[]): Promise<ShownPaths> {
  const shown = new Map<Checkpoint, ReadonlySet<string>>()
  // Most checkpoints of a session have the same rules, and a tree is read once for each set of rules.
  const byRules = new Map<string, ReadonlySet<string>>()
  for (const { checkpoint } of goals.filter(needsTree)) {
    const options = checkpoint.ignoring === undefined ? {} : { rules: checkpoint.ignoring.rules }
    const key = JSON.stringify(options)
    const paths =
      byRules.get(key) ?? new Set((await source.readTree(options)).entries.map(({ path }) => path))
    byRules.set(key, paths)
    shown.set(checkpoint, paths)
  }
  return shown
}

function needsTree({ checkpoint, expected }: RestoreGoal): boolean {
  return checkpoint.scope === "tree" && expected.keys().some(path => !checkpoint.entries.has(path))
}

function isCovered({ scope, entries, absent }: Checkpoint, path: string): boolean {
  return entries.has(path) || scope === "tree" || absent.includes(path)
}

/**
 * Reports whether a path has the expected content. A directory counts as no content: it may be there instead of a
 * missing file.
 */
function isExpected(now: PresentEntry, content: string | null): boolean {
  return now.kind === "directory" ? content === null : contentOfPresentEntry(now) === content
}

/**
 * Restores some paths of checkpoints. Each file changes in one step and the whole can be repeated, so after a crash the
 * caller restores again. Ignore files come first: by the rules of a command, other files might be hidden.
 */
export async function restoreCheckpoints(
  source: RestoreSource,
  asked: readonly RestoreGoal[],
  keeping: Keeping,
  owned: WhileOwned,
  faults: Faults = noFaults,
): Promise<Restored> {
  await settleDisplaced(source, owned)
  const goals = asked.map(goal => ({ ...goal, checkpoint: asSettled(source.store, goal.checkpoint) }))
  for (const directory of new Set(goals.flatMap(({ expected }) => [...expected.keys()].map(parentOf))))
    owned(() => removeLeftovers(source.root, directory))
  const named = planNamed(source.root, goals)
  owned(() => openUp(source.root, named))
  const first = await decide(source, goals, named)
  const kept = await keep(source, keeping, first)
  faults.reach("restore.kept")
  const run = new RestoreRun(source, kept, owned, faults)
  if (kept.checkpoint !== null)
    await run.untilStopped(keeping.id, first, async areRulesBack =>
      withoutHidden(
        areRulesBack ? await decide(source, goals, named) : first,
        await shownPaths(source, goals),
      ),
    )
  return run.restored(first.foreign)
}

/** Loads a checkpoint again: its displaced files may have been written to since it was loaded. */
function asSettled(store: CheckpointStore, checkpoint: Checkpoint): Checkpoint {
  return checkpoint.kept === undefined ? checkpoint : (store.load(checkpoint.id) ?? checkpoint)
}

function keep(
  { root, store, clock, pace }: RestoreSource,
  keeping: Keeping,
  { changes, directories }: Decided,
): Promise<KeptCopy> {
  const leaves = new Map(changes.map(change => [change.path, change.leaves]))
  return keepPresent({ root, store, clock, pace, keeping, leaves, directories })
}

/** Opens directories, parents first: nothing can be read or changed in a directory that is closed. */
function openUp(root: WorkspaceRoot, { changes }: NamedDirectories): void {
  for (const change of changes.toSorted((a, b) => pathDepth(a) - pathDepth(b)))
    onPath(change.path, () => openDirectory(root, change))
}

const notReached = "it was interrupted before this path"

/** Performs the decided changes, one path after the other. */
class RestoreRun {
  private readonly removed = new Set<string>()
  private readonly written = new Set<string>()
  private readonly foreign = new Set<string>()
  private readonly blocked: PathReason[] = []
  private isInterrupted = false

  constructor(
    private readonly source: RestoreSource,
    private readonly kept: KeptCopy,
    private readonly owned: WhileOwned,
    private readonly faults: Faults,
  ) {
    this.blocked.push(...kept.refused)
  }

  /** Performs the changes until the user stops it, and returns what was done; before the first change nothing was. */
  async untilStopped(...work: Parameters<RestoreRun["all"]>): Promise<void> {
    try {
      await this.all(...work)
    } catch (error) {
      const done = new Set([...this.removed, ...this.written])
      if (!isStopped(error) || done.size === 0)
        throw afterRestoring(error, done.size, this.kept.checkpoint?.id ?? null)
      this.isInterrupted = true
      const [, { changes, directories }] = work
      const named = directories.filter(({ isNamed }) => isNamed).map(({ path }) => `${path}/`)
      for (const { path } of [...this.blocked]) done.add(path)
      for (const path of [...changes.map(change => change.path), ...named])
        if (!done.has(path) && !this.foreign.has(path)) this.blocked.push({ path, reason: notReached })
    }
  }

  private async all(
    id: string,
    first: Decided,
    decideAgain: (areRulesBack: boolean) => Promise<Decided>,
  ): Promise<void> {
    const { root, store } = this.source
    using area = store.displaced.open(id)
    const isKept = (present: PresentEntry) => isKeptIn(store, present)
    const bytesMax = store.limits.fileBytesMax
    const displacing = { root, area, isKept, bytesMax, faults: this.faults }
    const rules = first.changes.filter(({ path }) => isIgnoreFile(path))
    await this.files(displacing, rules)
    const rest = await decideAgain(rules.length > 0)
    for (const path of rest.foreign) this.foreign.add(path)
    // An ignore file that could not be restored is reported already.
    const changes = rest.changes.filter(({ path }) => !isIgnoreFile(path))
    await this.files(displacing, changes.filter(isRemoval))
    this.directoriesThatGo(rest.directories)
    this.directoriesThatCome(rest.directories)
    await this.files(
      displacing,
      changes.filter(change => !isRemoval(change)),
    )
    this.modes(rest.directories)
  }

  restored(foreignAtFirst: readonly string[]): Restored {
    const foreign = new Set([...foreignAtFirst, ...this.foreign])
    const failed = new Set([...foreign, ...this.blocked.map(({ path }) => path)])
    return {
      remove: [...this.removed].filter(path => !failed.has(path)),
      write: [...this.written].filter(path => !failed.has(path)),
      foreign: [...foreign],
      blocked: this.blocked,
      keptId: this.kept.checkpoint?.id ?? null,
      isInterrupted: this.isInterrupted,
    }
  }

  private async files(displacing: Displacing, changes: readonly Change[]): Promise<void> {
    const { pace } = this.source
    for (const change of changes) {
      // Between two files, so that each is the old one or the new one whenever the user stops it.
      if (pace.isDue()) await pace.rest()
      const { path, goal } = change
      const kept = this.kept.presentEntries.get(path)
      // Refused, or in the expected state only now: it has not been kept.
      if (kept === undefined) continue
      const isDone = this.attempt(path, () => putGoal(displacing, path, goal, kept))
      if (isDone) (isRemoval(change) ? this.removed : this.written).add(path)
      this.faults.reach(isRemoval(change) ? "restore.removed" : "restore.written")
    }
  }

  private directoriesThatGo(directories: readonly DirectoryChange[]): void {
    const going = directories.filter(({ to }) => to === null).sort((a, b) => pathDepth(b) - pathDepth(a))
    for (const { path, isNamed } of going) {
      const isDone = this.attempt(isNamed ? `${path}/` : null, () => {
        if (!removeIfEmpty(this.source.root, path) && isNamed)
          throw fileFailure("exists", `${path}/`, "is not empty")
      })
      if (isDone && isNamed) this.removed.add(`${path}/`)
    }
  }

  private directoriesThatCome(directories: readonly DirectoryChange[]): void {
    const coming = directories.filter(({ to }) => to !== null).sort((a, b) => pathDepth(a) - pathDepth(b))
    for (const change of coming) {
      // A directory that only follows from a file is reported with that file.
      const told = change.isNamed ? `${change.path}/` : null
      const isDone = this.attempt(told, () => {
        makeDirectory(this.source.root, change.path)
        openDirectory(this.source.root, change)
      })
      if (isDone && told !== null) this.written.add(told)
    }
  }

  private modes(directories: readonly DirectoryChange[]): void {
    const all = directories.filter(({ to }) => to !== null).sort((a, b) => pathDepth(b) - pathDepth(a))
    for (const change of all)
      this.attempt(change.isNamed ? `${change.path}/` : null, () =>
        putDirectoryMode(this.source.root, change),
      )
  }

  /** Runs a step. Returns false when it failed, which is reported for the path. */
  private attempt(path: string | null, step: () => void): boolean {
    return this.owned(() => {
      try {
        onPath(path ?? ".", step)
        return true
      } catch (error) {
        if (!(error instanceof Failure)) throw error
        if (path === null) return false
        if (error instanceof WrittenMeanwhile) this.foreign.add(path)
        else if (!this.blocked.some(told => told.path === path))
          this.blocked.push({ path, reason: error.message })
        return false
      }
    })
  }
}

/**
 * Removes files that an interrupted write left beside the files that it was restoring: no other code would, because
 * they are not expected paths.
 */
function removeLeftovers(root: WorkspaceRoot, path: string): void {
  using directory = directoryAt(root, path)
  if (directory === null) return
  try {
    for (const name of readdirSync(directory.at).filter(isLeftover)) unlinkSync(entryPath(directory, name))
  } catch (error) {
    if (errnoOf(error) === null) throw error
    // The directory cannot be read or written: then its files cannot be restored either, and that is reported for them.
  }
}

function isIgnoreFile(path: string): boolean {
  return nameOf(path) === ".gitignore"
}
