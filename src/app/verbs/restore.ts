import { systemIds } from "../../base/clock.ts"
import { parentOf, quotedPath } from "../../base/path-names.ts"
import type { ErrorCode } from "../../domain/error-codes.ts"
import { type NewEvent, newEvent } from "../../domain/events/definition.ts"
import { CheckpointRestored, SessionUndone } from "../../domain/events/session-events.ts"
import { Failure } from "../../domain/failure.ts"
import { planUndo, type Undone, type UndoPlan, undo } from "../../engine/undo.ts"
import { recordLeft } from "../../gate/recorded.ts"
import { openCalls } from "../../gate/recovery.ts"
import { type DrivenSession, driveSession } from "../../gate/session-log.ts"
import type { Store } from "../../store/contract.ts"
import { processIdentity } from "../../store/process-identity.ts"
import type { Checkpoint, PathReason, Restored } from "../../workspace/checkpoint/contract.ts"
import { afterRestoring } from "../../workspace/failures.ts"
import { recordedOutputs } from "../own-outputs.ts"
import { unknownId } from "../recorded-id.ts"
import { isDriven } from "../session-control.ts"
import { userName } from "../user-name.ts"
import type { Wiring } from "../wiring/wire.ts"
import { type CheckpointSummary, checkpointSummaries, keptCopies, summaryOf } from "./checkpoint-summary.ts"

/** Undoes what sessions changed, and restores what an undo, a recovery or a restore replaced. */
export interface RestoreVerbs {
  /** Returns what undoing a session would do; changes nothing. */
  previewUndo(sessionId: string, stopping: AbortSignal): Promise<UndoPlan>
  /** Undoes changes that only acode can have written, and those to the paths in `also`. */
  undo(sessionId: string, also: SeenContents, stopping: AbortSignal): Promise<Undone>
  /** Lists checkpoints, newest first. */
  checkpoints(): Promise<readonly CheckpointSummary[]>
  /** Lists the copies of files that undoing or recovering a session replaced, oldest first. */
  keptCopies(sessionId: string): Promise<readonly CheckpointSummary[]>
  /** Returns a checkpoint with its contents. */
  checkpoint(id: string): Promise<{ readonly summary: CheckpointSummary; readonly checkpoint: Checkpoint }>
  /** Returns what restoring some or all paths of a checkpoint would do; changes nothing. */
  previewRestore(id: string, paths: readonly string[], stopping: AbortSignal): Promise<RestorePreview>
  /** Restores paths that hold what was left there, and the changed paths in `also`. */
  restoreCheckpoint(
    id: string,
    preview: RestorePreview,
    also: readonly string[],
    stopping: AbortSignal,
  ): Promise<Restored>
}

/** The contents that a person agreed to replace: other contents are not replaced. */
type SeenContents = ReadonlyMap<string, string | null | undefined>

export interface RestorePreview {
  readonly remove: readonly string[]
  readonly write: readonly string[]
  /** Paths whose content is not what was left there; those of directories end with a slash. */
  readonly doubts: readonly PathReason[]
  readonly found: SeenContents
  /** The present mode of each directory; null where there is none. */
  readonly modes: ReadonlyMap<string, number | null>
}

export function restoreVerbs(wiring: Wiring): RestoreVerbs {
  return {
    previewUndo: async (id, stopping) => {
      wiring.stopping = stopping
      // Only reads, so that it works on a read-only disk.
      const store = (await wiring.existingStore()) ?? (await wiring.store())
      return (await undoOf(wiring, store, id)).plan
    },
    undo: (id, also, stopping) => {
      wiring.stopping = stopping
      return undoSession(wiring, id, also)
    },
    checkpoints: async () => {
      const { checkpoints } = await wiring.workspace()
      return checkpointSummaries(checkpoints, await wiring.existingStore())
    },
    keptCopies: async id => {
      const { checkpoints } = await wiring.workspace()
      return keptCopies(checkpoints, id)
    },
    checkpoint: async id => {
      const checkpoint = await loaded(wiring, id)
      return { checkpoint, summary: summaryOf(checkpoint, await wiring.existingStore()) }
    },
    previewRestore: (id, paths, stopping) => {
      wiring.stopping = stopping
      return previewRestore(wiring, id, paths)
    },
    restoreCheckpoint: (id, preview, also, stopping) => {
      wiring.stopping = stopping
      return restore(wiring, id, preview, also)
    },
  }
}

