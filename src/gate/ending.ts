import * as z from "zod/mini"
import { messageOf } from "../base/assert.ts"
import { oneLine } from "../base/text.ts"
import { Failure, type FailureReport } from "../domain/failure.ts"
import { systemReport } from "../domain/system-report.ts"
import {
  type CallError,
  type Certainty,
  type Diagnostic,
  type ToolOutcome,
  violationCodes,
} from "../domain/tool-call.ts"
import type { CallCause } from "./contract.ts"

/** How a call ends that does not come to give a result. */
export interface Ending {
  readonly outcome: Exclude<ToolOutcome, "succeeded">
  readonly certainty: Certainty
  readonly cause: CallCause
  readonly error: CallError
}

export function notDone(outcome: Ending["outcome"], cause: CallCause, error: CallError): Ending {
  return { outcome, certainty: "notDone", cause, error }
}

/** What was thrown on the way. A Failure is an expected one; anything else is a mistake of ours, and told as such. */
export function failedBy(thrown: unknown, certainty: Certainty): Ending {
  const report = thrown instanceof Failure ? thrown.report : (systemReport(thrown) ?? internal(thrown))
  return { outcome: "failed", certainty, cause: causeOf(report), error: errorOf(report) }
}

export function errorOf({ code, message, where, hint }: FailureReport): CallError {
  return { code, message, where: where ?? null, hint: hint ?? null }
}

/** A refusal is a remark about the place it concerns, so that queries find it like any other. */
export function diagnosticOf({ code, message, where }: CallError): Diagnostic {
  return { level: "error", message, file_name: where ?? "", line_start: 0, code }
}

export function causeOf({ kind, code }: Pick<FailureReport, "kind" | "code">): CallCause {
  if (code === "ACODE-EXE-002") return "timeout"
  if (kind === "confinement" || violationCodes.has(code)) return "violation"
  return kind === "denied" ? "refused" : "failed"
}

const schemaMessageMax = 400

function internal(thrown: unknown): FailureReport {
  // The message of a schema is its issues as JSON, which tells nobody anything.
  const message =
    thrown instanceof z.core.$ZodError
      ? oneLine(`something does not fit its schema: ${z.prettifyError(thrown)}`, schemaMessageMax)
      : messageOf(thrown)
  return { kind: "internal", code: "ACODE-INT-001", message }
}
