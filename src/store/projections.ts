import { evidenceRows } from "./evidence/evidence-rows.ts"
import { approvalRows } from "./session/approval-rows.ts"
import { planApprovalRows } from "./session/plan-approval-rows.ts"
import { sessionRows } from "./session/session-rows.ts"
import type { TableProjection } from "./table-projection.ts"

/** Every table that is written with the events of sessions and compared with them by `audit verify`. */
export const sessionProjections: readonly TableProjection[] = [
  sessionRows,
  approvalRows,
  planApprovalRows,
  evidenceRows,
]
