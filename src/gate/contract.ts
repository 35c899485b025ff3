import type { Json } from "../base/canonical.ts"
import type { Clock, Ids } from "../base/clock.ts"
import type { Faults } from "../base/faults.ts"
import type { Approval } from "../domain/approval.ts"
import type { Decision, Effect, Grant } from "../domain/effect.ts"
import type { ApprovalAnswer, ApprovalRequested } from "../domain/events/call-events.ts"
import type { NewEvent } from "../domain/events/definition.ts"
import type {
  CallError,
  CallOrigin,
  Certainty,
  Diagnostic,
  DirectoryModes,
  FileChange,
  ToolOutcome,
  UncoveredChanges,
} from "../domain/tool-call.ts"
import type { Redactor } from "../redaction/contract.ts"
import type { ArtifactStore, StoredEvent } from "../store/contract.ts"
import type { ToolDeps } from "../tools/contract.ts"
import type { Checkpoints } from "../workspace/checkpoint/contract.ts"

/** The only caller of tools. Every lane calls tools through it, so that no tool can skip a step. */
export interface Gate {
  /**
   * Validates, declares, decides, asks, records the intent, makes the call, records the outcome. The result reports
   * every failure; `call` throws only when an event cannot be recorded, or when the user stops acode while it reads
   * what a command changed: the call then stays open, as after a crash.
   */
  call(request: CallRequest): Promise<SettledCall>
}

export interface CallRequest {
  /** The name as written; the gate resolves aliases. */
  readonly tool: string
  /** The arguments as written. They are kept in memory only; the log gets them redacted, with a keyed hash. */
  readonly arguments: Json
  /** The reason why the call cannot be made, or null. It is recorded either way. */
  readonly obstacle: CallError | null
  readonly origin: CallOrigin
  readonly grant: Grant
  /**
   * Set when the user approved exactly this call, as a step of a plan: its declared effects are granted, and no
   * others.
   */
  readonly isGrantedAsWritten: boolean
  /** The tools that may be used here, by their own names; null for all. */
  readonly offered: readonly string[] | null
  /** Set when a model is shown the result, so that its text is kept. */
  readonly isForModel: boolean
  /** Set when the user is asked whatever policy says, also with `--yes`. */
  readonly requiresConfirmation: boolean
  /**
   * Identifies a call that is asked about again after a rest, so that an answer given meanwhile applies to it; else
   * null.
   */
  readonly askedAs: string | null
  readonly signal: AbortSignal | null
  readonly onOutput: ((stream: "stdout" | "stderr", chunk: Uint8Array) => void) | null
  /**
   * Inspects the change that was computed, with the hashes that its files have now, and returns why it must not be
   * made; null to allow it. A change that is allowed is made only while the files have these hashes.
   */
  readonly refuses?: (targets: readonly FileChange[]) => CallError | null
  /** The events to commit with the request. */
  readonly before: readonly NewEvent[]
  /** Returns the events to commit with the outcome. */
  readonly after: (settled: SettledCall) => readonly NewEvent[]
}

/** The outcome of a call as recorded: redacted, and durable before any caller sees it. */
export interface SettledCall {
  readonly callId: string
  readonly outcome: ToolOutcome
  readonly certainty: Certainty
  readonly error: CallError | null
  /** The kind of the error, which decides the exit code. */
  readonly cause: CallCause | null
  readonly value: Json
  readonly text: string
  readonly resultDigest: string | null
  readonly exitCode: number | null
  readonly executionId: string | null
  readonly paths: readonly string[]
  readonly changes: readonly FileChange[]
  /** Null when all changes can be undone. */
  readonly uncovered: UncoveredChanges | null
  /** Directories that were created, removed or got another mode while a command ran. */
  readonly directories?: DirectoryModes
  readonly diagnostics: readonly Diagnostic[]
  readonly durationMs: number
  /** The time that the user took to answer. */
  readonly waitMs: number
}

export const callCauses = [
  "failed",
  "violation",
  "refused",
  "timeout",
  "stopped",
  "unknown",
  "awaiting",
] as const
/**
 * `violation` of a path or the sandbox, `refused` by policy or the user, `stopped` by the user permanently,
 * `awaiting` an answer that no user here can give.
 */
export type CallCause = (typeof callCauses)[number]

export interface GateParts {
  readonly log: SessionLog
  readonly room: ToolDeps
  readonly checkpoints: Checkpoints
  readonly decide: (effects: readonly Effect[], grant: Grant) => Promise<Decision>
  readonly policyVersion: string
  readonly approvals: ApprovalDesk
  readonly artifacts: ArtifactStore
  readonly redactor: Redactor
  /** Returns a keyed hash, from which the hashed text cannot be guessed. */
  readonly fingerprint: (text: string) => string
  readonly recorder: CommandEvents
  readonly clock: Clock
  readonly ids: Ids
  readonly faults: Faults
}

/** The stream of one session, whose lease this process holds. An append is durable when it returns. */
export interface SessionLog {
  readonly sessionId: string
  append(events: readonly NewEvent[]): readonly StoredEvent[]
  /**
   * Runs work that only the owner of the session may do, and throws (ACODE-DB-007) when this process is no longer the
   * owner. While the work runs without waiting, no other process can take the session over, not even while this
   * process is suspended.
   */
  whileOwned<Result>(work: () => Result): Result
}

/**
 * Records the commands of calls: the start of a command is committed with the intent of its call, its end with the
 * outcome. The runner writes to the other side of it.
 */
export interface CommandEvents {
  /** Sets the events to commit before the command of this call starts. */
  announce(callId: string, events: readonly NewEvent[]): void
  /** Reports whether the start of the command was committed. */
  hasStarted(callId: string): boolean
  /** Returns the end of the command, to be committed with the outcome; null when no command was started. */
  takeOutcome(callId: string): NewEvent | null
}

/** Collects the answers of users to questions. */
export interface ApprovalDesk {
  /** False when no user can answer here. */
  readonly isStaffed: boolean
  /**
   * The consequence when no user can answer: the call is refused, or the question stays open and the session rests.
   */
  readonly whenNobody: "deny" | "rest"
  /** Returns an unused answer to exactly this subject that was given earlier, or null. */
  answeredBefore(subjectHash: string): ApprovalReply | null
  /** Resolves with the first answer, from any terminal. The request is in the log already. */
  ask(
    request: NewEvent<typeof ApprovalRequested>["data"],
    signal: AbortSignal | null,
    whole?: WholeQuestion | null,
  ): Promise<ApprovalReply>
}

/** Everything that the user who decides is shown. The record has it redacted; this form is stored nowhere. */
export interface WholeQuestion {
  readonly operation: string
  /** The part of the network and of the files that the call could touch. */
  readonly reach: string
  readonly files: readonly string[]
  readonly reason: string
  readonly preview: string
}

export interface ApprovalReply {
  readonly answer: ApprovalAnswer
  readonly by: string
  readonly reason: string | null
  /** Set when the question expired without an answer. */
  readonly isExpired?: true
  /** The approval as recorded, to be compared with the call that is about to be made. */
  readonly approval: Approval
}
