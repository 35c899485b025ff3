/** What the exit status of acode tells a script. The exit code page is generated from these tables. */
export interface ExitCode {
  readonly code: string
  readonly meaning: string
}

/** Of every command but `exec`. The most specific cause wins, and nothing that did not happen exits 0. */
export const exitCodes: readonly ExitCode[] = [
  { code: "0", meaning: "done, and verified where that applies" },
  { code: "1", meaning: "general failure, such as a fault `doctor` found" },
  { code: "2", meaning: "usage, or an unknown id" },
  { code: "3", meaning: "configuration invalid" },
  { code: "4", meaning: "model endpoint unavailable" },
  { code: "10", meaning: "an answer is needed and nobody can give it" },
  { code: "20", meaning: "stage timeout" },
  { code: "21", meaning: "cycle limit" },
  { code: "22", meaning: "paused: a person is needed" },
  { code: "23", meaning: "cancelled" },
  { code: "30", meaning: "step failed" },
  { code: "31", meaning: "turn limit" },
  { code: "32", meaning: "sandbox or path violation" },
  { code: "33", meaning: "approval denied, plan not approved or changed" },
  { code: "34", meaning: "step timeout" },
  { code: "40", meaning: "verification failed and no cycle is left to take" },
  {
    code: "41",
    meaning:
      "finished, but not verified: nothing that a program could decide, all steps skipped, no answer, no check could run, no check looks at what was changed, or the checks change the files every time",
  },
  { code: "50", meaning: "review rejected and nothing is left to try" },
  {
    code: "60",
    meaning: "a person must decide: outcome unknown after a crash, or paths that undo or recovery left alone",
  },
  { code: "65", meaning: "integrity check failed: tampered with or corrupt" },
  { code: "70", meaning: "internal error" },
  { code: "130", meaning: "interrupted" },
]

/** Of `exec`, which otherwise returns the child's own code. */
export const execExitCodes: readonly ExitCode[] = [
  { code: "0–255", meaning: "the child's own code" },
  { code: "124", meaning: "timed out" },
  {
    code: "125",
    meaning: "acode refused the command, or could not run or record it; also its own usage errors",
  },
  { code: "126", meaning: "the program is not executable" },
  { code: "127", meaning: "the program was not found" },
  { code: "128+N", meaning: "killed by signal N" },
]
