import type { Json } from "../../base/canonical.ts"
import type { EscalationLevel, StageStatus, Verdict } from "../events/pipeline-events.ts"
import type { SessionState } from "../events/session-events.ts"
import type { PipelineSettings } from "../pipeline-settings.ts"
import type { Plan, PlanStep, PlanTask } from "../plan/plan.ts"
import type { BackwardEdge, Stage, Target } from "../stage.ts"
import type { Certainty, EffectClass, ToolOutcome } from "../tool-call.ts"
import type { RequestContent } from "./left-out.ts"
import type { StageUsage } from "./token-usage.ts"

/** The state that the events of a session describe, and nothing else. Two folds of the same events are equal. */
export interface PipelineState {
  readonly sessionId: string
  /** The newest request. */
  readonly request: string
  /** The event of the newest request. */
  readonly requestSeq: number
  /** The requests before it, oldest first. */
  readonly exchanges: readonly Exchange[]
  readonly settings: PipelineSettings
  readonly state: SessionState
  /** Set while no process drives the session and it has not ended. */
  readonly rest: Rest | null
  readonly finished: Rest | null
  /** The reason of the last rest, also while the session continues; null before the first. */
  readonly lastRest: string | null
  /** The stage that was entered, until it is finished. */
  readonly stage: StageRun | null
  /** A recorded move whose target is not entered yet. */
  readonly moved: {
    readonly to: Target
    readonly feedback: readonly string[]
    readonly isRetry: boolean
  } | null
  readonly history: readonly FinishedStage[]
  readonly cycles: Readonly<Record<BackwardEdge, number>>
  readonly plans: readonly PlanVersion[]
  /** The steps of the newest approved plan, in the order they run, with fixes last. */
  readonly steps: readonly StepState[]
  /** The text of the model at the end of the last step it finished; null if it wrote none. */
  readonly answer: string | null
  /** The turns of the present stage run; for the executor, of the present step. */
  readonly turns: readonly Turn[]
  /** The reason why the session stopped for a person, until a person resumes it. */
  readonly escalation: { readonly stage: Stage; readonly level: EscalationLevel } | null
  /** A call with an unknown effect; null again once a person resumes the session. */
  readonly unknownCall: string | null
  /** Calls without an outcome, oldest first. */
  readonly openCalls: readonly OpenCall[]
  /**
   * The decision of a person, at the last resume, about a command that a dead process left open: run it again, or
   * continue with the present files. Null without a decision.
   */
  readonly openCallDecision: "redo" | "accept" | null
  /** The verification of the present or the last verifier stage. */
  readonly verification: Verification | null
  /** The verification before that, to notice that nothing has changed. */
  readonly lastVerification: Verification | null
  /** The number of recorded model replies, which is the index of the next one in a script. */
  readonly replyCount: number
  /** The last event that changed a file. */
  readonly lastChangeSeq: number
  readonly changed: ChangedPaths
  /** The files that the planner and the steps read or changed, the last one last. */
  readonly touchedFiles: readonly string[]
  /** The files that were touched before the present step began: a part of each of its requests. */
  readonly knownFiles: readonly string[]
  /** The checks that failed at some time: what they check did not hold before the work. */
  readonly failedChecks: ReadonlySet<string>
  /** The tokens that servers reported. */
  readonly tokens: number
  /** The tokens that count for the limit of the session: what a server did not report is estimated. */
  readonly spentTokens: number
  /** The tokens by stage, for the report. */
  readonly usage: StageUsage
  readonly told: RequestContent
  /** The estimate of the request that is not answered yet. */
  readonly estimatedTokens: number
  /** The number of tokens that the server counts for one that acode estimates, by model. */
  readonly tokenScales: ReadonlyMap<string, number>
  /** The shortest request of each stage that its server found too long since the last resume, as acode estimates it. */
  readonly tooLong: Readonly<Partial<Record<Stage, number>>>
  /** The number of replies of each stage since the last resume that were cut off at their limit. */
  readonly cutOff: Readonly<Partial<Record<Stage, number>>>
  /** The start of the present process for its timeouts; each wait for a person moves it forward. */
  readonly drivenSinceMs: number
}

