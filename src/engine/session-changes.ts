import * as z from "zod/mini"
import { counted } from "../base/text.ts"
import { ToolCallSettled, ToolCallStarted } from "../domain/events/call-events.ts"
import { dataOf, type NewEvent } from "../domain/events/definition.ts"
import { SessionUndone } from "../domain/events/session-events.ts"
import { Failure } from "../domain/failure.ts"
import { isRedactedPath } from "../domain/text/redacted-json.ts"
import {
  DirectoryModes,
  FileChange,
  PathMarks,
  type RecordedJson,
  type UncoveredChanges,
} from "../domain/tool-call.ts"
import type { ArtifactStore, StoredEvent } from "../store/contract.ts"

/** The changes of a session to one path, from the first one that still counts to the last. */
export interface PathHistory {
  readonly path: string
  /** The pre-image of the first change; null if there is none. */
  readonly checkpointId: string | null
  readonly before: string | null
  /** The content that the session left. */
  readonly after: string | null
  /** The position of its last change in the log. */
  readonly position: number
  /** The state in which it was left; null if that was not recorded. */
  readonly mark: LeftMark | null
  /** The commits that git had checked out around its changes, as far as they were recorded. */
  readonly heads: ReadonlySet<string | null>
  /** The sign of another program that was found when a change was recorded. */
  readonly doubt: string | null
  /** True if a command ran while it changed, so that another program may have changed it. */
  readonly isByCommand: boolean
  /** The command that ran during its last change; null if a tool wrote it. */
  readonly during: CommandSpan | null
}

/** The positions of a command in the log, and whether git checked out another commit or branch meanwhile. */
export interface CommandSpan {
  readonly from: number
  readonly to: number
  readonly hasHeadMoved: boolean
}

/** The state in which a path was left: inode and times, and its object in the index of git. */
export interface LeftMark {
  readonly identity: string | null
  readonly staged: string | null
}

export interface SessionChanges {
  readonly histories: readonly PathHistory[]
  /** Directories that were created, removed or given another mode. */
  readonly directories: readonly DirectoryHistory[]
  /** Calls that changed files whose names are lost with the list of them. */
  readonly unlisted: readonly UnlistedChanges[]
  /** Certain or possible changes of its commands that have no copy. */
  readonly uncovered: readonly UncoveredPath[]
}

export type UncoveredPath = UncoveredChanges["paths"][number]

/** The changes of a session to one directory. */
export interface DirectoryHistory {
  readonly path: string
  readonly checkpointId: string
  readonly before: number | null
  readonly after: number | null
  /** True if a command ran while it changed, so that another program may have changed it. */
  readonly isByCommand: boolean
}

export interface UnlistedChanges {
  readonly callId: string
  readonly count: number
}

/**
 * Returns every path that a session left different, except those that were restored. A path that was changed several
 * times is restored to before the first change, but not beyond a change that another program made between two of
 * them: that content was there before the later change.
 */
export function sessionChanges(artifacts: ArtifactStore, events: Iterable<StoredEvent>): SessionChanges {
  const { changes, directories, unlisted, uncovered } = changesOf(artifacts, events)
  const histories = [...Map.groupBy(changes, change => change.path)].flatMap(
    ([path, history]) => historyOf(path, history) ?? [],
  )
  // A file of the tree has a history, which shows its changes.
  const ofTree = new Set(changes.map(({ path }) => path))
  return {
    histories,
    directories: directoryHistories(directories),
    unlisted,
    uncovered: [...uncovered.values()].filter(({ path }) => !ofTree.has(path)),
  }
}

function pathsOf({ paths, count, unwatched }: UncoveredChanges, callId: string): readonly UncoveredPath[] {
  const more = {
    path: `${counted(count - paths.length, "more file")} that ${callId} changed`,
    reason: "no copy was kept",
  }
  const reason = "it is too large to be watched, so its changes are unknown"
  return [...paths, ...(count > paths.length ? [more] : []), ...unwatched.map(path => ({ path, reason }))]
}

/** Merges several changes to a directory: the state before the first and after the last. */
function directoryHistories(changes: readonly DirectoryHistory[]): readonly DirectoryHistory[] {
  const histories = new Map<string, DirectoryHistory>()
  for (const change of changes) {
    const first = histories.get(change.path) ?? change
    const isByCommand = first.isByCommand || change.isByCommand
    histories.set(change.path, { ...first, after: change.after, isByCommand })
  }
  return [...histories.values()].filter(({ before, after }) => before !== after)
}

function historyOf(path: string, changes: readonly RecordedChange[]): PathHistory | null {
  const newestFirst = changes.toReversed()
  const [newest] = newestFirst
  if (newest === undefined) return null
  let first = newest
  let isGuessed = false
  for (const earlier of newestFirst.slice(1)) {
    if (earlier.after !== first.before && !isSpeltOtherwise(earlier.after, first.before)) break
    isGuessed ||= earlier.after !== first.before
    first = earlier
  }
  // A change that leaves the content unchanged is one of the mode, which only the checkpoint knows.
  const isModeChanged = changes.some(({ before, after }) => before === after)
  // Several files may share a redacted name, so nothing can be derived for any of them.
  const isBack = first.before === newest.after && !isModeChanged && !isRedactedPath(path)
  if (isBack) return null
  const { checkpointId, before } = first
  const { after, position, mark, during } = newest
  const heads = new Set(changes.flatMap(change => change.heads))
  const doubt = changes.find(change => change.doubt !== null)?.doubt ?? (isGuessed ? speltOtherwise : null)
  const isByCommand = changes.some(change => change.isByCommand)
  return { path, checkpointId, before, after, position, mark, heads, doubt, isByCommand, during }
}

