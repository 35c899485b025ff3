import type { Escalation } from "./action.ts"
import type { EscalationLevel, StageStatus } from "./pipeline-events.ts"
import type { Stage } from "./stage.ts"

/** What a person can do about any step that does not come to its end. */
export const withoutStep = "or go on without it: `acode resume --skip-failed-step`"

/** Every way in which a session stops for a person says why, and what the person can do. */
export function escalate(
  stage: Stage,
  level: EscalationLevel,
  exitCode: number,
  told: { readonly reason: string; readonly advice: string; readonly status?: StageStatus | null },
): Escalation {
  const { reason, advice, status = "failed" } = told
  return { kind: "escalate", stage, level, exitCode, reason, advice, status }
}
