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

/** What the store needs of the redactor. It is called on everything that is written, and nowhere is it skipped. */
export interface StoreRedactor {
  redactText(text: string): string
  redactBytes(bytes: Uint8Array): Uint8Array
}

/** A fact in the log. `hash` covers every other field and, through `prevHash`, all of the stream before it. */
export interface StoredEvent {
  readonly stream: string
  readonly seq: number
  /** Order over all streams of the workspace. */
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
 * The append-only history of one workspace. An append is durable when it returns, and either all of it happened or
 * nothing. Secrets are replaced before anything is hashed or written. No implementation may rewrite an event, nor
 * return one whose signature or place does not hold: reading it throws ACODE-SEC-004.
 */
export interface EventLog {
  /**
   * Refused (ACODE-DB-007) when `expectedSeq` is not the stream's last seq, `epoch` is not its lease's, or somebody
   * else has taken the lease it is appended `under`.
   */
  append(
    stream: string,
    expectedSeq: number,
    epoch: number,
    events: readonly NewEvent[],
    under?: Lease,
  ): readonly StoredEvent[]
  read(stream: string, afterSeq?: number): readonly StoredEvent[]
  /** The same one by one, for who needs none of them for long. */
  each(stream: string): Iterable<StoredEvent>
  /** The number of its last event; 0 before its first. */
  lastSeq(stream: string): number
  /** Whether an event of this type tells of an id, whatever the tables say. Reads the whole log. */
  tellsOf(type: string, id: string): boolean
}

/** The exclusive right to append to one stream. A new owner gets a higher epoch, which shuts the old one out. */
export interface Leases {
  /**
   * Taken when free or held by a process that is dead; null when held. Time alone frees none, but for an owner that
   * cannot be inspected from here and has not renewed it.
   */
  acquire(stream: string, owner: ProcessIdentity): Lease | null
  renew(lease: Lease): boolean
  /** Holds off everybody who wants to take one of the two, and refuses (ACODE-DB-007) when somebody has. */
  whileHeld<Result>(lease: Lease, under: Lease, work: () => Result): Result
  /** Who has it now; null when nobody does. */
  owner(stream: string): ProcessIdentity | null
  release(lease: Lease): void
}

export interface Lease {
  readonly stream: string
  readonly epoch: number
  /** Who acquired it. What is appended under it is refused when its row names anybody else. */
  readonly owner?: ProcessIdentity
}

/** Content named by the hash of what is stored, which is redacted. Written, synced and renamed before it is named. */
export interface ArtifactStore {
  /** Gives `sha256:…` of the stored bytes. */
  put(content: Uint8Array): string
  /**
   * Stores a value in its one spelling. Each string of it is redacted on its own: across the spelling an open quote in
   * one of them would swallow what follows, and what is left would not be JSON.
   */
  putJson(value: Json): StoredJson
  /** Null when it is missing; throws ACODE-SEC-004 when its content does not match its name. */
  get(ref: string): Uint8Array | null
}

export interface StoredJson {
  readonly ref: string
  readonly bytes: number
}

/** The executions of this workspace: written through the log, read through a projection of it. */
export interface ExecutionHistory {
  /** Opens the execution's stream: lease and event in one commit. */
  started(data: z.infer<typeof CommandStarted.data>): void
  /** Closes the stream and gives its lease back, in one commit. */
  finished(data: z.infer<typeof CommandFinished.data>): void
  /**
   * `finished` from the record itself: long texts and the captured outputs become artifacts first. Returns the record
   * as it names what was stored.
   */
  settled(record: ExecutionRecord, outputs: RecordedOutputs): ExecutionRecord
  /** The same as an event that is not written yet, for whoever commits it with something else. Artifacts are stored. */
  outcome(record: ExecutionRecord, outputs: RecordedOutputs): NewEvent<typeof CommandFinished>
  /** The end of a command whose process is gone, for whoever owns its stream. */
  interrupted(id: string): NewEvent<typeof CommandFinished>
  list(filter: ExecutionFilter): readonly ExecutionSummary[]
  /** Whether a command that belongs not to this session ran at any time between two places in the log. */
  hasOthers(sessionId: string, from: number, to: number): boolean
  /** Ids that start or end with `typed`: of executions, or of the runs or tasks they belong to. */
  matching(typed: string, of?: "execution" | "run" | "task"): readonly string[]
  /** The record as it was given to `settled`. Null when the id is unknown or the command is still running. */
  show(id: string): StoredExecution | null
  stats(): ExecutionStats
  /** Removes finished executions and leaves a signed tombstone. Gives the ids removed. */
  prune(filter: ExecutionPruning, reason: string): readonly string[]
  /** Executions without an end whose process is gone, also those of sessions, which nobody closes yet. */
  abandoned(isAlive: (owner: ProcessIdentity) => boolean): readonly AbandonedExecution[]
  /** Closes executions whose process is gone as `interrupted`. Gives their ids. */
  recover(isAlive: (owner: ProcessIdentity) => boolean): readonly string[]
}

export interface AbandonedExecution {
  readonly id: string
  readonly protectedNames: ProtectedNames | null
}

/** Bytes to keep as artifacts; null where the text in the record is all there is. */
export interface RecordedOutputs {
  readonly stdout: Uint8Array | null
  readonly stderr: Uint8Array | null
}

/** Which executions go; without either all that have finished. */
export interface ExecutionPruning {
  readonly runId?: string
  /** Those that began before this position of the log. */
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

/** What `audit verify` found. The first problem names the first bad event. */
export interface AuditReport {
  readonly ok: boolean
  readonly events: number
  readonly streams: number
  readonly anchoredPosition: number | null
  /** What a person accepted although it did not match, oldest first. */
  readonly accepted: readonly AcceptedHistory[]
  readonly problems: readonly AuditProblem[]
}

/** What a person accepted although it did not match what was anchored. */
export interface AcceptedHistory {
  readonly position: number
  readonly at: string
  readonly by: string
  readonly reason: string
  readonly findings: readonly string[]
  /** Where the history is kept that was here before; null when it is this one. */
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
  /** A hash under the key of this workspace: equal texts have equal ones, and nobody can guess a text from it. */
  fingerprint(text: string): string
  /** Pins the head of the log outside the workspace, so that an older copy of the file is noticed. */
  anchor(): void
  /**
   * Throws ACODE-SEC-004 where nothing may be done with a session: an event it depends on was changed or removed, the
   * tables say otherwise of it than its events, or the log does not go on from its last anchor.
   */
  assertGenuine(sessionId: string): void
  /** Throws ACODE-SEC-004 when an older copy of the history was put back, or when its anchors are gone. */
  assertAnchored(): void
  /**
   * Records that a person accepts that the history does not match its anchors, and begins those anew. What does not
   * verify is not accepted, and no approval that was given before and not used holds any longer.
   */
  accept(given: {
    readonly by: string
    readonly reason: string
    readonly setAside: string | null
  }): AcceptedHistory
  /** Does work that only shows something. What was changed is noted instead of thrown, and the result is null. */
  noteChanged<Result>(work: () => Result): Result | null
  /** What was noted since this was opened. */
  changed(): readonly Failure[]
  /** With the id of a session or an execution, tables and artifacts of others are left out; bad events never are. */
  verify(id?: string): AuditReport
  /** Artifacts that somebody asked for since this was opened, that are not there and that the history still names. */
  missingArtifacts(): readonly string[]
  /** What is wrong with the database file itself, in SQLite's words. Empty when nothing is. */
  fileProblems(): readonly string[]
}
