import type { ErrorCode } from "../error-codes.ts"
import type { EscalationLevel, StageStatus } from "../events/pipeline-events.ts"
import type { ExitCode, exitCodes } from "../exit-codes.ts"
import type { Stage, Target } from "../stage.ts"
import type {
  OpenCall,
  PersonsAnswer,
  PlannedCheck,
  PlanVersion,
  StepState,
  Turn,
  TurnCall,
} from "./state.ts"

/** The next step of the runner. Computed from the state, never stored. */
export type Action =
  /** Nothing to do until an event arrives. */
  | { readonly kind: "rest" }
  /** A call that a dead process left open. */
  | { readonly kind: "settleCall"; readonly call: OpenCall }
  | {
      readonly kind: "enterStage"
      readonly stage: Stage
      readonly attempt: number
      readonly feedback: readonly string[]
    }
  | {
      readonly kind: "askModel"
      readonly stage: Stage
      readonly step: StepState | null
      readonly turn: number
      /** The maximum wait before the request is repeated after a failure; a part of it may be enough. */
      readonly waitMs: number
      /** The time for which the server asked for no requests. */
      readonly waitAtLeastMs: number
    }
  /** The planner reads. */
  | { readonly kind: "explore"; readonly calls: readonly TurnCall[] }
  | { readonly kind: "proposePlan"; readonly turn: Turn; readonly version: number }
  | { readonly kind: "askAboutPlan"; readonly plan: PlanVersion }
  | { readonly kind: "askAboutReview"; readonly summary: string }
  /** A question is open; anyone at the terminal may answer it. */
  | { readonly kind: "awaitAnswer"; readonly approvalId: string }
  | { readonly kind: "startStep"; readonly step: StepState }
  | {
      readonly kind: "callTools"
      readonly step: StepState
      readonly turn: Turn
      readonly calls: readonly TurnCall[]
    }
  | { readonly kind: "callStep"; readonly step: StepState }
  | {
      readonly kind: "refuseStep"
      readonly step: StepState
      readonly modelCallId: string
      readonly reason: string
    }
  | { readonly kind: "finishStep"; readonly step: StepState; readonly failure: StepFailure | null }
  | { readonly kind: "runChecks"; readonly checks: readonly PlannedCheck[] }
  /** Records the verdicts of a model; `turn` is null if it could not give any. */
  | { readonly kind: "judge"; readonly turn: Turn | null; readonly checks: readonly PlannedCheck[] }
  | Move
  | Escalation
  /** Computes the tree once more: the session is done only if it is still what was verified. */
  | { readonly kind: "complete"; readonly end: Completion }
  | { readonly kind: "cancel"; readonly answer: PersonsAnswer }

/** The end of a session that went through every stage. It claims no more than was done. */
export interface Completion {
  readonly reason: string
  readonly exitCode: typeof exitCodes.done.code | typeof exitCodes.unverified.code
  readonly unverified: boolean
  /** The answer to a question, as the person sees it; null if the goal was not a question or has no answer. */
  readonly answer: string | null
}

export interface StepFailure {
  readonly code: string
  readonly message: string
}

/** The end of a stage and the move to the next one, in one commit. */
export interface Move {
  readonly kind: "move"
  readonly from: Stage
  readonly to: Target
  readonly status: StageStatus
  readonly reason: string
  readonly feedback: readonly string[]
  readonly fixes: readonly Fix[]
}

export interface Fix {
  readonly taskId: string
  readonly stepId: string
  readonly description: string
}

export interface Escalation {
  readonly kind: "escalate"
  readonly level: EscalationLevel
  readonly stage: Stage
  readonly reason: string
  readonly advice: string
  readonly exitCode: ExitCode
  /** The error code; null if the session did what was asked. */
  readonly code: ErrorCode | null
  /** Says if the stage timed out or failed; null leaves the stage open. */
  readonly status: StageStatus | null
}
