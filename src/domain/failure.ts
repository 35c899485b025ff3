import type { ErrorCode } from "./error-codes.ts"
import { type ExitCode, exitCodes } from "./exit-codes.ts"

/**
 * All kinds of expected failures. The kind chooses the exit code of the program and whether trying again can help;
 * the code names the exact failure in docs/errors.md.
 */
export const failureKinds = {
  general: { exitCode: exitCodes.general.code, retry: false },
  usage: { exitCode: exitCodes.usage.code, retry: false },
  config: { exitCode: exitCodes.config.code, retry: false },
  unavailable: { exitCode: exitCodes.unavailable.code, retry: true },
  denied: { exitCode: exitCodes.denied.code, retry: false },
  confinement: { exitCode: exitCodes.violation.code, retry: false },
  integrity: { exitCode: exitCodes.integrity.code, retry: false },
  internal: { exitCode: exitCodes.internal.code, retry: false },
  interrupted: { exitCode: exitCodes.interrupted.code, retry: false },
} as const satisfies Record<string, { exitCode: ExitCode; retry: boolean }>

export type FailureKind = keyof typeof failureKinds

/** A failure as it is printed: what happened, where, the code, and one line on what to do. */
export interface FailureReport {
  readonly kind: FailureKind
  readonly code: ErrorCode
  readonly message: string
  readonly where?: string
  readonly hint?: string
}

/** The only error that acode throws on purpose. Any other error that reaches the top is a bug and exits 70. */
export class Failure extends Error {
  constructor(
    readonly report: FailureReport,
    options?: ErrorOptions,
  ) {
    super(report.message, options)
    this.name = "Failure"
  }
}

/** Returns whether work ended because a person stopped acode, not because of a problem with the work. */
export function isStopped(error: unknown): error is Failure {
  return error instanceof Failure && error.report.kind === "interrupted"
}

export function exitCodeOf(kind: FailureKind): ExitCode {
  return failureKinds[kind].exitCode
}
