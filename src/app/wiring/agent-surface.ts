import type { Stopping } from "../../engine/lanes/agent-runner.ts"
import type { StoredEvent } from "../../store/contract.ts"
import type { SessionSummary } from "../../store/session/contract.ts"
import type { ApprovalPrompt } from "../approval-desk.ts"
import type { ModelChoice } from "./provider.ts"

/** The surroundings of a running session: its model, who answers questions, who watches, and who may stop it. */
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
  /**
   * Called repeatedly while it waits for the workspace, with the current holder; null when that one is releasing it.
   */
  readonly onWaiting?: (owner: Pick<SessionSummary, "id" | "owner"> | null) => void
}
