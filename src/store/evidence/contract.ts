import type { Json } from "../../base/canonical.ts"
import type { Certainty } from "../../domain/tool-call.ts"

/**
 * Finds what acode itself observed: one row for each tool call, read through projections of the log. Rows have a fixed
 * order with ties broken by position; `since` is inclusive, `until` exclusive; an empty result is not an error. Tool
 * names are accepted in either spelling: the caller passes the canonical one.
 */
export interface EvidenceHistory {
  /** Returns the calls of a tool, oldest first. */
  byTool(tool: string, range: EvidenceRange): readonly EvidenceRow[]
  /** Returns calls that failed or were interrupted, newest first; of all tools if `tool` is null. */
  failures(tool: string | null, range: EvidenceRange): readonly EvidenceRow[]
  /** Returns calls with a diagnostic of this code, newest first. */
  byCode(code: string, range: EvidenceRange): readonly EvidenceRow[]
  /** Returns calls that read or changed this path, newest first. */
  byFile(path: string, range: EvidenceRange): readonly EvidenceRow[]
  /** Returns a call with its arguments and everything that it returned; null if there is none. */
  show(id: string): EvidenceDetails | null
  /** Returns the ids of calls that begin or end with `typed`. */
  matching(typed: string): readonly string[]
  /** Returns the last call that concerned this path. */
  latest(path: string): EvidenceRow | null
  /** Returns diagnostics of at least `threshold` calls, most frequent first, ties by code; `limit` counts codes. */
  recurring(threshold: number, range: EvidenceRange): readonly RecurringDiagnostic[]
  /**
   * Returns successful changes of a file after a diagnostic of this code in it, each once, with the last such
   * diagnostic before it. Oldest diagnostic first, then oldest change; the range limits the changes. With an alias the
   * diagnostics that it is about count as well.
   */
  fixes(code: string, range: EvidenceRange, alias?: CodeAlias | null): readonly EvidenceFix[]
}

/** Another code that means the same in some calls. */
export interface CodeAlias {
  readonly code: string
  /** The tools of these calls, as they were written; null for any. */
  readonly tools: ReadonlySet<string> | null
  /** True if they are only steps of plans. */
  readonly isConfirmation: boolean
}

export interface EvidenceRange {
  readonly since?: string
  readonly until?: string
  readonly limit?: number
}

export interface EvidenceRow {
  readonly id: string
  readonly sessionId: string
  readonly tool: string
  readonly canonicalTool: string | null
  readonly planId: string | null
  readonly planHash: string | null
  readonly taskId: string | null
  readonly stepId: string | null
  readonly stepKey: string | null
  readonly status: "started" | "succeeded" | "failed" | "interrupted"
  readonly certainty: Certainty | null
  readonly exitCode: number | null
  readonly durationMs: number | null
  readonly errorCode: string | null
  readonly errorMessage: string | null
  readonly resultDigest: string | null
  readonly at: string
}

/**
 * A call with its details. The artifacts are those of EVI-02: `result`, `stdout`, `stderr`, `diagnostics`,
 * `step_context`; JSON only.
 */
export interface EvidenceDetails extends EvidenceRow {
  readonly arguments: Json
  readonly paths: readonly string[]
  readonly artifacts: readonly { readonly kind: string; readonly content: Json }[]
}

export interface RecurringDiagnostic {
  readonly code: string
  readonly count: number
  readonly firstSeen: string
  readonly lastSeen: string
  readonly ids: readonly string[]
}

export interface EvidenceFix {
  readonly diagnosticId: string
  readonly fixId: string
  readonly file: string
  readonly tool: string
  readonly temporalGapMs: number
}
