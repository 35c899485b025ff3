import type { Json } from "../../base/canonical.ts"
import type { EscalationLevel, StageStatus, Verdict } from "../events/pipeline-events.ts"
import type { SessionState } from "../events/session-events.ts"
import type { PipelineSettings } from "../pipeline-settings.ts"
import type { Plan, PlanStep, PlanTask } from "../plan/plan.ts"
import type { BackwardEdge, Stage, Target } from "../stage.ts"
import type { Certainty, EffectClass, ToolOutcome } from "../tool-call.ts"
import type { Told } from "./left-out.ts"
import type { StageUsage } from "./token-usage.ts"

/** What the events of a session say, and nothing else. Two folds of the same events are equal. */
export interface PipelineState {
  readonly sessionId: string
  readonly request: string
  readonly settings: PipelineSettings
  readonly state: SessionState
  /** Set while nobody drives the session and it has not ended. */
  readonly rest: Rest | null
  readonly finished: Rest | null
  /** The stage that is entered, until it is finished. */
  readonly stage: StageRun | null
  /** A move that is recorded and whose target is not entered yet. */
  readonly moved: {
    readonly to: Target
    readonly feedback: readonly string[]
    readonly isRetry: boolean
  } | null
  readonly history: readonly FinishedStage[]
  readonly cycles: Readonly<Record<BackwardEdge, number>>
  readonly plans: readonly PlanVersion[]
  /** Of the newest plan that was approved, in the order they run, mended ones behind. */
  readonly steps: readonly StepState[]
  /** What the model said at the end of the last step it finished; null where it said nothing. */
  readonly answer: string | null
  /** Of the present stage run, and for the executor of the present step. */
  readonly turns: readonly Turn[]
  /** Why the session stopped for a person, until one lets it go on. */
  readonly escalation: { readonly stage: Stage; readonly level: EscalationLevel } | null
  /** A call of which nobody knows whether it took effect; a person has not let the session go on since. */
  readonly unknownCall: string | null
  /** Calls without an outcome, oldest first. */
  readonly openCalls: readonly OpenCall[]
  /**
   * What a person said, with the last resume, about a command that a dead process left open: run it again, or continue
   * with what is there. Null where nobody did.
   */
  readonly openCallDecision: "redo" | "accept" | null
  /** Of the present or the last verifier stage. */
  readonly verification: Verification | null
  /** The one before, to notice that nothing has changed. */
  readonly lastVerification: Verification | null
  /** How many model replies are recorded: the place of the next one in a script. */
  readonly replyCount: number
  /** The last event that changed a file. */
  readonly lastChangeSeq: number
  readonly changed: ChangedPaths
  /** The checks that failed at some time: what they look for did not hold before the work. */
  readonly failedChecks: ReadonlySet<string>
  /** As servers reported them. */
  readonly tokens: number
  /** As they count for what a session may take: what a server did not report is estimated. */
  readonly spentTokens: number
  /** By stage, for the report. */
  readonly usage: StageUsage
  readonly told: Told
  /** The estimate of the request that is not answered yet. */
  readonly estimatedTokens: number
  /** By model, how many tokens its server counts for one that acode estimates. */
  readonly tokenScales: ReadonlyMap<string, number>
  /** By stage, the shortest request that its server found too long since somebody went on, as acode estimates. */
  readonly tooLong: Readonly<Partial<Record<Stage, number>>>
  /** By stage, how many replies were cut off at the length that was allowed, since somebody went on. */
  readonly cutOff: Readonly<Partial<Record<Stage, number>>>
  /** Since when the present process works, for what time it may take; moved on by every wait for a person. */
  readonly drivenSinceMs: number
}

/** What the calls of the steps changed in the workspace, or may have changed; checks are not counted. */
export interface ChangedPaths {
  /** Files that git ignores and directories too. */
  readonly paths: ReadonlySet<string>
  /** False where the events do not name everything. */
  readonly isComplete: boolean
  /** Whether a call could reach more than the workspace. */
  readonly hasReachedOut: boolean
}

export interface Rest {
  readonly state: SessionState
  readonly reason: string
  readonly exitCode: number
  readonly unverified: boolean
}

export interface StageRun {
  readonly stage: Stage
  readonly attempt: number
  readonly enteredAtMs: number
  readonly enteredSeq: number
  /** What the session had taken before, so that a stage reports only its own tokens. */
  readonly tokensBefore: number
  readonly feedback: readonly string[]
  readonly checks: readonly PlannedCheck[]
  /** The question about the review that was put to a person, where one is needed. */
  readonly question: PutQuestion | null
}

export interface PlannedCheck {
  readonly id: string
  readonly kind: string
  readonly taskId: string | null
}

