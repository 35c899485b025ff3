import type { z } from "zod"
import type { Json } from "../base/canonical.ts"
import type { ExecutionRecord, StoredExecution } from "../domain/command-result.ts"
import type { CommandFinished, CommandStarted, ProtectedNames } from "../domain/events/command-events.ts"
import type { NewEvent } from "../domain/events/definition.ts"
import type { Failure } from "../domain/failure.ts"
import type { ProcessIdentity } from "../domain/process-identity.ts"
import type { EvidenceHistory } from "./evidence/contract.ts"
import type { ApprovalHistory, SessionHistory } from "./session/contract.ts"
import type { Upkeep } from "./upkeep/contract.ts"

/** The part of the redactor that the store needs. It is applied to everything that is written, without exception. */
export interface StoreRedactor {
  redactText(text: string): string
  redactBytes(bytes: Uint8Array): Uint8Array
}

/** An event in the log. `hash` covers every other field and, through `prevHash`, the stream before it. */
export interface StoredEvent {
  readonly stream: string
  readonly seq: number
  /** The order over all streams of the workspace. */
  readonly position: number
  readonly epoch: number
  readonly at: string
  readonly type: string
  readonly version: number
  readonly data: Json
  readonly prevHash: string
  readonly hash: string
}

/**
 * The append-only history of one workspace. An append is durable when it returns, and is written completely or not at
 * all. Secrets are replaced before anything is hashed or written. An implementation must not rewrite an event, nor
 * return one whose signature or position does not verify: reading it throws ACODE-SEC-004.
 */
export interface EventLog {
  /**
   * Appends events. Throws ACODE-DB-007 if `expectedSeq` is not the last seq of the stream, if `epoch` is not that of
   * its lease, or if another process has taken the lease `under` which it appends.
   */
  append(
    stream: string,
    expectedSeq: number,
    epoch: number,
    events: readonly NewEvent[],
    under?: Lease,
  ): readonly StoredEvent[]
  /** Returns the events of a stream behind the one with this number. */
  read(stream: string, afterSeq?: number): readonly StoredEvent[]
  /** Yields the events of a stream one by one, so that the caller need not hold them all. */
  each(stream: string): Iterable<StoredEvent>
  /** Returns the number of the last event; 0 if there is none. */
  lastSeq(stream: string): number
  /** Returns whether an event of this type mentions an id, whatever the tables contain. Reads the whole log. */
  mentions(type: string, id: string): boolean
}

/** The exclusive right to append to one stream. A new owner gets a higher epoch, which excludes the old one. */
export interface Leases {
  /**
   * Takes a lease that is free or whose owner is dead; returns null if it is held. Time frees a lease only if its owner
   * cannot be inspected from here and has not renewed it.
   */
  acquire(stream: string, owner: ProcessIdentity): Lease | null
  /** Extends a lease; returns false if it was lost. */
  renew(lease: Lease): boolean
  /** Runs work while no other process can take either lease. Throws ACODE-DB-007 if one has been taken. */
  whileHeld<Result>(lease: Lease, under: Lease, work: () => Result): Result
  /** Returns the present owner; null if there is none. */
  owner(stream: string): ProcessIdentity | null
  release(lease: Lease): void
}

export interface Lease {
  readonly stream: string
  readonly epoch: number
  /** The process that acquired it. An append under the lease is refused if its row states another owner. */
  readonly owner?: ProcessIdentity
}

/**
 * Content named by the hash of its stored, redacted bytes. It is written, synced and renamed before an event refers to
 * it.
 */
export interface ArtifactStore {
  /** Stores bytes and returns `sha256:…` of what was stored. */
  put(content: Uint8Array): string
  /**
   * Stores a value as canonical JSON. Redacts each string separately: in the text of the whole value, an open quote in
   * one string would extend a secret over the next members, and the result would not be JSON.
   */
  putJson(value: Json): StoredJson
  /** Returns the content; null if it is missing. Throws ACODE-SEC-004 if it does not match its name. */
  get(ref: string): Uint8Array | null
}

export interface StoredJson {
  readonly ref: string
  readonly bytes: number
}

/** The executions of this workspace: written through the log, read through a projection of it. */
export interface ExecutionHistory {
  /** Opens the stream of an execution: lease and event in one commit. */
  started(data: z.infer<typeof CommandStarted.data>): void
  /** Closes the stream and releases its lease, in one commit. */
  finished(data: z.infer<typeof CommandFinished.data>): void
  /**
   * Calls `finished` for a record: long texts and the captured outputs become artifacts first. Returns the record with
   * the names of what was stored.
   */
  settled(record: ExecutionRecord, outputs: RecordedOutputs): ExecutionRecord
  /**
   * Returns the same as an event that is not written yet, for a caller that commits it with other events. The artifacts
   * are stored.
   */
  outcome(record: ExecutionRecord, outputs: RecordedOutputs): NewEvent<typeof CommandFinished>
  /** Returns the end of a command whose process died, for the owner of its stream. */
  interrupted(id: string): NewEvent<typeof CommandFinished>
  list(filter: ExecutionFilter): readonly ExecutionSummary[]
  /** Returns whether a command outside this session ran at any time between two positions of the log. */
  hasOthers(sessionId: string, from: number, to: number): boolean
  /** Returns the ids that start or end with `typed`: of executions, or of the runs or tasks they belong to. */
  matching(typed: string, of?: "execution" | "run" | "task"): readonly string[]
  /** Returns the record that was given to `settled`; null if the id is unknown or the command is still running. */
  show(id: string): StoredExecution | null
  stats(): ExecutionStats
  /** Removes finished executions, leaves a signed tombstone and returns the removed ids. */
  prune(filter: ExecutionPruning, reason: string): readonly string[]
  /**
   * Returns executions without an end whose process died, including those of sessions, which recovery has not closed
   * yet.
   */
  abandoned(isAlive: (owner: ProcessIdentity) => boolean): readonly AbandonedExecution[]
  /** Closes executions whose process died as `interrupted`, and returns their ids. */
  recover(isAlive: (owner: ProcessIdentity) => boolean): readonly string[]
}

