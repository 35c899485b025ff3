import { parentOf } from "../base/path-names.ts"
import { ToolCallRequested, ToolCallSettled, ToolCallStarted } from "../domain/events/call-events.ts"
import { CommandFinished, CommandStarted } from "../domain/events/command-events.ts"
import { dataOf, type NewEvent } from "../domain/events/definition.ts"
import { Failure } from "../domain/failure.ts"
import { isRedactedPath } from "../domain/text/redacted-json.ts"
import type { CallError, Certainty, FileChange, UncoveredChanges } from "../domain/tool-call.ts"
import type { ArtifactStore, ExecutionHistory, StoredEvent } from "../store/contract.ts"
import type { Checkpoints } from "../workspace/checkpoint/contract.ts"
import type { Workspace } from "../workspace/contract.ts"
import type { SettledCall } from "./contract.ts"
import { contentsChanged, foundBy } from "./intent.ts"
import { type FoundChanges, marksOf, nothingChanged, outcomeWithout, settledEvent } from "./outcome.ts"
import { certaintyOf, changedTargets } from "./targets.ts"

type Requested = NewEvent<typeof ToolCallRequested>["data"]
type Started = NewEvent<typeof ToolCallStarted>["data"]

/** A call without an outcome, because its process is gone. */
export interface UnsettledCall {
  readonly requested: Requested
  readonly started: Started | null
  readonly executionId: string | null
  /** Set when its command has ended, which is recorded when the user is asked about the call. */
  readonly isCommandEnded?: boolean
  /** The position of its start in the log. */
  readonly position?: number
}

export interface RecoveryParts {
  /** Returns the paths that other sessions wrote after a position in the log, each with its session. */
  readonly laterWrites?: (position: number) => ReadonlyMap<string, string>
  readonly workspace: Workspace
  readonly checkpoints: Checkpoints
  readonly artifacts: ArtifactStore
  readonly executions: Pick<ExecutionHistory, "interrupted">
}

export interface Recovered {
  readonly settled: SettledCall
  /** The end of its command first, then its own. */
  readonly events: readonly NewEvent[]
  /** Changes that another process may have made since. */
  readonly doubts: readonly { readonly path: string; readonly reason: string }[]
  /** Paths that changed while a command ran, made by the command or by another process. */
  readonly unattributed: readonly string[]
}

export function openCalls(events: Iterable<StoredEvent>): readonly UnsettledCall[] {
  const calls = new Map<string, UnsettledCall>()
  const commands = new Map<string, string>()
  const ended = new Set<string>()
  for (const event of events) {
    const requested = dataOf(ToolCallRequested, event)
    if (requested !== null) calls.set(requested.callId, { requested, started: null, executionId: null })
    const started = dataOf(ToolCallStarted, event)
    const known = started === null ? undefined : calls.get(started.callId)
    if (started !== null && known !== undefined)
      calls.set(started.callId, { ...known, started, position: event.position })
    const command = dataOf(CommandStarted, event)
    if (command !== null) commands.set(command.executionId, command.correlationIds.toolCallId ?? "")
    ended.add(dataOf(CommandFinished, event)?.executionId ?? "")
    calls.delete(dataOf(ToolCallSettled, event)?.callId ?? "")
  }
  const commandOf = new Map([...commands].map(([executionId, callId]) => [callId, executionId]))
  return [...calls.values()].map(call => {
    const executionId = commandOf.get(call.requested.callId) ?? null
    return { ...call, executionId, isCommandEnded: ended.has(executionId ?? "") }
  })
}

/**
 * Settles a call from the present state. It repeats nothing and restores nothing: the record says what happened. The
 * processes of the call must be gone before.
 */
export async function settleInterrupted(parts: RecoveryParts, call: UnsettledCall): Promise<Recovered> {
  const { certainty, changes, uncovered, directories = [], what } = await lookAt(parts, call)
  const ending = { outcome: "interrupted", certainty, cause: causeOf(certainty), error: told(what) } as const
  const settled: SettledCall = {
    ...outcomeWithout(ending, { changes, uncovered, directories }),
    callId: call.requested.callId,
    executionId: call.executionId,
    paths: changes.map(({ path }) => path),
    durationMs: 0,
    waitMs: 0,
  }
  const { executionId, isCommandEnded = false } = call
  const command = executionId === null || isCommandEnded ? [] : [parts.executions.interrupted(executionId)]
  const left = { ...marksOf(parts.workspace, changes), doubts: doubtsOf(parts, call, changes) }
  return {
    settled,
    events: [...command, settledEvent(settled, parts.artifacts, true, left)],
    doubts: left.doubts,
    unattributed: isCommand(call.started) ? changedPaths({ changes, uncovered, directories }) : [],
  }
}