export interface PutQuestion {
  readonly approvalId: string
  readonly answer: PersonsAnswer | null
}

interface FinishedStage {
  readonly stage: Stage
  readonly attempt: number
  readonly status: StageStatus
  readonly seq: number
}

export interface PlanVersion {
  readonly version: number
  /** Where it was proposed. */
  readonly seq: number
  readonly plan: Plan
  /** Commands of the project itself that verify it. Who approves the plan approves them too. */
  readonly checks: readonly (readonly string[])[]
  readonly isApproved: boolean
  /** Whoever approved it was shown that nothing confines its commands. */
  readonly isUnconfined: boolean
  /** A flag approved it: what configuration refuses stays refused. */
  readonly isUnseen: boolean
  /** The question that was put about it, and how it was answered. */
  readonly question: PutQuestion | null
}

export interface PersonsAnswer {
  readonly answer: "granted" | "refused" | "skipped" | "stopped"
  readonly by: string
  readonly reason: string | null
}

type StepStatus = "pending" | "active" | "done" | "failed" | "skipped"

export interface StepState {
  readonly task: PlanTask
  readonly step: PlanStep
  readonly index: number
  readonly status: StepStatus
  /** How often it was started. */
  readonly attempts: number
  readonly startedAtMs: number | null
  /** How many of its calls did what they were for, since it was started. */
  readonly callCount: number
  readonly changedPaths: readonly string[]
  readonly commandCount: number
  readonly lastCommand: StepCommand | null
  /** Where the model was told last that the step is not finished; 0 where it was not. */
  readonly refusedSeq: number
  /** Null before its first call has ended, and after one that is made again because it did not take place. */
  readonly lastCall: StepCall | null
  /** The code of the last call that a person or a rule did not let happen. */
  readonly refusalCode: string | null
}

interface StepCall {
  readonly callId: string
  /** Null when it did what it was for. */
  readonly failure: { readonly code: string; readonly message: string } | null
}

interface StepCommand {
  /** Where its outcome is recorded. */
  readonly seq: number
  /** Null when it exited with 0. */
  readonly failure: { readonly code: string; readonly message: string } | null
}

/** One reply of a model with what came of it. */
export interface Turn {
  readonly turn: number
  readonly seq: number
  readonly atMs: number
  readonly text: string
  readonly calls: readonly TurnCall[]
  /** Null when it was not of the right shape, or not asked for. */
  readonly output: Json
  readonly problems: readonly string[]
  readonly isCutOff: boolean
  readonly failure: TurnFailure | null
}

export interface TurnFailure {
  readonly kind: string
  readonly message: string
  readonly retryable: boolean
  /** What the server asked for. */
  readonly retryAfterMs: number | null
}

export interface TurnCall {
  readonly id: string
  readonly tool: string
  /** As it is recorded; equal to what was asked for only if the digest says so. */
  readonly arguments: Json
  readonly argsDigest: string
  readonly result: TurnResult | null
}

export interface TurnResult {
  readonly outcome: ToolOutcome
  readonly certainty: Certainty
  readonly text: string
  readonly digest: string
}

export interface OpenCall {
  readonly callId: string
  readonly modelCallId: string | null
  readonly stepId: string | null
  readonly effectClass: EffectClass | null
}

export interface Verification {
  readonly seq: number
  /** The tree that was seen last. Verified is only what every check has found of this one. */
  readonly treeDigest: string
  /** The last result of each criterion. */
  readonly checks: readonly CheckResult[]
}

export interface CheckResult {
  readonly seq: number
  readonly criterionId: string
  readonly taskId: string | null
  readonly kind: string
  readonly verdict: Verdict
  readonly reason: string
  /** The tree it was made on. */
  readonly treeDigest: string
  /** Whether files were changed while it ran. */
  readonly hasChangedTree: boolean
  /** How often it was made in this verification. */
  readonly runs: number
  /** The files it looked at, as they were named and where they really are; none for a command. */
  readonly paths: readonly string[]
}

/** The state of a session that is driven: what it waits for, or else which half of the work it is at. */
export function activeState({
  stage,
  moved,
  plans,
}: Pick<PipelineState, "stage" | "moved" | "plans">): SessionState {
  const at = stage?.stage ?? moved?.to ?? "planner"
  const asked = [stage?.question ?? null, at === "planner" ? (plans.at(-1)?.question ?? null) : null]
  if (asked.some(isOpen)) return "AWAITING_APPROVAL"
  return at === "planner" ? "PLANNING" : "EXECUTING"
}

function isOpen(question: PutQuestion | null): boolean {
  return question !== null && question.answer === null
}
