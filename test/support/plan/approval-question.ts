import type { ApprovalQuestion } from "../../../src/app/approval-desk.ts"
import type { ApprovalSummary } from "../../../src/store/session/contract.ts"

/** A whole request for approval that is open; a test names only what it is about. */
export function approvalSummary(change: Partial<ApprovalSummary> = {}): ApprovalSummary {
  return {
    id: "apr_00000000-0000-7000-8000-0000deadbeef",
    sessionId: "ses_00000000-0000-7000-8000-000000000001",
    callId: "cal_00000000-0000-7000-8000-000000000001",
    stepId: "s2",
    kind: "action",
    level: 2,
    category: "FILE_WRITE",
    operation: "write src/a.ts",
    reach: "network: none; writes: src/a.ts",
    isRedacted: false,
    files: ["src/a.ts"],
    reason: "writing is asked",
    rule: "default.write",
    preview: "  1 - const a = 1\n  1 + const a = 2\n",
    subjectHash: `sha256:${"3".repeat(64)}`,
    requestedAt: "2026-01-02T03:04:05.000Z",
    expiresAt: null,
    state: "open",
    answeredAt: null,
    answeredBy: null,
    answerReason: null,
    answerExpiresAt: null,
    usedAt: null,
    ...change,
  }
}

const agentOptions = ["approve", "deny", "skip", "modify", "stop"] as const
export const planOptions = ["approve", "deny", "stop"] as const

export function approvalQuestion(
  change: Partial<ApprovalSummary> = {},
  options: readonly string[] = agentOptions,
): ApprovalQuestion {
  return { approval: approvalSummary(change), options }
}
