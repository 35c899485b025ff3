import type { Ids } from "../base/clock.ts"
import { counted } from "../base/text.ts"
import { dataOf } from "../domain/events/definition.ts"
import { SessionUndone } from "../domain/events/session-events.ts"
import { isRedactedPath } from "../domain/text/redacted-json.ts"
import type { ArtifactStore, StoredEvent } from "../store/contract.ts"
import type {
  Checkpoint,
  Checkpoints,
  PathReason,
  RestoreGoal,
  WhileOwned,
} from "../workspace/checkpoint/contract.ts"
import type { Workspace } from "../workspace/contract.ts"
import {
  type DirectoryHistory,
  lastWrites,
  leftMarks,
  type PathHistory,
  sessionChanges,
  type UnlistedChanges,
} from "./session-changes.ts"

export interface UndoParts {
  readonly sessionId: string
  readonly checkpoints: Checkpoints
  readonly artifacts: ArtifactStore
  readonly ids: Ids
  readonly workspace: Pick<Workspace, "mark" | "gitHead">
  /** The changes of other sessions of this workspace. */
  readonly others: readonly OtherSession[]
}

export interface OtherSession {
  readonly id: string
  readonly events: readonly StoredEvent[]
}

/** The effect of undoing a session. */
export interface UndoPlan {
  /** New files of the session, which are removed. */
  readonly remove: readonly string[]
  /** Files that get their old content. */
  readonly write: readonly string[]
  /**
   * Paths that another program may have changed, and the reason to think so: these stay unless a person decides
   * otherwise.
   */
  readonly doubts: readonly UndoDoubt[]
  /** Paths that cannot be restored, and why. */
  readonly lost: readonly PathReason[]
  /** True if the session left nothing to undo, not even restored paths. */
  readonly isEmpty: boolean
  readonly goals: readonly UndoGoal[]
  readonly directories: readonly DirectoryHistory[]
}

export interface UndoDoubt extends PathReason {
  /** True if the only doubt is that a command ran when the path changed. */
  readonly isOnlyByCommand: boolean
}

/** One path, the checkpoint that restores it, and its present content. */
interface UndoGoal {
  readonly path: string
  readonly checkpoint: Checkpoint
  /** Null if only acode itself can have written the path. */
  readonly doubt: string | null
  readonly content: string | null | undefined
}

/** Plans an undo. Changes nothing. */
export async function planUndo(parts: UndoParts, events: readonly StoredEvent[]): Promise<UndoPlan> {
  const { histories, directories, unlisted, uncovered } = sessionChanges(parts.artifacts, events)
  const { known, lost } = withCheckpoints(parts.checkpoints, histories)
  const contents = await parts.checkpoints.contentsAt(known.map(({ history }) => history.path))
  const doubtOf = doubting(
    parts,
    known.map(({ history }) => history),
    events,
  )
  const goals = known.map(({ history, checkpoint }) => {
    const content = contents.get(history.path)
    return { path: history.path, checkpoint, content, doubt: doubtOf(history, content) }
  })
  const { remove, write } = await parts.checkpoints.plan(restoreGoals(parts.checkpoints, goals, directories))
  const changing = new Set([...remove, ...write])
  const named = directories.map(directory => ({
    path: nameOf(directory),
    doubt: directory.isByCommand ? whileACommandRan : null,
  }))
  const doubtful = new Map(
    [...goals, ...named].flatMap(({ path, doubt }) =>
      doubt === null || !changing.has(path) ? [] : [[path, doubt]],
    ),
  )
  return {
    remove: remove.filter(path => !doubtful.has(path)).sort(),
    write: write.filter(path => !doubtful.has(path)).sort(),
    doubts: [...doubtful]
      .map(([path, reason]) => ({ path, reason, isOnlyByCommand: reason === whileACommandRan }))
      .sort(byPath),
    lost: [...lost.sort(byPath), ...unlisted.map(lostList), ...uncovered],
    isEmpty: goals.length + directories.length + lost.length + unlisted.length + uncovered.length === 0,
    goals,
    directories,
  }
}