async function undoOf(wiring: Wiring, store: Store, sessionId: string) {
  store.assertGenuine(sessionId)
  const { checkpoints, workspace } = await wiring.workspace()
  const { artifacts } = store
  const others = otherSessions(store, sessionId)
  const parts = { sessionId, checkpoints, artifacts, ids: systemIds, workspace, others }
  const events = store.log.read(sessionId)
  // The changes of an open call are recorded when it is settled, and an undo always covers every change.
  if (openCalls(events).length > 0) throw openCall(store, sessionId)
  for (const output of recordedOutputs(events)) wiring.ownOutputs.add(output)
  const plan = await planUndo(parts, events)
  // Files may be restored already: an undo that died before it was recorded is finished by the next one.
  if (plan.isEmpty) throw nothingToUndo(store, sessionId)
  return { parts, plan }
}

function openCall({ sessions }: Store, sessionId: string): Failure {
  const session = sessions.find(sessionId)
  if (session === null || !isDriven(session))
    return undoFailure(
      "ACODE-UNDO-003",
      "a call of the session is still open",
      sessionId,
      "`acode resume` continues the session, `acode cancel` ends it; then it can be undone",
    )
  const message = `process ${session.owner.pid} is working on the session`
  return undoFailure("ACODE-ORCH-008", message, sessionId, "wait until it ends; then it can be undone")
}

/** Returns the events of all other sessions: a later one may depend on changes of this session. */
function otherSessions({ sessions, log }: Store, sessionId: string) {
  return sessions
    .list({})
    .filter(({ id }) => id !== sessionId)
    .map(({ id }) => ({ id, events: log.read(id) }))
}

function nothingToUndo(store: Store, sessionId: string): Failure {
  const undoneAt = store.sessions.find(sessionId)?.undoneAt ?? null
  return undoneAt === null
    ? undoFailure("ACODE-UNDO-001", "there is nothing left to undo", sessionId)
    : undoFailure("ACODE-UNDO-002", `the session was undone at ${undoneAt}`, sessionId)
}

/** Undoes a session and records it. Holds the leases of workspace and session meanwhile. */
function undoSession(wiring: Wiring, sessionId: string, also: SeenContents): Promise<Undone> {
  return driving(wiring, sessionId, async session => {
    const { parts, plan } = await undoOf(wiring, await wiring.store(), sessionId)
    const undone = await undo(parts, plan, also, work => session.whileOwned(work))
    wiring.faults.reach("undo.done")
    const { restored, removed, foreign, blocked, keptId } = undone
    const isAllLeft = foreign.length > 0 && restored.length + removed.length === 0 && keptId === null
    if (isAllLeft) return undone
    recordRestored(session, undone.restored.length + undone.removed.length, keptId, [
      newEvent(SessionUndone, {
        restored: [...restored],
        removed: [...removed],
        foreign: [...foreign],
        blocked: [...blocked],
        by: userName(),
        checkpointId: keptId,
        ...recordLeft(parts.workspace.mark([...restored, ...removed]), parts.artifacts),
      }),
    ])
    return undone
  })
}

/** Records a restore. Where that fails, the files are restored nevertheless, which the failure says. */
function recordRestored(
  session: DrivenSession,
  count: number,
  keptId: string | null,
  events: readonly NewEvent[],
): void {
  try {
    session.append(events)
  } catch (error) {
    throw afterRestoring(error, count, keptId)
  }
}

async function driving<Result>(
  wiring: Wiring,
  stream: string,
  work: (session: DrivenSession) => Promise<Result>,
): Promise<Result> {
  const store = await wiring.store()
  const session = driveSession({ log: store.log, leases: store.leases, owner: processIdentity() }, stream)
  try {
    return await work(session)
  } finally {
    session.release()
    store.anchor()
  }
}

async function loaded(wiring: Wiring, id: string): Promise<Checkpoint> {
  const { checkpoints } = await wiring.workspace()
  const checkpoint = checkpoints.load(id)
  if (checkpoint === null) throw unknownId(id, "checkpoint")
  return checkpoint
}

