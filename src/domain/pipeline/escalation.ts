import type { Escalation } from "./action.ts"
import type { EscalationLevel, StageStatus } from "./pipeline-events.ts"
import type { Stage } from "./stage.ts"

/** What a person can do about any step that does not come to its end. */
export const withoutStep = "or continue without it: `acode resume --skip-failed-step`"

/** Every way in which a session stops for a person says why, and what the person can do. */
export function escalate(
  stage: Stage,
  level: EscalationLevel,
  exitCode: number,
  told: {
    readonly reason: string
    readonly advice: string
    readonly status?: StageStatus | null
    /** Where there is a more exact one than that of the level and the exit code. */
    readonly code?: string
  },
): Escalation {
  const { reason, advice, status = "failed", code = codeOf(level, exitCode) } = told
  return { kind: "escalate", stage, level, exitCode, code, reason, advice, status }
}

/** The code of the error page for a session that cannot go on by itself. */
export function codeOf(level: EscalationLevel, exitCode: number): string | null {
  return exitCode === 0 ? null : (codesByExit[exitCode] ?? codesByLevel[level] ?? needsPerson)
}

/** It makes no progress, or what it may do by itself is spent. */
export const needsPerson = "ACODE-ORCH-004"

const codesByExit: Readonly<Record<number, string>> = {
  20: "ACODE-ORCH-002",
  21: "ACODE-ORCH-003",
  30: "ACODE-EXEC-001",
  31: "ACODE-EXEC-003",
  32: "ACODE-EXEC-004",
  33: "ACODE-EXEC-005",
  34: "ACODE-EXEC-006",
}

const codesByLevel: Partial<Readonly<Record<EscalationLevel, string>>> = { StageFailed: "ACODE-ORCH-001" }
