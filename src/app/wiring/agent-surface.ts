import type { Stopping } from "../../engine/lanes/agent-runner.ts"
import type { StoredEvent } from "../../store/contract.ts"
import type { SessionSummary } from "../../store/session/contract.ts"
import type { ApprovalPrompt } from "../approval-desk.ts"
import type { ModelChoice } from "./provider.ts"

/** Who is there while it works: which model, who answers, who watches, who may stop it. */
export interface AgentSurface {
  readonly model: ModelChoice
  readonly isInteractive: boolean
  readonly acceptsPlans: boolean
  readonly prompt: ApprovalPrompt
  readonly notice: (text: string) => void
  readonly onEvent: (event: StoredEvent) => void
  readonly onText: (text: string) => void
  readonly stopping: Stopping
  /** Waits for the workspace instead of refusing. */
  readonly waits: boolean
  /** Told again and again while it waits: for whom, null when that one is just leaving. */
  readonly onWaiting?: (owner: Pick<SessionSummary, "id" | "owner"> | null) => void
}
