import { constants } from "node:os"
import type { Exit } from "../base/spawn.ts"

/** Signals that end a program which does nothing about them. */
const deadly = [
  ...[
    "SIGINT",
    "SIGQUIT",
    "SIGILL",
    "SIGTRAP",
    "SIGABRT",
    "SIGBUS",
    "SIGFPE",
    "SIGKILL",
    "SIGUSR1",
    "SIGSEGV",
  ],
  ...["SIGUSR2", "SIGPIPE", "SIGALRM", "SIGTERM", "SIGXCPU", "SIGXFSZ", "SIGVTALRM", "SIGPROF", "SIGSYS"],
]

/**
 * Behind a reaper a death by signal N arrives as exit code 128 + N, and is told as the signal again. 129 stays a
 * code: git ends with it when it is called wrongly, which is far more common than a hang-up.
 */
export function commandExit(exit: Exit, signalsAsExitCodes: boolean): Exit {
  if (!signalsAsExitCodes || exit.exitCode === null) return exit
  const signal = deadlyByCode.get(exit.exitCode)
  return signal === undefined ? exit : { exitCode: null, signal }
}

const numbers: Readonly<Record<string, number>> = constants.signals
const deadlyByCode = new Map(deadly.map(name => [128 + (numbers[name] ?? 0), name]))
