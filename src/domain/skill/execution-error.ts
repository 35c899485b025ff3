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
  /** Advice for a person; ID stands for the id of the task. */
  readonly advice: string
}

const back = "`acode agent reset ID --reason WHY` sets the task back to pending"

const fails = (exit: ExitName, advice: string, isRetryable = false): ErrorRule => ({
  isRetryable,
  status: "failed",
  exitCode: exitCodes[exit].code,
  advice: `${advice}; ${back}`,
})
const failsForNow = (exit: ExitName) => fails(exit, "try again later, or with another --model", true)
const leaves = (exit: ExitName, advice: string): ErrorRule => ({
  isRetryable: false,
  status: null,
  exitCode: exitCodes[exit].code,
  advice,
})

const otherReply = "reword the requirements, or name another --model"

/** Every way in which the execution of a task ends other than well: the only place that says what follows from it. */
export const executionErrors = {
  SKILL_NOT_FOUND: fails("stepFailed", "`acode skills list` shows the skills that are found"),
  CONTEXT_NOT_FOUND: fails("stepFailed", "write the file at skills.context"),
  INPUT_NOT_FOUND: fails("stepFailed", "make the input, or correct its path in the task"),
  API_ERROR: failsForNow("unavailable"),
  API_RATE_LIMITED: failsForNow("unavailable"),
  API_OVERLOADED: failsForNow("unavailable"),
  API_TIMEOUT: failsForNow("stepTimeout"),
  API_AUTH: fails("unavailable", "correct the API key of the server"),
  API_NOT_FOUND: fails("unavailable", "`acode models list` shows the models of the server"),
  API_BAD_REQUEST: fails("unavailable", "shorten the task and its inputs, or name another --model"),
  RESPONSE_EMPTY: fails("stepFailed", otherReply),
  RESPONSE_REFUSED: fails("stepFailed", otherReply),
  /** The output is kept: a warning, and not a failure. */
  RESPONSE_TRUNCATED: {
    isRetryable: false,
    status: "completed",
    exitCode: exitCodes.done.code,
    advice: "--max-tokens allows a longer output",
  },
  WORKSPACE_WRITE_FAILED: fails("stepFailed", "check the file that is named"),
  TASK_NOT_EXECUTABLE: leaves("general", `${back} if it failed or was cancelled`),
  TASK_CLAIMED: leaves("general", "`acode agent list --stale` shows tasks that no process works on"),
  TASK_NOT_FOUND: leaves("usage", "`acode agent list` shows all tasks"),
  TASK_INVALID: leaves("general", "correct the file; `acode schema task` describes it"),
  PATH_REFUSED: leaves("violation", "name another path in the task; its status is as it was"),
  ABORTED: { isRetryable: false, status: "cancelled", exitCode: exitCodes.interrupted.code, advice: back },
  BUDGET_EXHAUSTED: fails("needsPerson", "raise limits.max_tokens of the pipeline"),
  UNKNOWN: fails("internal", "it is a bug of acode, or of a program that uses it"),
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

/** Returns what a person can do about an error of a task. */
export function executionAdvice(code: ExecutionErrorCode, taskId: string): string {
  return executionErrors[code].advice.replaceAll("ID", taskId)
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

/** The reason why a task was not executed, or not well. Clients and workspaces throw it; the executor returns it. */
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
