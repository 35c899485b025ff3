import { Failure } from "../../domain/failure.ts"

export function unknownApproval(id: string): Failure {
  return new Failure({
    kind: "usage",
    code: "ACODE-APPR-001",
    message: "there is no such approval request",
    where: id,
    hint: "`acode approvals list` shows what waits for an answer",
  })
}

/** Nobody can answer it any more; `why` completes "the approval request …". */
export function closedApproval(id: string, why: string): Failure {
  return new Failure({
    kind: "usage",
    code: "ACODE-APPR-002",
    message: `the approval request ${why}`,
    where: id,
    hint: `\`acode approvals show ${id}\` tells how it ended; nothing was recorded`,
  })
}
