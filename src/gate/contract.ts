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

/** The only caller of tools. Every lane goes through it, so that no tool can forget it. */
export interface Gate {
  /**
   * Validates, declares, decides, asks, writes the intent, does it, writes the outcome. Everything that goes wrong is
   * told in the result; it throws only when something cannot be recorded, or when a person stops acode while it reads
   * what a command left: the call then stays open, as after a crash.
   */
  call(request: CallRequest): Promise<SettledCall>
}

export interface CallRequest {
  /** As it was written; aliases are resolved here. */
  readonly tool: string
  /** As they were written. They live in memory only; the log gets them redacted, with a keyed hash. */
  readonly arguments: Json
  /** Why the call cannot be made although it was asked for; null when it can. It is recorded either way. */
  readonly obstacle: CallError | null
  readonly origin: CallOrigin
  readonly grant: Grant
  /** A person approved exactly this call, as a step of a plan: what it declares is granted, and nothing else is. */
  readonly isGrantedAsWritten: boolean
  /** The tools that may be used here, by their own names; null for all. */
  readonly offered: readonly string[] | null
  /** Whether a model is shown the result, and so its text is kept. */
  readonly isForModel: boolean
  /** Asked whatever policy says, also with `--yes`. */
  readonly requiresConfirmation: boolean
  /** Names a call that is asked about again after a rest, so that an answer given meanwhile is found; else null. */
  readonly askedAs: string | null
  readonly signal: AbortSignal | null
  readonly onOutput: ((stream: "stdout" | "stderr", chunk: Uint8Array) => void) | null
  /** Committed together with the request. */
  readonly before: readonly NewEvent[]
  /** Committed together with the outcome. */
  readonly after: (settled: SettledCall) => readonly NewEvent[]
}

/** How a call ended, as it was recorded: redacted, and durable before anybody sees it. */
export interface SettledCall {
  readonly callId: string
  readonly outcome: ToolOutcome
  readonly certainty: Certainty
  readonly error: CallError | null
  /** Which kind of end an error is, for the exit code. */
  readonly cause: CallCause | null
  readonly value: Json
  readonly text: string
  readonly resultDigest: string | null
  readonly exitCode: number | null
  readonly executionId: string | null
  readonly paths: readonly string[]
  readonly changes: readonly FileChange[]
  /** Null when all of it can be put back. */
  readonly uncovered: UncoveredChanges | null
  /** Directories that came, went or got another mode while a command ran. */
  readonly directories?: DirectoryModes
  readonly diagnostics: readonly Diagnostic[]
  readonly durationMs: number
  /** Time in which a person was asked. */
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
 * `violation` of a path or the sandbox, `refused` by policy or a person, `stopped` by a person for good, `awaiting` an
 * answer that nobody who is there can give.
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
  /** A keyed hash, so that what is hashed cannot be guessed from it. */
  readonly fingerprint: (text: string) => string
  readonly recorder: CommandEvents
  readonly clock: Clock
  readonly ids: Ids
  readonly faults: Faults
}

/** The stream of one session, whose lease this process holds. Durable when it returns. */
export interface SessionLog {
  readonly sessionId: string
  append(events: readonly NewEvent[]): readonly StoredEvent[]
  /**
   * Does work that nobody else may do, and refuses (ACODE-DB-007) when the session is no longer this process's. As long
   * as it does not wait, nobody can take the session over meanwhile, not even from a process that is stopped in it.
   */
  whileOwned<Result>(work: () => Result): Result
}

/**
 * Where a command of a call is written down: its start is committed with the intent of the call, its end with the
 * outcome. The runner is given the other side of it.
 */
export interface CommandEvents {
  /** What is to be committed before the command of this call starts. */
  announce(callId: string, events: readonly NewEvent[]): void
  /** Whether that has happened. */
  hasStarted(callId: string): boolean
  /** The end of the command, to be committed with the outcome; null when none was started. */
  takeOutcome(callId: string): NewEvent | null
}

/** Where people answer. */
export interface ApprovalDesk {
  /** False when nobody can answer here. */
  readonly isStaffed: boolean
  /** What happens then: it is refused, or the question stays open and the session rests. */
  readonly whenNobody: "deny" | "rest"
  /** An answer to exactly this that was given earlier and not used yet; null when there is none. */
  answeredBefore(subjectHash: string): ApprovalReply | null
  /** Resolves with the first answer, wherever it was given. The request is in the log already. */
  ask(
    request: NewEvent<typeof ApprovalRequested>["data"],
    signal: AbortSignal | null,
    whole?: WholeQuestion | null,
  ): Promise<ApprovalReply>
}

/** All that a person is shown who decides. The record has it redacted; this is kept nowhere. */
export interface WholeQuestion {
  readonly operation: string
  /** What of the network and of the files it could touch. */
  readonly reach: string
  readonly files: readonly string[]
  readonly reason: string
  readonly preview: string
}

export interface ApprovalReply {
  readonly answer: ApprovalAnswer
  readonly by: string
  readonly reason: string | null
  /** Nobody answered for as long as a question waits. */
  readonly isExpired?: true
  /** As it is in the log, to be checked against what is about to be done. */
  readonly approval: Approval
}