function isCommand(started: Started | null): boolean {
  return started?.effectClass === "run" || started?.effectClass === "once"
}

/** Returns the changed paths; directories end with a slash. */
function changedPaths({ changes, directories = [] }: FoundChanges): readonly string[] {
  return [...changes.map(({ path }) => path), ...directories.map(([path]) => `${path}/`)]
}

/** Returns the reasons to believe that another process made some of the present changes. */
function doubtsOf(
  parts: RecoveryParts,
  { started, position }: UnsettledCall,
  changes: readonly FileChange[],
): Recovered["doubts"] {
  if (started === null || changes.length === 0) return []
  const { workspace } = parts
  const hasMoved = started.head !== undefined && started.head !== workspace.gitHead()
  const later = position === undefined ? null : (parts.laterWrites?.(position) ?? null)
  const lastBeatMs = parts.checkpoints.lastBeatMs()
  return changes.flatMap(({ path }) => {
    const session = later?.get(path)
    if (session !== undefined) return [{ path, reason: `session ${session} wrote it later` }]
    if (hasMoved) return [{ path, reason: "git has another commit or branch checked out since it began" }]
    const reason = started.effectClass === "replace" ? null : lateChange(workspace, path, lastBeatMs)
    return reason === null ? [] : [{ path, reason }]
  })
}

/** The time by which heartbeats may be late: on a busy machine more than two are. */
const beatSlackMs = 3000

/** Returns the reason to believe that a path changed after the command had ended, or null. */
function lateChange(workspace: Workspace, path: string, lastBeatMs: number | null): string | null {
  if (lastBeatMs === null)
    return "the time at which acode ended is unknown, so it may have been changed later"
  const livedUntilMs = lastBeatMs + beatSlackMs
  const [own, parent] = workspace.mark([path, parentOf(path)])
  if (own?.identity != null)
    return changedAtMs(own.identity) > livedUntilMs ? "it was changed after acode had ended" : null
  // The time of a deletion is recorded nowhere; it is not later than the last change of the directory.
  const isLate = parent?.identity != null && changedAtMs(parent.identity) > livedUntilMs
  return isLate ? "its directory was changed after acode had ended, so it may have been deleted then" : null
}

/** The third part of an identity is the time of the last change. */
function changedAtMs(identity: string): number {
  return Number(identity.split(":")[2])
}

interface RecoveredState extends FoundChanges {
  readonly certainty: Certainty
  readonly what: string
}

async function lookAt(parts: RecoveryParts, { started, requested }: UnsettledCall): Promise<RecoveredState> {
  if (started === null) return found("notDone", [], `${requested.tool} had not begun`)
  switch (started.effectClass) {
    case "read":
      return found("notDone", [], `${requested.tool} was reading, which changes nothing`)
    case "replace":
      return lookAtTargets(parts, started, requested.tool)
    case "run":
      return lookAtTree(parts, started, requested.tool)
    case "once":
      return outOfSight(parts, started, requested.tool)
  }
}

/**
 * Checks the targets, and the directories that the call created: it may have died before it wrote the file in them.
 */
function lookAtTargets(parts: RecoveryParts, started: Started, tool: string): RecoveredState {
  const looked = lookAtFiles(parts.workspace, started.targets, tool)
  const { checkpointId } = started
  const preImage = checkpointId === null ? null : parts.checkpoints.load(checkpointId)
  return { ...looked, ...foundBy(parts.checkpoints, preImage, looked.changes) }
}