async function previewRestore(wiring: Wiring, id: string, named: readonly string[]): Promise<RestorePreview> {
  const checkpoint = await loaded(wiring, id)
  const { checkpoints } = await wiring.workspace()
  const { paths, directories, around } = chosenPaths(checkpoint, named)
  const { leaves = null, leavesDirectories = null } = checkpoint.kept ?? {}
  const found = await checkpoints.contentsAt(paths)
  const isAsLeft = ([path, mode]: readonly [string, number | null]) => leavesDirectories?.get(path) === mode
  const modes = new Map([
    ...[...checkpoints.modesAt(around)].filter(isAsLeft),
    ...checkpoints.modesAt(directories),
  ])
  const { remove, write } = await checkpoints.plan([goalOf(checkpoint, found, modes)])
  const isDoubtful = (path: string) => {
    const directory = path.endsWith("/") ? path.slice(0, -1) : null
    const mode = directory === null ? undefined : modes.get(directory)
    if (directory !== null && mode !== undefined) return !isAsLeft([directory, mode])
    return found.has(path) && (leaves === null || found.get(path) !== leaves.get(path))
  }
  const reason = leaves === null ? "it was changed since" : "it is not what was left there"
  const doubts = [...remove, ...write].filter(isDoubtful).map(path => ({ path, reason }))
  return { remove, write, doubts, found, modes }
}

interface ChosenPaths {
  readonly paths: readonly string[]
  readonly directories: readonly string[]
  /** Unchanged directories around the chosen paths, which are created and removed together with them. */
  readonly around: readonly string[]
}

/** Returns all paths of a checkpoint, or the named ones and everything below them. */
function chosenPaths(checkpoint: Checkpoint, named: readonly string[]): ChosenPaths {
  const left = [...(checkpoint.kept?.leavesDirectories.keys() ?? [])]
  const allDirectories = [...new Set([...checkpoint.directories.map(({ path }) => path), ...left])]
  const allPaths = [...checkpoint.entries.keys(), ...checkpoint.absent]
  if (named.length === 0) return { paths: allPaths, directories: allDirectories, around: [] }
  const isAt = (path: string, name: string) => name === "." || path === name || path.startsWith(`${name}/`)
  const all = [...allPaths, ...allDirectories]
  const unknown = named.find(name => !all.some(path => isAt(path, name)))
  if (unknown !== undefined)
    throw new Failure({
      kind: "usage",
      code: "ACODE-CLI-003",
      message: `the checkpoint has no path ${quotedPath(unknown)}`,
      where: checkpoint.id,
      hint: `\`acode checkpoint show ${checkpoint.id}\` lists its paths`,
    })
  const isChosen = (path: string) => named.some(name => isAt(path, name))
  const paths = allPaths.filter(isChosen)
  const parents = new Set(paths.flatMap(parentsOf))
  return {
    paths,
    directories: allDirectories.filter(isChosen),
    around: left.filter(path => parents.has(path)),
  }
}

function parentsOf(path: string): readonly string[] {
  const parent = parentOf(path)
  return parent === "." ? [] : [parent, ...parentsOf(parent)]
}

function goalOf(checkpoint: Checkpoint, found: SeenContents, modes: RestorePreview["modes"]) {
  return {
    checkpoint,
    expected: new Map([...found].map(([path, content]) => [path, content ?? null])),
    directories: modes,
  }
}

function restore(
  wiring: Wiring,
  id: string,
  { doubts, found, modes }: RestorePreview,
  also: readonly string[],
): Promise<Restored> {
  return driving(wiring, systemIds.next("rst"), async session => {
    const checkpoint = await loaded(wiring, id)
    const { checkpoints } = await wiring.workspace()
    const left = new Set(doubts.map(({ path }) => path).filter(path => !also.includes(path)))
    const goal = goalOf(
      checkpoint,
      new Map([...found].filter(([path]) => !left.has(path))),
      new Map([...modes].filter(([path]) => !left.has(`${path}/`))),
    )
    const about = {
      kind: "restore" as const,
      sessionId: checkpoint.kept?.about.sessionId ?? null,
      subjectId: id,
    }
    const keeping = { id: systemIds.next("chk"), about }
    const done = await checkpoints.restore([goal], keeping, work => session.whileOwned(work))
    const foreign = [...new Set([...left, ...done.foreign])].sort()
    recordRestored(session, done.write.length + done.remove.length, done.keptId, [
      newEvent(CheckpointRestored, {
        checkpointId: id,
        restored: [...done.write],
        removed: [...done.remove],
        foreign,
        blocked: [...done.blocked],
        by: userName(),
        keptId: done.keptId,
      }),
    ])
    return { ...done, foreign }
  })
}

function undoFailure(
  code: ErrorCode,
  message: string,
  where: string,
  hint = "`acode session show` lists what a session changed",
): Failure {
  return new Failure({ kind: "general", code, message, where, hint })
}
