/**
 * Every expected way to fail, in one table. The kind chooses the exit code of the program and whether trying
 * again can help; the code names the exact failure in the error page.
 */
export const failureKinds = {
  general: { exitCode: 1, retry: false },
  usage: { exitCode: 2, retry: false },
  config: { exitCode: 3, retry: false },
  unavailable: { exitCode: 4, retry: true },
  denied: { exitCode: 33, retry: false },
  confinement: { exitCode: 32, retry: false },
  integrity: { exitCode: 65, retry: false },
  internal: { exitCode: 70, retry: false },
  interrupted: { exitCode: 130, retry: false },
} as const satisfies Record<string, { exitCode: number; retry: boolean }>

export type FailureKind = keyof typeof failureKinds

/** What a person is told: what happened, where, the code, and one line on what to do. */
export interface FailureReport {
  readonly kind: FailureKind
  readonly code: string
  readonly message: string
  readonly where?: string
  readonly hint?: string
}

/** The only error acode throws on purpose. Anything else that reaches the top is a bug and exits 70. */
export class Failure extends Error {
  constructor(
    readonly report: FailureReport,
    options?: ErrorOptions,
  ) {
    super(report.message, options)
    this.name = "Failure"
  }
}

/** Returns whether work ended because a person stopped acode, and not because anything is wrong with the work. */
export function isStopped(error: unknown): error is Failure {
  return error instanceof Failure && error.report.kind === "interrupted"
}

export function exitCodeOf(kind: FailureKind): number {
  return failureKinds[kind].exitCode
}
