import type * as z from "zod/mini"
import type { ToolCallSettled } from "./call-events.ts"
import type {
  CallError,
  Certainty,
  EffectClass,
  FileChange,
  ToolOutcome,
  UncoveredChanges,
} from "./tool-call.ts"

/** One tool call of a session, as it is told to people. */
export interface CallView {
  readonly id: string
  readonly tool: string
  readonly canonicalTool: string | null
  readonly taskId: string | null
  readonly stepId: string | null
  /** Null until it was allowed to begin. */
  readonly effectClass: EffectClass | null
  readonly approvalId: string | null
  readonly outcome: ToolOutcome | "open"
  /** Whether its effect took place; null while nobody has looked. */
  readonly certainty: Certainty | null
  readonly error: CallError | null
  readonly exitCode: number | null
  readonly executionId: string | null
  readonly resultDigest: string | null
  readonly paths: readonly string[]
  readonly changeCount: number
  /** Empty when there are so many that they are an artifact. */
  readonly changes: readonly FileChange[]
  readonly changesArtifact: string | null
  /** What it changed that cannot be put back; null when there is nothing. */
  readonly uncovered: UncoveredChanges | null
  readonly requestedAt: string
  readonly startedAt: string | null
  readonly settledAt: string | null
  readonly durationMs: number | null
  readonly waitMs: number | null
}

/** What is known of a call when it is asked for. */
export type CallRequestView = Pick<
  CallView,
  "id" | "tool" | "canonicalTool" | "taskId" | "stepId" | "requestedAt"
>

export function requestedCall(request: CallRequestView): CallView {
  return {
    ...request,
    effectClass: null,
    approvalId: null,
    outcome: "open",
    certainty: null,
    error: null,
    exitCode: null,
    executionId: null,
    resultDigest: null,
    paths: [],
    changeCount: 0,
    changes: [],
    changesArtifact: null,
    uncovered: null,
    startedAt: null,
    settledAt: null,
    durationMs: null,
    waitMs: null,
  }
}

/** The call with its outcome. What it gave back is evidence and is looked up there. */
export function settledCall(
  call: CallView,
  settled: z.infer<typeof ToolCallSettled.data>,
  at: string,
): CallView {
  const { outcome, certainty, error, exitCode, executionId, resultDigest, paths } = settled
  const { changes, durationMs, waitMs } = settled
  return {
    ...call,
    ...{ outcome, certainty, error, exitCode, executionId, resultDigest, paths, durationMs, waitMs },
    changeCount: changes.kind === "inline" ? changes.value.length : changes.count,
    changes: changes.kind === "inline" ? changes.value : [],
    changesArtifact: changes.kind === "inline" ? null : changes.ref,
    uncovered: settled.uncovered ?? null,
    settledAt: at,
  }
}
