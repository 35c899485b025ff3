import * as z from "zod/mini"
import { messageOf } from "../base/assert.ts"
import { canonicalJson, type Json, sha256Hex } from "../base/canonical.ts"
import { oneLine } from "../base/text.ts"
import { ToolCallSettled } from "../domain/events/call-events.ts"
import { type NewEvent, newEvent } from "../domain/events/definition.ts"
import { Failure, type FailureReport } from "../domain/failure.ts"
import { systemReport } from "../domain/system-report.ts"
import { redactJson } from "../domain/text/redacted-json.ts"
import {
  type CallError,
  type Certainty,
  type Diagnostic,
  type FileChange,
  type ToolOutcome,
  violationCodes,
} from "../domain/tool-call.ts"
import type { Redactor } from "../redaction/contract.ts"
import type { ArtifactStore } from "../store/contract.ts"
import type { ToolResult } from "../tools/contract.ts"
import type { PathMark, Workspace } from "../workspace/contract.ts"
import type { CallCause, SettledCall } from "./contract.ts"
import { recordChanges, recordJson, recordLeft, recordText } from "./recorded.ts"

/** The end of a call before redaction. */
export type Outcome = Omit<SettledCall, "callId" | "durationMs" | "waitMs">

/** The changes of a call, and those of them that cannot be undone. */
export type FoundChanges = Pick<SettledCall, "changes" | "uncovered" | "directories">

export const nothingChanged: FoundChanges = { changes: [], uncovered: null }

/** Returns the outcome of a tool that ran; the result says whether it reached its goal. */
export function toolOutcome(
  result: ToolResult,
  found: FoundChanges,
  certainty: Outcome["certainty"],
): Outcome {
  const { error, value, text, exitCode, executionId, paths, diagnostics } = result
  return {
    error,
    value,
    text,
    exitCode,
    executionId,
    paths,
    diagnostics,
    ...found,
    certainty,
    outcome: error === null ? "succeeded" : "failed",
    cause: error === null ? null : causeOf({ kind: "general", code: error.code }),
    resultDigest: digestOf({ code: error?.code ?? null, value }),
  }
}

export function outcomeWithout(
  ending: CallEnding,
  { changes, uncovered, directories = [] }: FoundChanges,
): Outcome {
  const { code, message, hint } = ending.error
  return {
    ...ending,
    value: null,
    // A model that reads the hint need not guess what to do instead.
    text: hint === null ? `${message} (${code})` : `${message} (${code}); ${hint}`,
    resultDigest: digestOf({ code }),
    exitCode: null,
    executionId: null,
    paths: [],
    changes,
    uncovered,
    directories,
    diagnostics: [diagnosticOf(ending.error)],
  }
}

/** Redacts an outcome once, so that the returned and the stored form cannot differ. */
export function redacted<Given extends Outcome>(outcome: Given, redactor: Redactor): Given {
  const redactText = redactor.redactText.bind(redactor)
  const redactError = (error: CallError) => ({
    code: error.code,
    message: redactText(error.message),
    where: error.where === null ? null : redactText(error.where),
    hint: error.hint === null ? null : redactText(error.hint),
  })
  return {
    ...outcome,
    error: outcome.error === null ? null : redactError(outcome.error),
    value: redactJson(outcome.value, redactor),
    text: redactText(outcome.text),
    diagnostics: outcome.diagnostics.map(each => ({ ...each, message: redactText(each.message) })),
  }
}

/** The state of the workspace when a call is settled. */
export interface SettledMarks {
  readonly head: string | null
  readonly marks: readonly PathMark[]
  readonly doubts: readonly { readonly path: string; readonly reason: string }[]
}

/** Returns the state in which the call left the paths that it changed. */
export function marksOf(
  workspace: Pick<Workspace, "mark" | "gitHead">,
  changes: readonly FileChange[],
): SettledMarks {
  const marks = workspace.mark(changes.map(({ path }) => path))
  return { head: workspace.gitHead(), marks, doubts: [] }
}

export function settledEvent(
  settled: SettledCall,
  artifacts: ArtifactStore,
  keepsText: boolean,
  left: SettledMarks | null = null,
): NewEvent {
  const { callId, outcome, certainty, error, resultDigest, exitCode, executionId } = settled
  const changes = recordChanges(settled.changes, artifacts)
  return newEvent(ToolCallSettled, {
    callId,
    outcome,
    certainty,
    error,
    resultDigest,
    exitCode,
    executionId,
    result: settled.value === null ? null : recordJson(settled.value, artifacts),
    text: keepsText ? recordText(settled.text, artifacts) : null,
    paths: changes.kind === "inline" ? [...settled.paths] : allPaths(settled),
    changes,
    ...(settled.uncovered === null ? {} : { uncovered: settled.uncovered }),
    diagnostics: [...settled.diagnostics],
    durationMs: settled.durationMs,
    waitMs: settled.waitMs,
    ...recordedDirectories(settled, artifacts),
    ...(left === null || settled.changes.length === 0 ? {} : recordedMarks(left, artifacts)),
  })
}

function recordedDirectories({ directories = [] }: SettledCall, artifacts: ArtifactStore) {
  return directories.length === 0 ? {} : { directories: recordJson(directories, artifacts) }
}

function recordedMarks({ head, marks, doubts }: SettledMarks, artifacts: ArtifactStore) {
  return { head, ...recordLeft(marks, artifacts), ...(doubts.length === 0 ? {} : { doubts: [...doubts] }) }
}

/** Evidence is queried by path without opening an artifact, so all paths are listed. */
function allPaths({ paths, changes }: SettledCall): string[] {
  return [...new Set([...paths, ...changes.map(({ path }) => path)])]
}

/** Computed before redaction from values that do not differ between runs. */
function digestOf(value: Json): string {
  return `sha256:${sha256Hex(canonicalJson(value))}`
}

/** The end of a call that has no result. */
export interface CallEnding {
  readonly outcome: Exclude<ToolOutcome, "succeeded">
  readonly certainty: Certainty
  readonly cause: CallCause
  readonly error: CallError
}

export function notDone(outcome: CallEnding["outcome"], cause: CallCause, error: CallError): CallEnding {
  return { outcome, certainty: "notDone", cause, error }
}

/**
 * Returns the end of a call for an error. A Failure is expected; any other error is an internal error and reported as
 * such.
 */
export function failedBy(thrown: unknown, certainty: Certainty): CallEnding {
  const report = thrown instanceof Failure ? thrown.report : (systemReport(thrown) ?? internal(thrown))
  return { outcome: "failed", certainty, cause: causeOf(report), error: errorOf(report) }
}

export function errorOf({ code, message, where, hint }: FailureReport): CallError {
  return { code, message, where: where ?? null, hint: hint ?? null }
}

/** Reports a refusal as a diagnostic of the place it concerns, so that queries find it like any other. */
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
  // The message of a schema error is its issues as JSON, which no user can read.
  const message =
    thrown instanceof z.core.$ZodError
      ? oneLine(
          `internal error: a value does not match its schema: ${z.prettifyError(thrown)}`,
          schemaMessageMax,
        )
      : messageOf(thrown)
  return { kind: "internal", code: "ACODE-INT-001", message }
}
