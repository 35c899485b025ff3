import type { Json } from "../../base/canonical.ts"
import type { Certainty } from "../../domain/tool-call.ts"

/**
 * What acode itself observed, one row for each tool call, read through projections of the log. Rows come in a fixed
 * order with ties broken by position; `since` is inclusive, `until` exclusive; no rows is no error. Tool names are
 * accepted in either spelling: the caller passes the canonical one.
 */
export interface EvidenceHistory {
  /** Oldest first. */
  byTool(tool: string, range: EvidenceRange): readonly EvidenceRow[]
  /** Calls that failed or were interrupted, newest first. Without a tool, of all tools. */
  failures(tool: string | null, range: EvidenceRange): readonly EvidenceRow[]
  /** Calls with a diagnostic of this code, newest first. */
  byCode(code: string, range: EvidenceRange): readonly EvidenceRow[]
  /** Calls that looked at or changed this path, newest first. */
  byFile(path: string, range: EvidenceRange): readonly EvidenceRow[]
  show(id: string): EvidenceDetails | null
  matching(typed: string): readonly string[]
  /** The last call that concerned this path. */
  latest(path: string): EvidenceRow | null
  /** Diagnostics of at least `threshold` calls, most frequent first, ties by code; `limit` is one of codes. */
  recurring(threshold: number, range: EvidenceRange): readonly RecurringDiagnostic[]
  /**
   * Successful changes of the same file after a diagnostic of this code, each once, with the last such diagnostic
   * before it. Oldest diagnostic first, then oldest change; the range is one of changes.
   */
  fixes(code: string, range: EvidenceRange): readonly EvidenceFix[]
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

/** Artifacts of EVI-02: `result`, `stdout`, `stderr`, `diagnostics`, `step_context`; JSON only. */
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
