import { canonicalJson, type Json, sha256Hex } from "../base/canonical.ts"
import { ToolCallSettled } from "../domain/call-events.ts"
import { type NewEvent, newEvent } from "../domain/event-definition.ts"
import { redactJson } from "../domain/redacted-json.ts"
import type { CallError, FileChange } from "../domain/tool-call.ts"
import type { Redactor } from "../policy/contract.ts"
import type { ArtifactStore } from "../store/contract.ts"
import type { ToolResult } from "../tools/contract.ts"
import type { PathMark, Workspace } from "../workspace/contract.ts"
import type { SettledCall } from "./contract.ts"
import { causeOf, diagnosticOf, type Ending } from "./ending.ts"
import { recordChanges, recordJson, recordLeft, recordText } from "./recorded.ts"

/** What is known of a call when it ends, before anybody has looked for secrets in it. */
export type Outcome = Omit<SettledCall, "callId" | "durationMs" | "waitMs">

/** What a call changed, and what of that cannot be put back. */
export type FoundChanges = Pick<SettledCall, "changes" | "uncovered" | "directories">

export const nothingChanged: FoundChanges = { changes: [], uncovered: null }

/** A tool that ran gave a result; whether it did what it was for is in the result. */
export function outcomeOf(result: ToolResult, found: FoundChanges, certainty: Outcome["certainty"]): Outcome {
  const { error, value, text, exitCode, executionId, paths, diagnostics } = result
  return {
    ...{ error, value, text, exitCode, executionId, paths, diagnostics, ...found, certainty },
    outcome: error === null ? "succeeded" : "failed",
    cause: error === null ? null : causeOf({ kind: "general", code: error.code }),
    resultDigest: digestOf({ code: error?.code ?? null, value }),
  }
}

export function outcomeWithout(
  ending: Ending,
  { changes, uncovered, directories = [] }: FoundChanges,
): Outcome {
  const { code, message, hint } = ending.error
  return {
    ...ending,
    value: null,
    // A model that reads what to do instead need not guess.
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

/** Redacted once, here, so that what the caller gets and what is stored cannot differ. */
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

/** What is known of the workspace when a call is settled. */
export interface SettledMarks {
  readonly head: string | null
  readonly marks: readonly PathMark[]
  readonly doubts: readonly { readonly path: string; readonly reason: string }[]
}

/** How the paths that a call changed are left. */
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
    ...{ callId, outcome, certainty, error, resultDigest, exitCode, executionId },
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

/** Evidence is looked up by path, and nobody opens an artifact for that. */
function allPaths({ paths, changes }: SettledCall): string[] {
  return [...new Set([...paths, ...changes.map(({ path }) => path)])]
}

/** Taken before redaction and without anything that differs from run to run. */
function digestOf(value: Json): string {
  return `sha256:${sha256Hex(canonicalJson(value))}`
}
