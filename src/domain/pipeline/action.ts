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

/** What the runner must do next. Computed from the state, never stored. */
export type Action =
  /** Nothing, until an event arrives. */
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
      /** Before asking again after a failure: the most, of which any part may be waited. */
      readonly waitMs: number
      /** What the server asked to be left alone for. */
      readonly waitAtLeastMs: number
    }
  | { readonly kind: "proposePlan"; readonly turn: Turn; readonly version: number }
  | { readonly kind: "askAboutPlan"; readonly plan: PlanVersion }
  | { readonly kind: "askAboutReview"; readonly summary: string }
  /** A question is open; whoever is there may answer it. */
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
  /** Takes the verdicts a model gave; null when it could not give any. */
  | { readonly kind: "judge"; readonly turn: Turn | null; readonly checks: readonly PlannedCheck[] }
  | Move
  | Escalation
  /** The tree is looked at once more; only if it is still what was verified the session is done. */
  | { readonly kind: "complete"; readonly end: Completion }
  | { readonly kind: "cancel"; readonly answer: PersonsAnswer }

/** How a session ends that went through every stage. It claims no more than was done. */
export interface Completion {
  readonly reason: string
  readonly exitCode: typeof exitCodes.done.code | typeof exitCodes.unverified.code
  readonly unverified: boolean
  /** What the person is shown of a question; null where none was asked, or nothing was answered. */
  readonly answer: string | null
}

export interface StepFailure {
  readonly code: string
  readonly message: string
}

/** The end of a stage and the move to the next one: one commit. */
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
  /** Of the error page; null where the session did what was asked. */
  readonly code: ErrorCode | null
  /** Whether the stage ran out of time, or only cannot go on. */
  readonly status: StageStatus | null
}
