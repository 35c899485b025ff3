import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  fsyncSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  writeSync,
} from "node:fs"
import { basename, dirname, join, relative } from "node:path"
import { errnoOf } from "../../base/assert.ts"
import { equalsConstantTime } from "../../base/canonical.ts"
import { type Clock, toIso } from "../../base/clock.ts"
import { HistoryAccepted } from "../../domain/events/command-events.ts"
import type { AcceptedHistory, AuditProblem } from "../contract.ts"
import type { DatabaseConnection } from "../database/database.ts"
import { unsafeState } from "../database/store-failures.ts"
import { type AnchorFields, anchorMac } from "./chain.ts"
import { type LogTail, readTail } from "./event-log.ts"
import { type EventReader, fieldsOf } from "./event-rows.ts"
import { isWorkspaceId, makePrivateDirectory } from "./keys.ts"
import type { LogIdentity } from "./log-identity.ts"

/** The head of the log at one position, kept outside the workspace and signed with the key of the log. */
export interface Anchor extends AnchorFields {
  readonly mac: string
}

/** The dependencies of writing and reading the anchors of one log. `stateDirectory` is the directory of the history. */
export interface AnchorDeps {
  readonly connection: DatabaseConnection
  readonly identity: LogIdentity
  readonly anchorsDirectory: string
  readonly stateDirectory: string
  readonly clock: Clock
}

/** Room for about 200 anchors; in a larger file the older half is thinned out. */
const fileBytesMax = 65_536

/**
 * Appends the head of the log to the anchor file beside the keys. Only the first anchor, which each log gets before its
 * first event, is synced: an anchor reveals that an older database was restored, it does not protect against a power
 * cut, and once written it survives `kill -9`. Waiting for the disk would cost every execution a third flush. The lock
 * keeps the lines in the order of their positions, so a smaller position after a greater one can only mean that an
 * older database was restored. If the anchors are missing none is written: a new one would hide that.
 */
export function writeAnchor(deps: AnchorDeps): void {
  makePrivateDirectory(deps.anchorsDirectory)
  deps.connection.transaction("anchor", () => {
    const tail = readTail(deps.connection)
    const isFirst = tail.position === 0
    if (isFirst || hasAnchors(deps)) appendAnchor(deps, tail, isFirst)
  })
}

/** Writes the first anchor of a log that has neither an anchor nor an event. */
export function ensureFirstAnchor(deps: AnchorDeps): void {
  if (readTail(deps.connection).position === 0 && !hasAnchors(deps)) writeAnchor(deps)
}

/** Writes an anchor after a person accepted a history, whether or not there are anchors; the new one is synced. */
export function startAnchors(deps: AnchorDeps): void {
  makePrivateDirectory(deps.anchorsDirectory)
  deps.connection.transaction("anchor", () => appendAnchor(deps, readTail(deps.connection), true))
}

/** Appends one anchor. The caller holds a transaction. */
function appendAnchor(deps: AnchorDeps, { position, head }: LogTail, isDurable: boolean): void {
  const { key, workspaceId } = deps.identity
  const fields = { position, head, at: toIso(deps.clock.now()), root: deps.stateDirectory }
  const path = anchorPath(deps.anchorsDirectory, workspaceId)
  const bytes = appendLine(path, toLine({ ...fields, mac: anchorMac(key, workspaceId, fields) }), isDurable)
  if (bytes > fileBytesMax) rewrite(path, worthKeeping(parseLines(readFileSync(path, "utf8"))))
}

function hasAnchors({ anchorsDirectory, identity }: AnchorDeps): boolean {
  return (
    (lstatSync(anchorPath(anchorsDirectory, identity.workspaceId), { throwIfNoEntry: false })?.size ?? 0) > 0
  )
}

/**
 * Returns whether an anchor lies before the last one of its root, or has another head at the same position: only an
 * older database causes that.
 */
export function isStepBack(before: readonly Anchor[], { root, position, head }: Anchor): boolean {
  const last = before.findLast(anchor => anchor.root === root)
  if (last === undefined || last.position < position) return false
  return last.position > position || last.head !== head
}

/** Begins the names of the streams that hold one `history.accepted` each. */
export const acceptancePrefix = "acc_"

/** Returns the histories that people accepted although they did not match the anchors, oldest first. */
export function acceptedHistories(log: Pick<EventReader, "readAll">): readonly AcceptedHistory[] {
  return log
    .readAll(acceptancePrefix)
    .flatMap(event => {
      const accepted = fieldsOf(HistoryAccepted, event)
      return accepted === null ? [] : [{ ...accepted, position: event.position, at: event.at }]
    })
    .sort((a, b) => a.position - b.position)
}

/** The anchors of a log that concern this database, and the problems found in the anchor file. */
export interface KnownAnchors {
  /** The anchors that the log must match, oldest first. */
  readonly anchors: readonly Anchor[]
  readonly problems: readonly AuditProblem[]
  /** True if no anchor is genuine, although each log gets one before its first event. */
  readonly areMissing: boolean
}