/** Returns the contents of the doubtful paths when the plan was made; nothing for a directory. */
export function contentsIn({ goals, directories }: UndoPlan): ReadonlyMap<string, string | null | undefined> {
  return new Map([
    ...directories.map(directory => [nameOf(directory), undefined] as const),
    ...goals.map(({ path, content }) => [path, content] as const),
  ])
}

/** Returns the name that restoring uses. */
function nameOf({ path }: DirectoryHistory): string {
  return `${path}/`
}

function byPath(a: PathReason, b: PathReason): number {
  return a.path < b.path ? -1 : 1
}

export interface Undone {
  readonly removed: readonly string[]
  readonly restored: readonly string[]
  /** Paths that were not touched, because another program may have changed them. */
  readonly foreign: readonly string[]
  readonly blocked: readonly PathReason[]
  /** The checkpoint of the files before the undo; null if none was needed. */
  readonly keptId: string | null
  /** True if a person stopped it in the middle; `blocked` names the paths that were not reached. */
  readonly isInterrupted: boolean
}

/**
 * Restores what only acode itself can have written, and the paths in `also` if they still hold what they held when a
 * person decided. Can be repeated after a crash: restored paths are skipped.
 */
export async function undo(
  { checkpoints, sessionId, ids }: UndoParts,
  plan: UndoPlan,
  also: ReadonlyMap<string, string | null | undefined>,
  owned: WhileOwned,
): Promise<Undone> {
  const doubtful = new Set(plan.doubts.map(({ path }) => path))
  const isAgreed = ({ path, content }: UndoGoal) => also.has(path) && also.get(path) === content
  const chosen = plan.goals.filter(goal => !doubtful.has(goal.path) || isAgreed(goal))
  const directoryNames = plan.directories.map(nameOf).filter(name => also.has(name))
  const agreed = new Set([...chosen.map(({ path }) => path), ...directoryNames])
  const left = plan.doubts.map(({ path }) => path).filter(path => !agreed.has(path))
  const { free: directories, around } = besideLeft(plan, left)
  const about = { kind: "undo" as const, sessionId, subjectId: null }
  const done = await checkpoints.restore(
    restoreGoals(checkpoints, chosen, directories),
    { id: ids.next("chk"), about },
    owned,
  )
  return {
    removed: done.remove.toSorted(),
    restored: done.write.toSorted(),
    foreign: [...new Set([...left, ...around, ...done.foreign])].sort(),
    blocked: [...done.blocked, ...plan.lost],
    keptId: done.keptId,
    isInterrupted: done.isInterrupted,
  }
}

/** Returns the directories around files that stay. Their owner is unknown: they stay too, and are named. */
function besideLeft({ directories, remove, write }: UndoPlan, left: readonly string[]) {
  const isAround = ({ path }: DirectoryHistory) =>
    left.some(each => each.startsWith(`${path}/`) || `${path}/`.startsWith(`${each}/`))
  const changing = new Set([...remove, ...write])
  return {
    free: directories.filter(directory => !isAround(directory)),
    around: directories
      .filter(isAround)
      .map(({ path }) => `${path}/`)
      .filter(path => changing.has(path)),
  }
}

/** Restores paths by checkpoint. A path that holds something without content, such as a directory, can only stay. */
function restoreGoals(
  checkpoints: Checkpoints,
  goals: readonly UndoGoal[],
  directories: readonly DirectoryHistory[],
): readonly RestoreGoal[] {
  const byId = new Map(goals.map(({ checkpoint }) => [checkpoint.id, checkpoint]))
  const ids = new Set([...byId.keys(), ...directories.map(({ checkpointId }) => checkpointId)])
  return [...ids].flatMap(id => {
    const checkpoint = byId.get(id) ?? checkpoints.load(id)
    if (checkpoint === null) return []
    const group = goals.filter(goal => goal.checkpoint.id === id)
    const named = directories.filter(({ checkpointId }) => checkpointId === id)
    return [
      {
        checkpoint,
        expected: new Map(group.map(({ path, content = null }) => [path, content])),
        directories: new Map(named.map(({ path, after }) => [path, after])),
      },
    ]
  })
}

