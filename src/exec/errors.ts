import { errnoOf, messageOf } from "../base/assert.ts"
import { quotedPath, shownPath } from "../base/path-names.ts"
import { printable } from "../base/text.ts"
import type { CommandError } from "../domain/command-result.ts"
import { Failure } from "../domain/failure.ts"
import { systemReport } from "../domain/system-report.ts"
import type { Interruption } from "./deadline.ts"

/** The reason why a command failed, in the text that a user reads. Redaction comes later, in the result. */
export function notFound(executable: string): CommandError {
  return {
    code: "ACODE-EXE-001",
    message: `the program ${quotedPath(executable)} was not found`,
    details: {
      hint: "check its spelling and that it is on PATH; a script in the workspace is named with its path",
    },
  }
}

export function notExecutable(executable: string): CommandError {
  return {
    code: "ACODE-EXE-005",
    message: `${quotedPath(executable)} exists and cannot be executed`,
    details: { hint: "make it executable with chmod +x, or run it through its interpreter" },
  }
}

export function queueFull(queuedMax: number): CommandError {
  return {
    code: "ACODE-EXE-008",
    message: `${queuedMax} commands are waiting already`,
    details: { hint: "start fewer at once, or raise execution.max_concurrent or execution.max_queued" },
  }
}

export function interruptedBy(
  reason: Exclude<Interruption, "tooMuchOutput">,
  timeoutMs: number,
): CommandError {
  if (reason === "cancelled")
    return { code: "ACODE-EXE-009", message: "the command was cancelled", details: {} }
  return {
    code: "ACODE-EXE-002",
    message: `the command did not end within ${timeoutMs / 1000} s and was killed`,
    details: { timeoutMs: String(timeoutMs), hint: "give it more time with --timeout" },
  }
}

export function tooMuchOutput(): CommandError {
  return {
    code: "ACODE-EXE-004",
    message: "the command wrote more than it may and was killed",
    details: { hint: "let it write to a file, or raise execution.output_ceiling_mb" },
  }
}

export function endedBySignal(signal: string): CommandError {
  return { code: "ACODE-EXE-003", message: `the command was ended by ${signal}`, details: { signal } }
}

export function limitReached(limit: string): CommandError {
  if (limit === "repositories")
    return {
      code: "ACODE-SEC-003",
      message: "the command kept making git repositories that run programs, and was ended",
      details: { hint: "what it made is in quarantine; let it work in a temporary directory" },
    }
  return {
    code: "ACODE-EXE-012",
    message: `the command reached its limit on ${limit}`,
    details: { limit, hint: "raise --memory or execution.limits, or make the command need less" },
  }
}

export function survivors(thrown: unknown): CommandError {
  return {
    code: "ACODE-EXE-003",
    message: `not every process of the command could be ended: ${printable(messageOf(thrown))}`,
    details: {},
  }
}

export function protectedNamesLeft(names: readonly string[]): CommandError {
  return {
    code: "ACODE-SEC-003",
    message: `protected names appeared and could not be moved away: ${names.map(shownPath).join(", ")}`,
    details: { hint: "inspect them before anything else uses this workspace" },
  }
}

export function internal(thrown: unknown): CommandError {
  const report = systemReport(thrown)
  if (report !== null) return fromFailure(new Failure(report))
  return {
    code: "ACODE-INT-001",
    message: `internal error while the command ran: ${printable(messageOf(thrown))}`,
    details: {},
  }
}

export function fromFailure({ report }: Failure): CommandError {
  return {
    code: report.code,
    message: report.message,
    details: {
      ...(report.where === undefined ? {} : { where: report.where }),
      ...(report.hint === undefined ? {} : { hint: report.hint }),
    },
  }
}

/** Returns the error for a program that was found and that the system refuses to start. */
export function spawnRefused(thrown: unknown, executable: string): CommandError {
  if (thrown instanceof Failure) return fromFailure(thrown)
  const errno = errnoOf(thrown)
  switch (errno) {
    case "ENOENT":
      return {
        ...notExecutable(executable),
        details: { errno, hint: "the interpreter its first line names is missing" },
      }
    case "ENOEXEC":
      return {
        ...notExecutable(executable),
        details: { errno, hint: "it is neither a binary nor a script with #!" },
      }
    case "EACCES":
    case "EPERM":
      return notExecutable(executable)
    case "E2BIG":
      return {
        code: "ACODE-EXE-007",
        message: "the command is not valid: its arguments and environment are too long for the system",
        details: { errno, hint: "pass fewer or shorter arguments, or a file" },
      }
    default:
      return {
        code: "ACODE-EXE-003",
        message: `the system could not start the command: ${printable(messageOf(thrown))}`,
        details: { ...(errno === null ? {} : { errno }), hint: systemReport(thrown)?.hint ?? tryAgain },
      }
  }
}

const tryAgain = "`acode doctor` says what this machine allows"