function lookAtFiles(workspace: Workspace, targets: readonly FileChange[], tool: string): RecoveredState {
  for (const directory of new Set(targets.map(({ path }) => parentOf(path)))) {
    removeLeftovers(workspace, directory)
  }
  const names = (some: readonly FileChange[]) => some.map(({ path }) => path).join(", ")
  const [unnamed, named] = [targets.filter(isUnnamed), targets.filter(target => !isUnnamed(target))]
  const changes = changedTargets(workspace, named)
  // Listed as changed, because an undo that ignored them would report that everything is restored.
  if (unnamed.length > 0) {
    const what = `the log does not hold the name of ${names(unnamed)}; it is unknown whether ${tool} was done`
    return found("unknown", [...changes, ...unnamed], what)
  }
  const certainty = certaintyOf(workspace, targets)
  if (certainty === "done") return found(certainty, changes, `${tool} was done: ${names(changes)}`)
  if (certainty === "notDone")
    return found(certainty, [], `${tool} was not done: ${names(targets)} as before`)
  if (certainty === "partly") return found(certainty, changes, `${tool} was done in part: ${names(changes)}`)
  return found(
    certainty,
    changes,
    `another process has changed ${names(targets)} since; it is unknown whether ${tool} was done`,
  )
}

/** Reports whether the log has no usable name of the file. */
function isUnnamed({ path }: FileChange): boolean {
  return isRedactedPath(path)
}

function removeLeftovers(workspace: Workspace, directory: string): void {
  try {
    if (workspace.locate(directory).kind === "directory") workspace.removeLeftovers(directory)
  } catch (error) {
    // Another process replaced the directory: its content must not be removed.
    if (!(error instanceof Failure)) throw error
  }
}

async function lookAtTree(
  parts: RecoveryParts,
  { checkpointId }: Started,
  tool: string,
): Promise<RecoveredState> {
  const seen = await changesOf(parts, checkpointId)
  if (seen === null) return found("unknown", [], `${tool} was running and its pre-image is missing`)
  const { changes, uncovered, directories = [] } = seen
  const running = `${tool} was running`
  const paths = changedPaths(seen)
  if (paths.length === 0 && uncovered === null)
    return found("notDone", [], `${running} and nothing in the workspace had changed`)
  const what = paths.length === 0 ? [] : [changedText(paths)]
  const lost = uncovered === null ? [] : uncoveredText(uncovered)
  // The user has to judge changes that cannot be undone or not be determined.
  const certainty = paths.length === 0 ? "unknown" : "partly"
  return { certainty, changes, uncovered, directories, what: [running, ...what, ...lost].join("; ") }
}

function changedText(paths: readonly string[]): string {
  return `changed since it began, by it or by another process: ${named(paths)}`
}

function uncoveredText({ paths, count, unwatched }: UncoveredChanges): readonly string[] {
  const names = paths.map(({ path }) => path)
  return [
    ...(count === 0 ? [] : [`changed and not covered by undo: ${named(names, count)}`]),
    ...(unwatched.length === 0 ? [] : [`whether ${named(unwatched)} changed is unknown`]),
  ]
}

function named(names: readonly string[], count = names.length): string {
  const shown = names.slice(0, namesMax)
  return `${shown.join(", ")}${count > shown.length ? ` and ${count - shown.length} more` : ""}`
}

/** The command could reach more than the workspace, so the changes there are not all of its effects. */
async function outOfSight(
  parts: RecoveryParts,
  { checkpointId }: Started,
  tool: string,
): Promise<RecoveredState> {
  const what = `${tool} was running and could reach more than the workspace; it is unknown whether it took effect`
  const seen = (await changesOf(parts, checkpointId)) ?? nothingChanged
  const paths = changedPaths(seen)
  const changed = paths.length === 0 ? "" : `; ${changedText(paths)}`
  return { certainty: "unknown", ...seen, what: `${what}${changed}` }
}

async function changesOf(parts: RecoveryParts, checkpointId: string | null): Promise<FoundChanges | null> {
  const checkpoint = checkpointId === null ? null : parts.checkpoints.load(checkpointId)
  return checkpoint === null ? null : contentsChanged(parts.checkpoints, parts.workspace, checkpoint)
}

function found(certainty: Certainty, changes: readonly FileChange[], what: string): RecoveredState {
  return { certainty, changes, uncovered: null, what }
}

function told(what: string): CallError {
  return {
    code: "ACODE-EXE-013",
    message: `acode ended during the call: ${what}`,
    where: null,
    hint:
      "`acode session show` prints what happened, `acode session undo` restores what acode wrote, with --commands " +
      "also what changed while a command ran",
  }
}

function causeOf(certainty: Certainty) {
  return certainty === "unknown" ? "unknown" : "failed"
}

const namesMax = 20