function withCheckpoints(checkpoints: Checkpoints, changes: readonly PathHistory[]) {
  const known: { readonly history: PathHistory; readonly checkpoint: Checkpoint }[] = []
  const lost: PathReason[] = []
  for (const [checkpointId, histories] of Map.groupBy(changes, change => change.checkpointId)) {
    const checkpoint = checkpointId === null ? null : checkpoints.load(checkpointId)
    for (const history of histories) {
      const reason = checkpoint === null ? noCopy : reasonAgainst(checkpoint, history)
      if (checkpoint !== null && reason === null) known.push({ history, checkpoint })
      else lost.push({ path: history.path, reason: reason ?? noCopy })
    }
  }
  return { known, lost }
}

type Doubting = (history: PathHistory, content: string | null | undefined) => string | null

/** Looks for signs of another program: each one is reported, and a person decides. */
function doubting(
  parts: UndoParts,
  histories: readonly PathHistory[],
  events: readonly StoredEvent[],
): Doubting {
  const { workspace, artifacts, others } = parts
  const head = workspace.gitHead()
  const now = new Map(workspace.mark(histories.map(({ path }) => path)).map(mark => [mark.path, mark]))
  const writes = others.map(({ id, events: theirs }) => ({ id, paths: lastWrites(artifacts, theirs) }))
  const putBack = [...others.flatMap(({ events: theirs }) => theirs), ...events].flatMap(event => {
    const undone = dataOf(SessionUndone, event)
    return undone === null ? [] : [{ position: event.position, marks: leftMarks(undone.left, artifacts) }]
  })
  return (history, content) => {
    const { path, after, position } = history
    // A directory in the place of a deleted file is removed if it is empty.
    const isLeft = content === after || (content === undefined && after === null)
    if (!isLeft) return "it changed after the session"
    if (history.doubt !== null) return history.doubt
    const later = writes.find(({ paths }) => (paths.get(path) ?? 0) > position)
    if (later !== undefined) return `session ${later.id} wrote it later`
    if ([...history.heads].some(known => known !== head))
      return "git has another commit or branch checked out since"
    // Undoing a later session restores what this one left, in another inode.
    const last = putBack.findLast(each => each.position > position && each.marks.has(path))
    const mark = last?.marks.get(path) ?? history.mark
    const touched = mark === null ? null : touchedSince(mark.identity, now.get(path)?.identity ?? null)
    if (touched !== null) return touched
    if (mark !== null && mark.staged !== (now.get(path)?.staged ?? null))
      return "it was staged or unstaged in git since"
    return history.isByCommand ? whileACommandRan : null
  }
}

/** Returns how a file with the same content was touched. The mark is its inode, its time of writing and of change. */
function touchedSince(left: string | null, found: string | null): string | null {
  if (left === found) return null
  const [[inode, writtenAt], [inodeNow, writtenAtNow]] = [left?.split(":") ?? [], found?.split(":") ?? []]
  if (inode !== inodeNow) return "it was replaced since, by a file with the same content"
  if (writtenAt !== writtenAtNow) return "it was written again with the same content, or its time was changed"
  return "its mode, owner, links or name were changed since; its content is the same"
}

/** A change during a command is found by comparing the tree before and after it, which does not show its author. */
const whileACommandRan = "it changed while a command ran, by the command or another program"

function lostList({ callId, count }: UnlistedChanges): PathReason {
  return {
    path: `${counted(count, "file")} that ${callId} changed`,
    reason: "the list of their names is lost",
  }
}

const noCopy = "its old content was not stored"

/**
 * Returns why a path cannot be restored. A path that the pre-image lacks would look restored already: nothing was
 * there, nothing is.
 */
function reasonAgainst(
  { scope, entries, absent, uncovered }: Checkpoint,
  { path, before }: PathHistory,
): string | null {
  const reason = uncovered.get(path)
  if (reason !== undefined) return reason
  const wasThere = entries.has(path)
  const wasFree = scope === "tree" ? before === null && !isRedactedPath(path) : absent.includes(path)
  if (wasThere || wasFree) return null
  return isRedactedPath(path) ? "its name was redacted, so the file is unknown" : noCopy
}
