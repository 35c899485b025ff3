import { type ExitCode, type ExitName, exitCodes } from "../exit-codes.ts"
import type { ExternalCalls } from "../external-calls.ts"
import { Failure } from "../failure.ts"
import type { TaskStatus } from "../task.ts"

interface ErrorRule {
  /** True when asking the model again can help. */
  readonly isRetryable: boolean
  /** The status of the task afterwards; null leaves it unchanged. */
  readonly status: Extract<TaskStatus, "failed" | "cancelled" | "completed"> | null
  readonly exitCode: ExitCode
}

const fails = (exit: ExitName, isRetryable = false): ErrorRule => ({
  isRetryable,
  status: "failed",
  exitCode: exitCodes[exit].code,
})
const leaves = (exit: ExitName): ErrorRule => ({
  isRetryable: false,
  status: null,
  exitCode: exitCodes[exit].code,
})

/** Every way in which the execution of a task ends other than well: the only place that says what follows from it. */
export const executionErrors = {
  SKILL_NOT_FOUND: fails("stepFailed"),
  CONTEXT_NOT_FOUND: fails("stepFailed"),
  INPUT_NOT_FOUND: fails("stepFailed"),
  API_ERROR: fails("unavailable", true),
  API_RATE_LIMITED: fails("unavailable", true),
  API_OVERLOADED: fails("unavailable", true),
  API_TIMEOUT: fails("stepTimeout", true),
  API_AUTH: fails("unavailable"),
  API_NOT_FOUND: fails("unavailable"),
  API_BAD_REQUEST: fails("unavailable"),
  RESPONSE_EMPTY: fails("stepFailed"),
  RESPONSE_REFUSED: fails("stepFailed"),
  /** The output is kept: a warning, and not a failure. */
  RESPONSE_TRUNCATED: { isRetryable: false, status: "completed", exitCode: exitCodes.done.code },
  WORKSPACE_WRITE_FAILED: fails("stepFailed"),
  TASK_NOT_EXECUTABLE: leaves("general"),
  TASK_CLAIMED: leaves("general"),
  TASK_NOT_FOUND: leaves("usage"),
  TASK_INVALID: leaves("general"),
  PATH_REFUSED: leaves("violation"),
  ABORTED: { isRetryable: false, status: "cancelled", exitCode: exitCodes.interrupted.code },
  BUDGET_EXHAUSTED: fails("needsPerson"),
  UNKNOWN: fails("internal"),
} as const satisfies Record<string, ErrorRule>

export type ExecutionErrorCode = keyof typeof executionErrors

/** Codes that are asked again unless a configuration says otherwise. */
export const defaultRetryableErrors = [
  "API_ERROR",
  "API_RATE_LIMITED",
  "API_OVERLOADED",
  "API_TIMEOUT",
] as const satisfies readonly ExecutionErrorCode[]

/** Returns the exit code of the first error that is a failure; 0 when none is. */
export function executionExitCode(errors: readonly (ExecutionErrorCode | null)[]): ExitCode {
  const first = errors.find(error => error !== null && executionErrors[error].exitCode !== 0)
  return first == null ? 0 : executionErrors[first].exitCode
}

export function isExecutionErrorCode(text: string): text is ExecutionErrorCode {
  return Object.hasOwn(executionErrors, text)
}

/** Facts about a request that failed. */
export interface FailedRequest {
  /** The delay that the server asked for. */
  readonly retryAfterMs: number | null
  readonly inputTokens: number
  readonly outputTokens: number
  readonly externalCalls?: ExternalCalls | undefined
}

/** Why a task was not executed, or not well. Clients and workspaces throw it; the executor returns it. */
export class ExecutionError extends Error {
  /** The request that failed; null for errors of anything else. */
  readonly request: FailedRequest | null

  constructor(
    message: string,
    readonly code: ExecutionErrorCode,
    /** Empty in errors of a client, which knows no task; the executor fills it in. */
    readonly taskId: string,
    cause?: Error,
    request: FailedRequest | null = null,
  ) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = "ExecutionError"
    this.request = request
  }

  /** The code for programs that know only one code for every error of a server. */
  get seedCode(): ExecutionErrorCode {
    return refinedApiErrors.includes(this.code) ? "API_ERROR" : this.code
  }
}

/** The codes that `seedCode` sums up as API_ERROR. */
const refinedApiErrors: readonly ExecutionErrorCode[] = ["API_AUTH", "API_NOT_FOUND", "API_BAD_REQUEST"]

/** Converts anything thrown to an error of this task. */
export function executionErrorOf(thrown: unknown, taskId: string): ExecutionError {
  if (thrown instanceof ExecutionError) return thrown.taskId === taskId ? thrown : ofTask(thrown, taskId)
  if (thrown instanceof Failure) return ofFailure(thrown, taskId)
  if (!(thrown instanceof Error)) return new ExecutionError(String(thrown), "UNKNOWN", taskId)
  return new ExecutionError(`unexpected error: ${thrown.message}`, "UNKNOWN", taskId, thrown)
}

/** Converts a failure of the log or of the files: a task whose log belongs to another process is not this one's. */
function ofFailure(failure: Failure, taskId: string): ExecutionError {
  const { code, message } = failure.report
  if (code === "ACODE-DB-007")
    return new ExecutionError(
      `another process took over the session (${code})`,
      "TASK_CLAIMED",
      taskId,
      failure,
    )
  return new ExecutionError(`${message} (${code})`, "WORKSPACE_WRITE_FAILED", taskId, failure)
}

function ofTask({ message, code, cause, request }: ExecutionError, taskId: string): ExecutionError {
  return new ExecutionError(message, code, taskId, cause instanceof Error ? cause : undefined, request)
}

/** Returns how long to wait before the next attempt: doubled each time, and never less than the server asked for. */
export function retryDelayMs(baseMs: number, attemptsMade: number, retryAfterMs: number | null): number {
  return Math.max(baseMs * 2 ** Math.max(0, attemptsMade - 1), retryAfterMs ?? 0)
}

/** A server that wants to be left alone for longer is not waited for. */
export const longestWaitMs = 60_000
