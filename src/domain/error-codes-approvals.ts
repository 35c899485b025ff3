import type { ErrorCode } from "./error-code.ts"

/** Of what people are asked, and of their answers. */
export const approvalErrorCodes: readonly ErrorCode[] = [
  {
    code: "ACODE-APPR-001",
    meaning: "There is no approval request of this id.",
    action: "`acode approvals list` shows what waits for an answer.",
  },
  {
    code: "ACODE-APPR-002",
    meaning: "The request was answered already, has expired, or belongs to a session that has ended.",
    action: "Look at it with `acode approvals show ID`; what still needs an answer asks again.",
  },
  {
    code: "ACODE-APPR-003",
    meaning:
      "What was approved is no longer what would be done: the action, its target or the policy changed.",
    action: "Look at the new request and answer that one.",
  },
  {
    code: "ACODE-APPR-004",
    meaning: "The approval has expired or was used before it could be acted upon.",
    action: "Approve it again, and sooner.",
  },
  {
    code: "ACODE-APPR-005",
    meaning:
      "Parts of what would be done are not in the record, because they look like secrets or were removed, so nobody " +
      "can see them here.",
    action: "Approve it at the terminal that asks, or resume the session at one.",
  },
]