/** An execution without an end, and the protected names that its command could create. */
export interface AbandonedExecution {
  readonly id: string
  readonly protectedNames: ProtectedNames | null
}

/** Bytes to store as artifacts; null if the text in the record is complete. */
export interface RecordedOutputs {
  readonly stdout: Uint8Array | null
  readonly stderr: Uint8Array | null
}

/** Selects the executions to remove; without a member, all that have finished. */
export interface ExecutionPruning {
  readonly runId?: string
  /** Selects executions that began before this position of the log. */
  readonly beforePosition?: number
  readonly ids?: ReadonlySet<string>
}

export interface ExecutionFilter {
  readonly runId?: string
  readonly sessionId?: string
  readonly taskId?: string
  readonly failed?: boolean
  /** A glob over the whole command line; only `*` and `?` are special. */
  readonly command?: string
  /** Inclusive. */
  readonly since?: string
  /** Exclusive. */
  readonly until?: string
  readonly limit?: number
}

export interface ExecutionSummary {
  readonly id: string
  readonly commandLine: string
  /** Null while it runs. */
  readonly ending: string | null
  readonly exitCode: number | null
  readonly success: boolean | null
  readonly startTime: string
  readonly durationMs: number | null
  readonly runId: string
  readonly sessionId: string | null
  readonly taskId: string | null
}

export interface ExecutionStats {
  readonly executions: number
  readonly succeeded: number
  readonly failed: number
  readonly timedOut: number
  readonly interrupted: number
  readonly running: number
  readonly durationMsTotal: number
  readonly databaseBytes: number
  readonly artifactCount: number
  readonly artifactBytes: number
  readonly oldest: string | null
  readonly newest: string | null
}

/** The result of `audit verify`. The first problem is the one of the first bad event. */
export interface AuditReport {
  readonly ok: boolean
  readonly events: number
  readonly streams: number
  readonly anchoredPosition: number | null
  /** The histories that a person accepted although they did not match, oldest first. */
  readonly accepted: readonly AcceptedHistory[]
  readonly problems: readonly AuditProblem[]
}

/** A history that a person accepted although it did not match its anchors. */
export interface AcceptedHistory {
  readonly position: number
  readonly at: string
  readonly by: string
  readonly reason: string
  readonly findings: readonly string[]
  /** The path of the former history; null if this one was accepted. */
  readonly setAside: string | null
}

export interface AuditProblem {
  readonly stream: string | null
  readonly seq: number | null
  readonly position: number | null
  readonly what: string
}

export interface Store extends Disposable {
  readonly workspaceId: string
  readonly log: EventLog
  readonly leases: Leases
  readonly artifacts: ArtifactStore
  readonly executions: ExecutionHistory
  readonly sessions: SessionHistory
  readonly approvals: ApprovalHistory
  readonly evidence: EvidenceHistory
  readonly upkeep: Upkeep
  /**
   * Returns a hash under the key of this workspace: equal texts have equal hashes, and without the key no text can be
   * guessed from one.
   */
  fingerprint(text: string): string
  /** Writes the head of the log outside the workspace, so that an older copy of the database is noticed. */
  anchor(): void
  /**
   * Throws ACODE-SEC-004 if a session must not be acted upon: an event that it depends on was changed or removed, a
   * table differs from its events, or the log does not continue its last anchor.
   */
  assertGenuine(sessionId: string): void
  /**
   * Throws ACODE-SEC-004 if one of the last 10,000 events was changed or removed, or if a table does not say what they
   * make. Listings call it, because they cannot notice a row that they do not list.
   */
  assertRecentRows(): void
  /** Throws ACODE-SEC-004 if an older copy of the history was restored, or if its anchors are missing. */
  assertAnchored(): void
  /**
   * Records that a person accepts that the history does not match its anchors, and starts new anchors. What does not
   * verify is not accepted, and earlier approvals that were not used no longer hold.
   */
  accept(given: {
    readonly by: string
    readonly reason: string
    readonly setAside: string | null
  }): AcceptedHistory
  /** Runs work that only shows something. A failed verification is noted instead of thrown, and the result is null. */
  noteChanged<Result>(work: () => Result): Result | null
  /** Returns the failures that were noted since the store was opened. */
  changed(): readonly Failure[]
  /**
   * Verifies the history. With the id of a session or an execution, leaves out tables and artifacts of others, but
   * never bad events.
   */
  verify(id?: string): AuditReport
  /**
   * Returns artifacts that were requested since the store was opened, are missing, and are still referred to by the
   * history.
   */
  missingArtifacts(): readonly string[]
  /** Returns the problems of the database file itself, as SQLite words them; empty if there are none. */
  fileProblems(): readonly string[]
}