export function knownAnchors(deps: Omit<AnchorDeps, "clock">): KnownAnchors {
  /** Reads the anchors of a log and verifies their signatures. */
  const { key, workspaceId } = deps.identity
  const all = readAnchors(deps.anchorsDirectory, workspaceId)
  const isGenuine = (anchor: Anchor) => equalsConstantTime(anchorMac(key, workspaceId, anchor), anchor.mac)
  const genuine = all.filter(isGenuine)
  return {
    anchors: concerning(genuine, deps.connection.path, deps.stateDirectory),
    problems: all
      .filter(anchor => !isGenuine(anchor))
      .map(({ position }) => ({
        stream: null,
        seq: null,
        position,
        what: "an anchor of this log was changed",
      })),
    areMissing: genuine.length === 0,
  }
}

/** Describes the problem of a log that has events and no anchors. */
export function anchorsGone(directory: string, workspaceId: string): AuditProblem {
  const what = `the anchors of this history are missing: ${anchorPath(directory, workspaceId)}`
  return { stream: null, seq: null, position: null, what }
}

/** Returns the anchors of this workspace, oldest first. Skips a line that a crash cut short. */
export function readAnchors(directory: string, workspaceId: string): readonly Anchor[] {
  try {
    return parseLines(readFileSync(anchorPath(directory, workspaceId), "utf8"))
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return []
    throw error
  }
}

/**
 * Returns the anchors that this database must match. A history that was moved keeps its anchors. A copied one is not
 * compared with what the original recorded later, and the original is recognised by still being where its anchors say.
 */
export function concerning(
  anchors: readonly Anchor[],
  databasePath: string,
  stateDirectory: string,
): readonly Anchor[] {
  const inside = relative(stateDirectory, databasePath)
  return anchors.filter(({ root }) => root === stateDirectory || !existsSync(join(root, inside)))
}

/** Returns the ids of other workspaces whose last anchor was made at this root. */
export function othersAnchoredAt(
  directory: string,
  stateDirectory: string,
  workspaceId: string,
): readonly string[] {
  const names = existsSync(directory) ? readdirSync(directory) : []
  return names
    .filter(name => name.endsWith(suffix))
    .map(name => basename(name, suffix))
    .filter(id => isWorkspaceId(id) && id !== workspaceId)
    .filter(id => isMissed(readAnchors(directory, id), stateDirectory))
}

/** Returns whether the anchors show that a log with events was here; losing an empty log does not matter. */
function isMissed(anchors: readonly Anchor[], stateDirectory: string): boolean {
  return anchors.at(-1)?.root === stateDirectory && anchors.some(({ position }) => position > 0)
}

const suffix = ".jsonl"

export function anchorPath(directory: string, workspaceId: string): string {
  return join(directory, `${workspaceId}${suffix}`)
}

function toLine(anchor: Anchor): string {
  return `${JSON.stringify(anchor)}\n`
}

function parseLines(text: string): readonly Anchor[] {
  return text.split("\n").flatMap(line => parseLine(line) ?? [])
}

function parseLine(line: string): Anchor | null {
  try {
    const { position, head, at, root, mac } = JSON.parse(line) as Record<string, unknown>
    const isWhole = [head, at, root, mac].every(field => typeof field === "string")
    // The two conditions check every field.
    return isWhole && Number.isSafeInteger(position) ? ({ position, head, at, root, mac } as Anchor) : null
  } catch {
    // A full disk or a power cut leaves a line that is not JSON.
    return null
  }
}

/** Returns the newer half, the last anchor of each root, and every anchor before a step back, which is evidence. */
function worthKeeping(anchors: readonly Anchor[]): readonly Anchor[] {
  return anchors.filter((anchor, index) => {
    if (index >= anchors.length / 2) return true
    const next = anchors.find((later, at) => at > index && later.root === anchor.root)
    if (next === undefined || next.position < anchor.position) return true
    return next.position === anchor.position && next.head !== anchor.head
  })
}

/** Appends a line and returns the size of the file afterwards. */
function appendLine(path: string, line: string, isDurable: boolean): number {
  const flags = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT
  const bytes = withFile(path, flags, fd => {
    const { size } = fstatSync(fd)
    const last = new Uint8Array(1)
    const isTorn = size > 0 && readSync(fd, last, 0, 1, size - 1) === 1 && last[0] !== "\n".charCodeAt(0)
    const written = writeSync(fd, isTorn ? `\n${line}` : line)
    if (isDurable) fsyncSync(fd)
    return size + written
  })
  if (isDurable) withFile(dirname(path), constants.O_RDONLY | constants.O_DIRECTORY, fsyncSync)
  return bytes
}

/** Replaces the file by renaming a new one over it: after a crash the old or the new file is there, complete. */
function rewrite(path: string, anchors: readonly Anchor[]): void {
  const aside = `${path}.aside`
  withFile(aside, constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC, fd => {
    writeSync(fd, anchors.map(toLine).join(""))
    fsyncSync(fd)
  })
  renameSync(aside, path)
  withFile(dirname(path), constants.O_RDONLY | constants.O_DIRECTORY, fsyncSync)
}

function withFile<Result>(path: string, flags: number, work: (fd: number) => Result): Result {
  const fd = openWithoutLink(path, flags)
  try {
    return work(fd)
  } finally {
    closeSync(fd)
  }
}

function openWithoutLink(path: string, flags: number): number {
  try {
    return openSync(path, flags | constants.O_NOFOLLOW, 0o600)
  } catch (error) {
    if (errnoOf(error) !== "ELOOP") throw error
    throw unsafeState(path, "the anchor file is a symbolic link", "remove the link")
  }
}