/** An earlier request of the session, and what came of it. */
export interface Exchange {
  readonly request: string
  /** The goal of the plan that was carried out; null if there was none. */
  readonly goal: string | null
  readonly answer: string | null
  /** The reason with which the session ended or rested before the next request. */
  readonly result: string
  readonly changedPaths: readonly string[]
}

/** The changes of the calls of the steps in the workspace, certain or possible; checks are not counted. */
export interface ChangedPaths {
  /** Includes files that git ignores, and directories. */
  readonly paths: ReadonlySet<string>
  /** False if the events do not name everything. */
  readonly isComplete: boolean
  /** True if a call could reach more than the workspace. */
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
  /** The tokens of the session before this stage, so that a stage reports only its own tokens. */
  readonly tokensBefore: number
  readonly feedback: readonly string[]
  readonly checks: readonly PlannedCheck[]
  /** The question about the review, if a person has to answer one. */
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
  /** The event that proposed the plan. */
  readonly seq: number
  readonly plan: Plan
  /** Commands of the project itself that verify the plan. Approving the plan approves them too. */
  readonly checks: readonly (readonly string[])[]
  readonly isApproved: boolean
  /** True if the question showed that nothing confines its commands. */
  readonly isUnconfined: boolean
  /** True if a flag approved it: what configuration refuses stays refused. */
  readonly isUnseen: boolean
  /** The question about the plan, and its answer. */
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
  /** The number of times that it was started. */
  readonly attempts: number
  readonly startedAtMs: number | null
  /** The number of its successful calls since it was started. */
  readonly callCount: number
  readonly changedPaths: readonly string[]
  readonly commandCount: number
  readonly lastCommand: StepCommand | null
  /** The event that last informed the model that the step is not finished; 0 if it was not. */
  readonly refusedSeq: number
  /** Null before its first call has ended, and after a call that is made again because it did not take place. */
  readonly lastCall: StepCall | null
  /** The code of the last call that a person or a rule refused. */
  readonly refusalCode: string | null
  /** The text of the model at the end of the step; null before, and for a concrete step. */
  readonly summary: string | null
}

interface StepCall {
  readonly callId: string
  /** Null if the call succeeded. */
  readonly failure: { readonly code: string; readonly message: string } | null
}

interface StepCommand {
  /** The event of its outcome. */
  readonly seq: number
  /** Null if it exited with 0. */
  readonly failure: { readonly code: string; readonly message: string } | null
}

/** One reply of a model, with the results of its calls. */
export interface Turn {
  readonly turn: number
  readonly seq: number
  readonly atMs: number
  readonly text: string
  readonly calls: readonly TurnCall[]
  /** Null if it did not have the right shape, or was not asked for. */
  readonly output: Json
  readonly problems: readonly string[]
  readonly isCutOff: boolean
  readonly failure: TurnFailure | null
}

export interface TurnFailure {
  readonly kind: string
  readonly message: string
  readonly retryable: boolean
  /** The delay that the server asked for. */
  readonly retryAfterMs: number | null
}

export interface TurnCall {
  readonly id: string
  readonly tool: string
  /** The recorded arguments; equal to the requested ones only if the digest matches. */
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
  /** True if it reads one file. */
  readonly isRead: boolean
}

export interface Verification {
  readonly seq: number
  /** The last tree. Only checks of this tree verify it. */
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
  /** The tree that was checked. */
  readonly treeDigest: string
  /** True if files were changed while it ran. */
  readonly hasChangedTree: boolean
  /** The number of times that it was made in this verification. */
  readonly runs: number
  /** The files that were checked, as they were named and with their real paths; none for a command. */
  readonly paths: readonly string[]
}

/** Returns the state of a running session: what it waits for, or else which half of the work it is in. */
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
