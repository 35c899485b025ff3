import type { Clock, Ids } from "../base/clock.ts"
import type { Faults } from "../base/faults.ts"
import type { ApprovalAnswer } from "../domain/events/call-events.ts"
import type { Control } from "../domain/events/pipeline-events.ts"
import type { ExternalCalls } from "../domain/external-calls.ts"
import type { Plan } from "../domain/plan/plan.ts"
import type { Stage } from "../domain/stage.ts"
import type { ApprovalDesk, Gate } from "../gate/contract.ts"
import type { RecoveryParts } from "../gate/recovery.ts"
import type { ModelReply, ModelRequest } from "../provider/contract.ts"
import type { Redactor } from "../redaction/contract.ts"
import type { TextChanges } from "../workspace/change/contract.ts"
import type { Project } from "./checks/project.ts"
import type { LiveSession } from "./live-session.ts"
import type { StageDefinition } from "./stages/contract.ts"

/** Everything a driven session works with; `app/wiring/wire` puts it together. */
export interface AgentParts extends RecoveryParts {
  readonly session: LiveSession
  readonly gate: Gate
  /** Asks a model, within bounds; never throws. */
  readonly ask: (request: ModelRequest, signal: AbortSignal) => Promise<ModelReply>
  /** What left this machine since it was last asked for, as a member of an event; none where nothing did. */
  readonly externalCalls: () => { readonly externalCalls?: ExternalCalls }
  readonly stages: Readonly<Record<Stage, StageDefinition>>
  readonly desk: ApprovalDesk
  /** How a question was answered that is in the log; null while it is open. */
  readonly answerTo: (approvalId: string) => RecordedAnswer | null
  /** Whether `--yes` answers for a plan; the network that a plan asks for has to be named by itself. */
  readonly acceptsPlan: (plan: Plan) => "yes" | "no" | "notItsNetwork"
  /** Whether there is a sandbox for commands. Whoever approves a plan is told. */
  readonly isConfined: () => Promise<boolean>
  readonly policyVersion: string
  readonly redactor: Redactor
  /** Every skill that can be used. */
  readonly skills: () => readonly { readonly name: string; readonly description: string }[]
  readonly fingerprint: (text: string) => string
  readonly changes: TextChanges
  readonly project: Project
  /** What somebody asked from another terminal; null when nobody did. */
  readonly control: () => ControlRequest | null
  /** Ends what is left of an execution of a dead process. */
  readonly endExecution: (executionId: string) => Promise<void>
  /** Between 0 and 1, so that many who wait do not come back at once. */
  readonly jitter: () => number
  /** Ends after the time, or as soon as the signal fires. */
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>
  readonly clock: Clock
  readonly ids: Ids
  readonly faults: Faults
}

export interface RecordedAnswer {
  readonly answer: ApprovalAnswer
  readonly by: string
  readonly reason: string | null
}

export interface ControlRequest {
  readonly control: Control
  readonly by: string
  readonly reason: string
}
