import type { TableProjection } from "./database/table-projection.ts"
import { evidenceRows } from "./evidence/evidence-rows.ts"
import { approvalRows, planApprovalRows } from "./session/approval-rows.ts"
import { sessionRows } from "./session/session-rows.ts"

/** The tables that are written with the events of sessions and compared with them by `audit verify`. */
export const sessionProjections: readonly TableProjection[] = [
  sessionRows,
  approvalRows,
  planApprovalRows,
  evidenceRows,
]
