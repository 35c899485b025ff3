import { toIso } from "../base/clock.ts"
import type { CommandError, CommandResult, ExecutionRecord } from "../domain/command-result.ts"
import type { Connections } from "../domain/connections.ts"
import type { Redactor } from "../redaction/contract.ts"
import type { CleanUpReport } from "../sandbox/contract.ts"
import type { CapturedOutputs, ConfinementUse } from "./contract.ts"
import { endedBySignal, interruptedBy, limitReached, protectedNamesLeft, tooMuchOutput } from "./errors.ts"
import type { Execution } from "./execution.ts"
import { type Captured, noOutputs } from "./outputs.ts"
import { type Ended, unmeasured } from "./supervision.ts"

/** The fields of a result that depend on how the command ended. */
type Verdict = Pick<CommandResult, "ending" | "exitCode" | "signal" | "error">

/** The times of one execution, from the clock. */
export interface Times {
  readonly startedAt: number
  readonly queuedMs: number
}

/** Returns the record of a command that never started. */
export function unstarted(
  execution: Execution,
  confined: ConfinementUse,
  times: Times,
  { ending, error }: { ending: "notStarted" | "cancelled" | "interrupted"; error: CommandError },
  report: CleanUpReport = nothingCleaned,
): Completed {
  const verdict = { ending, exitCode: null, signal: null, error }
  const span = { endedAt: times.startedAt, durationMs: 0 }
  return completed(execution, verdict, { ...times, ...span }, unmeasured, noOutputs, confined, report)
}

export function finishedResult(
  execution: Execution,
  confined: ConfinementUse,
  times: Times,
  ended: Ended,
  report: CleanUpReport,
): Completed {
  const { usage, outputs } = ended
  const verdict = withAfterthoughts(verdictOf(ended, execution), ended.survivors, report)
  return completed(execution, verdict, { ...times, ...ended }, usage, outputs, confined, report)
}

/** A record, and the bytes that belong to it. */
export interface Completed {
  readonly record: ExecutionRecord
  readonly outputs: CapturedOutputs
}

const nothingCleaned: CleanUpReport = { quarantined: [], quarantine: null }

function verdictOf(ended: Ended, { timeoutMs, command }: Execution): Verdict {
  const { exit, interruption, startFailure, limitHit } = ended
  if (interruption === "tooMuchOutput")
    return {
      ending: "signalled",
      exitCode: null,
      signal: "SIGKILL",
      error: tooMuchOutput(),
    }
  if (interruption !== null)
    return {
      ending: interruption,
      exitCode: null,
      signal: null,
      error: interruptedBy(interruption, timeoutMs),
    }
  if (startFailure !== null)
    return { ending: "notStarted", exitCode: null, signal: null, error: startFailure }
  const hit = limitHit ?? limitOfSignal(exit.signal, command.resourceLimits)
  const limited = hit === null ? null : limitReached(hit)
  if (exit.signal !== null)
    return {
      ending: "signalled",
      exitCode: null,
      signal: exit.signal,
      error: limited ?? endedBySignal(exit.signal),
    }
  // A program that met a limit and succeeded nevertheless has coped with it.
  return {
    ending: "exited",
    exitCode: exit.exitCode,
    signal: null,
    error: exit.exitCode === 0 ? null : limited,
  }
}

/** The kernel names two of the limits by the signal it sends. */
function limitOfSignal(signal: string | null, limits: Execution["command"]["resourceLimits"]): string | null {
  if (signal === "SIGXCPU" && limits.cpuSecondsMax !== null) return "CPU time"
  if (signal === "SIGXFSZ" && limits.fileBytesMax !== null) return "file size"
  return null
}

/** Adds what went wrong after the command, unless the command itself failed. */
function withAfterthoughts(
  verdict: Verdict,
  survivors: CommandError | null,
  { left = [] }: CleanUpReport,
): Verdict {
  const late = survivors ?? (left.length > 0 ? protectedNamesLeft(left) : null)
  return { ...verdict, error: verdict.error ?? late }
}

interface Span extends Times {
  readonly endedAt: number
  readonly durationMs: number
}

function completed(
  execution: Execution,
  verdict: Verdict,
  { startedAt, endedAt, durationMs, queuedMs }: Span,
  usage: CommandResult["usage"],
  { stdout, stderr }: Captured,
  confined: ConfinementUse,
  { quarantined, connections, asked = [] }: CleanUpReport,
): Completed {
  const { redactor } = execution
  const isTruncated = stdout.truncation !== null || stderr.truncation !== null
  const result: CommandResult = {
    ending: verdict.ending,
    exitCode: verdict.exitCode,
    signal: verdict.signal,
    success: verdict.ending === "exited" && verdict.exitCode === 0,
    timedOut: verdict.ending === "timedOut",
    startTime: toIso(startedAt),
    // The wall clock may have been set back meanwhile; no execution ends before it starts.
    endTime: toIso(Math.max(startedAt, endedAt)),
    durationMs,
    queuedMs,
    stdout: stdout.text,
    stderr: stderr.text,
    truncation: isTruncated ? { stdout: stdout.truncation, stderr: stderr.truncation } : null,
    artifacts: { stdout: stdout.artifact?.ref ?? null, stderr: stderr.artifact?.ref ?? null },
    error: verdict.error && redacted(verdict.error, redactor),
    usage,
    sandbox: {
      ...confined,
      quarantined: quarantined.map(name => redactor.redactText(name)),
      ...(asked.length === 0 ? {} : { asked: asked.map(name => redactor.redactText(name)) }),
      ...(connections === undefined ? {} : { connections: redactedConnections(connections, redactor) }),
    },
  }
  const { id, recorded, correlationIds } = execution
  return {
    record: Object.freeze({ id, command: recorded, result: Object.freeze(result), correlationIds }),
    outputs: { stdout: stdout.artifact?.bytes ?? null, stderr: stderr.artifact?.bytes ?? null },
  }
}

function redacted({ code, message, details }: CommandError, redactor: Redactor): CommandError {
  const safe = Object.entries(details).map(([name, text]) => [name, redactor.redactText(text)] as const)
  return { code, message: redactor.redactText(message), details: Object.fromEntries(safe) }
}

/** Redacts the host names of connections, which a command chooses freely. */
function redactedConnections({ listed, more }: Connections, redactor: Redactor): Connections {
  const redact = (text: string) => redactor.redactText(text)
  return {
    listed: listed.map(each => ({
      ...each,
      host: redact(each.host),
      reason: each.reason === null ? null : redact(each.reason),
    })),
    more,
  }
}