/**
 * Returns whether one of the values is a hash while the other one was not read: a limit or a permission changed
 * meanwhile.
 */
function isSpeltOtherwise(left: string | null, found: string | null): boolean {
  if (left === null || found === null) return false
  const [isStat, isHash] = [/^stat:/, /^[0-9a-f]{64}$/]
  return (isStat.test(left) && isHash.test(found)) || (isHash.test(left) && isStat.test(found))
}

const speltOtherwise = "it is unknown whether another program changed it between two calls"

interface RecordedChange extends FileChange {
  readonly checkpointId: string | null
  readonly position: number
  readonly mark: LeftMark | null
  readonly heads: readonly (string | null)[]
  readonly doubt: string | null
  readonly isByCommand: boolean
  readonly during: CommandSpan | null
}

type StartedCall = NewEvent<typeof ToolCallStarted>["data"] & { readonly position: number }

function changesOf(artifacts: ArtifactStore, events: Iterable<StoredEvent>) {
  const startedCalls = new Map<string, StartedCall>()
  const unlisted: UnlistedChanges[] = []
  const uncovered = new Map<string, UncoveredPath>()
  let changes: RecordedChange[] = []
  let directories: DirectoryHistory[] = []
  for (const event of events) {
    const undone = dataOf(SessionUndone, event)
    if (undone !== null) {
      changes = notPutBack(changes, undone)
      if (undone.foreign.length + undone.blocked.length === 0) directories = []
    }
    const started = dataOf(ToolCallStarted, event)
    if (started !== null) startedCalls.set(started.callId, { ...started, position: event.position })
    const settled = dataOf(ToolCallSettled, event)
    if (settled === null) continue
    const { callId, changes: recorded } = settled
    for (const lost of settled.uncovered === undefined ? [] : pathsOf(settled.uncovered, callId))
      uncovered.set(lost.path, lost)
    const list = recorded.kind === "inline" ? recorded.value : storedChanges(recorded.ref, artifacts)
    const about = aboutCall(startedCalls.get(callId) ?? null, settled, event.position)
    directories.push(...directoriesOf(about, settled, artifacts))
    const marks = leftMarks(settled.left, artifacts)
    const doubts = new Map(settled.doubts?.map(({ path, reason }) => [path, reason]))
    if (list !== null)
      for (const change of list)
        changes.push({
          ...change,
          ...about,
          mark: marks.get(change.path) ?? null,
          doubt: doubts.get(change.path) ?? null,
        })
    else if (recorded.kind === "artifact") unlisted.push({ callId, count: recorded.count })
  }
  return { changes, directories, unlisted, uncovered }
}

function directoriesOf(
  { checkpointId, isByCommand }: Pick<RecordedChange, "checkpointId" | "isByCommand">,
  { directories: recorded }: NewEvent<typeof ToolCallSettled>["data"],
  artifacts: ArtifactStore,
): readonly DirectoryHistory[] {
  const value = recorded?.kind === "artifact" ? storedJson(recorded.ref, artifacts) : recorded?.value
  const parsed = DirectoryModes().safeParse(value)
  if (checkpointId === null || !parsed.success) return []
  return parsed.data.map(([path, before, after]) => ({ path, checkpointId, before, after, isByCommand }))
}

function aboutCall(
  started: StartedCall | null,
  settled: NewEvent<typeof ToolCallSettled>["data"],
  position: number,
) {
  const isByCommand = started?.effectClass === "run" || started?.effectClass === "once"
  const hasHeadMoved = settled.head !== undefined && started?.head !== settled.head
  return {
    position,
    during: isByCommand ? { from: started.position, to: position, hasHeadMoved } : null,
    checkpointId: started?.checkpointId ?? null,
    heads: [started?.head, settled.head].filter(head => head !== undefined),
    isByCommand,
  }
}

/** Returns how paths were left, as an event recorded it; empty if it did not, or if the list is lost. */
export function leftMarks(
  recorded: RecordedJson | undefined,
  artifacts: ArtifactStore,
): ReadonlyMap<string, LeftMark> {
  const value = recorded?.kind === "artifact" ? storedJson(recorded.ref, artifacts) : recorded?.value
  const parsed = PathMarks().safeParse(value)
  if (!parsed.success) return new Map()
  return new Map(parsed.data.map(([path, identity, staged]) => [path, { identity, staged }]))
}

/** Returns the last positions in the log at which a session left paths changed, except those that were restored. */
export function lastWrites(
  artifacts: ArtifactStore,
  events: Iterable<StoredEvent>,
): ReadonlyMap<string, number> {
  return new Map(changesOf(artifacts, events).changes.map(({ path, position }) => [path, position]))
}

/** Returns the paths that an undo did not restore, which still belong to the session. */
function notPutBack(
  changes: readonly RecordedChange[],
  { foreign, blocked }: NewEvent<typeof SessionUndone>["data"],
): RecordedChange[] {
  const left = new Set([...foreign, ...blocked.map(({ path }) => path)])
  return changes.filter(({ path }) => left.has(path))
}

/** Returns recorded changes; null if they are missing or damaged: the rest of the session can still be undone. */
function storedChanges(ref: string, artifacts: ArtifactStore): readonly FileChange[] | null {
  const parsed = z.array(FileChange()).safeParse(storedJson(ref, artifacts))
  return parsed.success ? parsed.data : null
}

function storedJson(ref: string, artifacts: ArtifactStore): unknown {
  try {
    const bytes = artifacts.get(ref)
    return bytes === null ? null : JSON.parse(new TextDecoder().decode(bytes))
  } catch (error) {
    if (error instanceof Failure || error instanceof SyntaxError) return null
    throw error
  }
}
