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
import type { CodeQuestions } from "../tools/contract.ts"
import type { TextChanges } from "../workspace/change/contract.ts"
import type { Project } from "./checks/project.ts"
import type { LiveSession } from "./live-session.ts"
import type { StageDefinition } from "./stages/contract.ts"

/** The dependencies of a running session, which `app/wiring/wire` assembles. */
export interface AgentParts extends RecoveryParts {
  readonly session: LiveSession
  readonly gate: Gate
  /** Asks a model, within limits; never throws. */
  readonly ask: (request: ModelRequest, signal: AbortSignal) => Promise<ModelReply>
  /**
   * Returns the requests that left this machine since the last call, as a member of an event; empty if there were
   * none.
   */
  readonly externalCalls: () => { readonly externalCalls?: ExternalCalls }
  readonly stages: Readonly<Record<Stage, StageDefinition>>
  readonly desk: ApprovalDesk
  /** Returns the recorded answer to a question; null while it is open. */
  readonly answerTo: (approvalId: string) => RecordedAnswer | null
  /** Returns whether `--yes` approves a plan; the network that a plan requests needs a scope of its own. */
  readonly acceptsPlan: (plan: Plan) => "yes" | "no" | "notItsNetwork"
  /** Returns whether a sandbox confines commands. The question about a plan shows it. */
  readonly isConfined: () => Promise<boolean>
  readonly policyVersion: string
  readonly redactor: Redactor
  /** Returns every usable skill. */
  readonly skills: () => readonly { readonly name: string; readonly description: string }[]
  readonly code: CodeQuestions
  /** Returns the most used symbols of the workspace within a number of tokens; null where there is no code index. */
  readonly codeOutline: (tokensMax: number) => Promise<string | null>
  /** Reports whether there is a code index, without opening it. */
  readonly hasCodeIndex: () => boolean
  readonly fingerprint: (text: string) => string
  readonly changes: TextChanges
  readonly project: Project
  /** Returns the request of another terminal to pause or cancel; null if there is none. */
  readonly control: () => ControlRequest | null
  /** Ends what is left of an execution of a dead process. */
  readonly endExecution: (executionId: string) => Promise<void>
  /** Returns a number between 0 and 1, so that many waiting processes do not continue at the same moment. */
  readonly jitter: () => number
  /** Waits until the time is over or the signal fires. */
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
