interface ExitEntry {
  readonly code: number
  readonly meaning: string
}

/**
 * The exit codes of every command except `exec`, in the order of docs/exit-codes.md, which is generated from this
 * table. The most specific cause wins.
 */
export const exitCodes = {
  done: { code: 0, meaning: "done, and verified where that applies" },
  general: { code: 1, meaning: "general failure, such as a fault `doctor` found" },
  usage: { code: 2, meaning: "usage, or an unknown id" },
  config: { code: 3, meaning: "configuration invalid" },
  unavailable: { code: 4, meaning: "model endpoint unavailable" },
  needsAnswer: { code: 10, meaning: "an answer is needed and no terminal can ask for it" },
  stageTimeout: { code: 20, meaning: "stage timeout" },
  cycleLimit: { code: 21, meaning: "cycle limit" },
  needsPerson: { code: 22, meaning: "paused: a person is needed" },
  cancelled: { code: 23, meaning: "cancelled" },
  stepFailed: { code: 30, meaning: "step failed" },
  turnLimit: { code: 31, meaning: "turn limit" },
  violation: { code: 32, meaning: "sandbox or path violation" },
  denied: { code: 33, meaning: "approval denied, plan not approved or changed" },
  stepTimeout: { code: 34, meaning: "step timeout" },
  verificationFailed: { code: 40, meaning: "verification failed and no cycle is left" },
  unverified: {
    code: 41,
    meaning:
      "finished, but not verified: no check that a program decides, all steps skipped, no answer, no check could run, no check covers the changes, or the checks change the files every time",
  },
  reviewRejected: { code: 50, meaning: "review rejected and no cycle is left" },
  undecided: {
    code: 60,
    meaning:
      "a person must decide: outcome unknown after a crash, or paths that undo or recovery did not touch",
  },
  integrity: { code: 65, meaning: "integrity check failed: tampered with or corrupt" },
  internal: { code: 70, meaning: "internal error" },
  interrupted: { code: 130, meaning: "interrupted" },
} as const satisfies Readonly<Record<string, ExitEntry>>

export type ExitName = keyof typeof exitCodes
export type ExitCode = (typeof exitCodes)[ExitName]["code"]

/** The exit codes that only `exec` has. Otherwise it returns the exit code of the command. */
export const execExitCodes = {
  timedOut: { code: 124, meaning: "timed out" },
  refused: {
    code: 125,
    meaning: "acode refused the command, or could not run or record it; also its own usage errors",
  },
  notExecutable: { code: 126, meaning: "the program is not executable" },
  notFound: { code: 127, meaning: "the program was not found" },
} as const satisfies Readonly<Record<string, ExitEntry>>
