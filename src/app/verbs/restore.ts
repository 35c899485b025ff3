import { systemIds } from "../../base/clock.ts"
import { parentOf, quotedPath } from "../../base/path-names.ts"
import type { ErrorCode } from "../../domain/error-codes.ts"
import { newEvent } from "../../domain/events/definition.ts"
import { CheckpointRestored, SessionUndone } from "../../domain/events/session-events.ts"
import { Failure } from "../../domain/failure.ts"
import { planUndo, type Undone, type UndoPlan, undo } from "../../engine/undo.ts"
import { recordLeft } from "../../gate/recorded.ts"
import { openCalls } from "../../gate/recovery.ts"
import { type DrivenSession, driveSession } from "../../gate/session-log.ts"
import type { Store } from "../../store/contract.ts"
import { processIdentity } from "../../store/process-identity.ts"
import type { Checkpoint, PathReason, Restored } from "../../workspace/checkpoint/contract.ts"
import { recordedOutputs } from "../own-outputs.ts"
import { unknownId } from "../recorded-id.ts"
import { userName } from "../user-name.ts"
import type { Wiring } from "../wiring/wire.ts"
import { type CheckpointSummary, checkpointSummaries, keptCopies, summaryOf } from "./checkpoint-summary.ts"

/** Undoing what sessions changed, and bringing back what undoing, recovering and restoring replaced. */
export interface RestoreVerbs {
  /** What undoing a session would do; changes nothing. */
  previewUndo(sessionId: string, stopping: AbortSignal): Promise<UndoPlan>
  /** Undoes what only acode itself can have written, and of the rest the paths in `also`. */
  undo(sessionId: string, also: SeenContents, stopping: AbortSignal): Promise<Undone>
  /** Newest first. */
  checkpoints(): Promise<readonly CheckpointSummary[]>
  /** Copies of what undoing or recovering a session replaced, oldest first. */
  keptCopies(sessionId: string): Promise<readonly CheckpointSummary[]>
  /** A checkpoint with everything that is in it. */
  checkpoint(id: string): Promise<{ readonly summary: CheckpointSummary; readonly checkpoint: Checkpoint }>
  /** What restoring some paths of a checkpoint, or all, would do; changes nothing. */
  previewRestore(id: string, paths: readonly string[], stopping: AbortSignal): Promise<RestorePreview>
  /** Restores what was left as it is, and of the rest the paths in `also`. */
  restoreCheckpoint(
    id: string,
    preview: RestorePreview,
    also: readonly string[],
    stopping: AbortSignal,
  ): Promise<Restored>
}

/** What paths held when a person agreed that they are replaced: nothing else is. */
type SeenContents = ReadonlyMap<string, string | null | undefined>

export interface RestorePreview {
  readonly remove: readonly string[]
  readonly write: readonly string[]
  /** Paths that hold something else than what was left there; those of directories end with a slash. */
  readonly doubts: readonly PathReason[]
  readonly found: SeenContents
  /** The mode that each directory has now; null for none. */
  readonly modes: ReadonlyMap<string, number | null>
}

export function restoreVerbs(wiring: Wiring): RestoreVerbs {
  return {
    previewUndo: async (id, stopping) => {
      wiring.stopping = stopping
      // Only reads, so that it works where nothing can be written.
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
  // What such a call changed is written down when it is settled, and an undo is recorded as one of everything.
  if (openCalls(events).length > 0)
    throw undoFailure(
      "ACODE-UNDO-003",
      "it is in the middle of a call",
      sessionId,
      "`acode resume` goes on with it, `acode cancel` ends it; then it can be undone",
    )
  for (const output of recordedOutputs(events)) wiring.ownOutputs.add(output)
  const plan = await planUndo(parts, events)
  // Also when all is back already: an undo that died before it was recorded is finished by the next one.
  if (plan.isEmpty) throw nothingToUndo(store, sessionId)
  return { parts, plan }
}

/** Only what was written behind the beginning of the session can stand on it. */
function otherSessions({ sessions, log }: Store, sessionId: string) {
  return sessions
    .list({})
    .filter(({ id }) => id !== sessionId)
    .map(({ id }) => ({ id, events: log.read(id) }))
}

function nothingToUndo(store: Store, sessionId: string): Failure {
  const undoneAt = store.sessions.find(sessionId)?.undoneAt ?? null
  return undoneAt === null
    ? undoFailure("ACODE-UNDO-001", "the session changed nothing that is left", sessionId)
    : undoFailure("ACODE-UNDO-002", `it was undone at ${undoneAt}`, sessionId)
}

/** Holds the workspace and the session while files are restored; what was done is in the log afterwards. */
function undoSession(wiring: Wiring, sessionId: string, also: SeenContents): Promise<Undone> {
  return driving(wiring, sessionId, async session => {
    const { parts, plan } = await undoOf(wiring, await wiring.store(), sessionId)
    const undone = await undo(parts, plan, also, work => session.whileOwned(work))
    wiring.faults.reach("undo.done")
    const { restored, removed, foreign, blocked, keptId } = undone
    const isAllLeft = foreign.length > 0 && restored.length + removed.length === 0 && keptId === null
    if (isAllLeft) return undone
    session.append([
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
  /** Directories that come and go with the paths in them, where they are as they were left. */
  readonly around: readonly string[]
}

/** Everything in it, or the named paths and what is below them. */
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
    session.append([
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
  hint = "`acode session show` tells what a session changed",
): Failure {
  return new Failure({ kind: "general", code, message, where, hint })
}
